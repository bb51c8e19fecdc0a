// scanlab new: a file of one's own to begin with, which compiles, is verified, and is timed beside the others.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <filesystem>
#include <optional>

#include "harness/cli/command.hpp"
#include "harness/cli/options.hpp"
#include "harness/host/status.hpp"
#include "harness/host/whole_file.hpp"
#include "scan_templates.hpp"

namespace scanlab::cli {

namespace {

/// What C++ calls an element type.
constexpr const char* cpp_name(ElementType type) {
  switch (type) {
    case ElementType::i8:
      return "std::int8_t";
    case ElementType::i16:
      return "std::int16_t";
    case ElementType::i32:
      return "std::int32_t";
    case ElementType::i64:
      return "std::int64_t";
    case ElementType::f16:
      return "Half";
    case ElementType::f32:
      return "float";
    case ElementType::f64:
      break;
  }
  return "double";
}

/// "my_scan" is MyScan.
std::string class_name(const std::string& id) {
  std::string name;
  bool begins = true;
  for (const char c : id) {
    if (c != '_') name += begins && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    begins = c == '_';
  }
  return name;
}

/// Throws CommandError (status 2) unless it can be the id of a variant that is not there.
void check_id(const std::string& id) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto fits = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  if (id.empty() || !is_letter(id.front()) || !std::ranges::all_of(id, fits)) {
    throw CommandError(
        kBadInput,
        fmt::format("'{}' cannot name a variant: use lower-case letters, digits and '_', a letter first", id));
  }
  if (Registry::instance().find(id) != nullptr) {
    throw CommandError(kBadInput, fmt::format("a variant '{}' exists already: choose another name", id));
  }
}

/// The example of CONTRIBUTING.md under another name.
std::string text_of(const std::string& id, bool plain, std::optional<ElementType> type) {
  const std::string example = plain ? "my_cuda_scan" : "my_scan";
  std::string text = plain ? k_my_cuda_scan : k_my_scan;
  boost::replace_all(text, "my_kernel", id + "_kernel");  // first: a variant may be called my_kernel
  boost::replace_all(text, example, id);
  boost::replace_all(text, class_name(example), class_name(id));
  if (type) {
    boost::replace_all(text, "kTakes = true;",
                       fmt::format("kTakes = std::is_same_v<typename Op::Element, {}>;", cpp_name(*type)));
    boost::replace_all(text, "The types and operators that it is compiled for; without this, all of them.",
                       "The types and operators that it is compiled for.");
  }
  return text;
}

}  // namespace

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
  check_id(id);
  std::optional<ElementType> type;
  if (values.count("type") != 0) type = parse_named<ElementType>(values, "type");
  const std::filesystem::path path = std::filesystem::path(values["out"].as<std::string>()) / (id + ".cu");
  WholeFile(path, values.count("force") != 0).write(text_of(id, values.count("plain") != 0, type));
  fmt::print(context.out,
             "{0}\nIn a checkout, './reproduce --with {0} --quick' builds, verifies and times it beside the others.\n",
             path.lexically_normal().string());
  return kOk;
}

}  // namespace scanlab::cli
