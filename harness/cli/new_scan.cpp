// scanlab new: a file of one's own to begin with, which compiles, is verified, and is timed beside the others.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <filesystem>
#include <optional>

#include "harness/cli/options.hpp"
#include "harness/core/new_scan.hpp"

namespace scanlab::cli {

int new_scan(const std::vector<std::string>& arguments, Context& context) {
  std::optional<std::string> id;
  std::string folder = ".";
  bool plain = false, force = false;
  std::optional<ElementType> type;
  Options options;
  options.text("name", "NAME", id, "name the variant and its file: lower-case letters, digits, _")
      .flag("plain", plain, "write a plain CUDA kernel (default: one that also runs on the SIMT emulator)")
      .named("type", type, "restrict it to one element type")
      .text("out", "DIR", folder, "write NAME.cu to this folder")
      .force(force)
      .positional("name", 1);
  if (!options.parse(arguments, context)) return kOk;
  if (!id) refuse("new takes a name: give one, as in 'scanlab new my_scan'");
  if (const std::string reason = id_problem(*id); !reason.empty()) refuse(reason);
  const std::filesystem::path path = output_folder(folder) / (*id + ".cu");
  WholeFile(path, force).write(new_scan_text(*id, plain, type));
  fmt::print(context.out,
             "{0}\nIn a checkout, './reproduce --with {0} --quick' builds, verifies and times it beside the others.\n",
             path.lexically_normal().string());
  return kOk;
}

}  // namespace scanlab::cli
