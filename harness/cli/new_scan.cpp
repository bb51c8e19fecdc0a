// scanlab new: a file of one's own to begin with, which compiles, is verified, and is timed beside the others.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <filesystem>
#include <optional>

#include "harness/cli/command.hpp"
#include "harness/cli/options.hpp"
#include "harness/core/new_scan.hpp"
#include "harness/host/whole_file.hpp"

namespace scanlab::cli {

int new_scan(const std::vector<std::string>& arguments, Context& context) {
  po::options_description options("options");
  options.add_options()                                                                          //
      ("name", text("NAME"), "name the variant and its file: lower-case letters, digits, _")     //
      ("plain", "write a plain CUDA kernel (default: one that also runs on the SIMT emulator)")  //
      ("type", text("TYPE"),
       ("restrict it to one element type: " + all_names<ElementType>() + " (default all)").c_str())  //
      ("out", text("DIR")->default_value("."), "write NAME.cu to this folder")                       //
      ("force", "replace the file if it exists")                                                     //
      ("help,h", "print this text");
  po::positional_options_description positional;
  positional.add("name", 1);
  po::variables_map values;
  if (!parse_options(arguments, options, positional, command("new"), context, values)) return kOk;
  if (values.count("name") == 0)
    throw CommandError(kBadInput, "new takes a name: give one, as in 'scanlab new my_scan'");
  const std::string id = values["name"].as<std::string>();
  if (const std::string why = why_no_id(id); !why.empty()) throw CommandError(kBadInput, why);
  std::optional<ElementType> type;
  if (values.count("type") != 0) type = parse_named<ElementType>(values, "type");
  const std::filesystem::path path = output_folder(values) / (id + ".cu");
  WholeFile(path, values.count("force") != 0).write(new_scan_text(id, values.count("plain") != 0, type));
  fmt::print(context.out,
             "{0}\nIn a checkout, './reproduce --with {0} --quick' builds, verifies and times it beside the others.\n",
             path.lexically_normal().string());
  return kOk;
}

}  // namespace scanlab::cli
