#include "harness/host/json_error.hpp"

#include <regex>

namespace scanlab {

std::string what_is_wrong(const nlohmann::json::exception& error) {
  std::string text = error.what();
  for (const auto& [theirs, ours] : {
           std::pair{R"(^\[json\.exception\.[^\]]*\] )", ""},
           {R"(^parse error at )", ""},
           {R"(syntax error while parsing [a-z ]+ - )", ""},
           {R"(^type must be )", "the type of a value must be "},
           {R"(^cannot use .* with (.*)$)", "an object is expected, not $1"},
       }) {
    text = std::regex_replace(text, std::regex(theirs), ours);
  }
  constexpr std::size_t kMost = 200;  // the text of a number may be of any length
  return text.size() <= kMost ? text : text.substr(0, kMost) + " ...";
}

}  // namespace scanlab
