#include "harness/core/new_scan.hpp"

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>

#include "example_scans.hpp"
#include "harness/core/variant.hpp"

namespace scanlab {

namespace {

using Example = decltype(kExampleScans)::value_type;

/// The names of element types in C++.
constexpr std::array kCppNames{"std::int8_t", "std::int16_t", "std::int32_t", "std::int64_t",
                               "Half",        "float",        "double"};

/// "my_scan" is MyScan, and "plan" is PlanScan, which hides nothing of the harness.
std::string class_name(const std::string& id) {
  std::string name;
  bool begins = true;
  for (const char c : id) {
    if (c != '_') name += begins && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    begins = c == '_';
  }
  return name.ends_with("Scan") ? name : name + "Scan";
}

}  // namespace

std::string id_problem(const std::string& id) {
  if (!is_id(id)) {
    return "'" + id + "' cannot name a variant: use lower-case letters, digits and '_', a letter first";
  }
  if (Registry::instance().find(id) == nullptr) return {};
  return "a variant '" + id + "' exists already: choose another name";
}

std::string new_scan_text(const std::string& id, bool plain, std::optional<ElementType> type) {
  const std::string example = plain ? "my_cuda_scan" : "my_scan";
  std::string text = std::ranges::find(kExampleScans, "examples/" + example + ".cu", &Example::first)->second;
  boost::replace_all(text, "my_kernel", id + "_kernel");  // first: a variant may be called my_kernel
  boost::replace_all(text, example, id);
  boost::replace_all(text, class_name(example), class_name(id));
  if (type) {
    boost::replace_all(text, "kTakes = true;",
                       std::string("kTakes = std::is_same_v<typename Op::Element, ") +
                           kCppNames[static_cast<std::size_t>(*type)] + ">;");
    boost::replace_all(text, "The types and operators that it is compiled for; without this, all of them.",
                       "The types and operators that it is compiled for.");
  }
  return text;
}

}  // namespace scanlab
