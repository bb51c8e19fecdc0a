#include "harness/core/new_scan.hpp"

#include "harness/core/variant.hpp"
#include "scan_templates.hpp"

namespace scanlab {

namespace {

/// The name of an element type in C++.
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

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

std::string why_no_id(const std::string& id) {
  if (!is_id(id)) {
    return "'" + id + "' cannot name a variant: use lower-case letters, digits and '_', a letter first";
  }
  if (Registry::instance().find(id) == nullptr) return {};
  return "a variant '" + id + "' exists already: choose another name";
}

std::string new_scan_text(const std::string& id, bool plain, std::optional<ElementType> type) {
  const std::string example = plain ? "my_cuda_scan" : "my_scan";
  std::string text = plain ? k_my_cuda_scan : k_my_scan;
  replace_all(text, "my_kernel", id + "_kernel");  // first: a variant may be called my_kernel
  replace_all(text, example, id);
  replace_all(text, class_name(example), class_name(id));
  if (type) {
    replace_all(text, "kTakes = true;",
                std::string("kTakes = std::is_same_v<typename Op::Element, ") + cpp_name(*type) + ">;");
    replace_all(text, "The types and operators that it is compiled for; without this, all of them.",
                "The types and operators that it is compiled for.");
  }
  return text;
}

}  // namespace scanlab
