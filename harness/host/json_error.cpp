#include "harness/host/json_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

namespace scanlab {

namespace {

constexpr std::size_t kMaxSentence = 200;  // the text of a number may be of any length
constexpr std::size_t kMaxBehind = 30;

/// The identifiers of nlohmann::json::exception.
enum Id { kSyntax = 101, kOtherType = 302, kAtOfOther = 304, kIndexOfOther = 305, kValueOfOther = 306 };

std::string shortened(const std::string& sentence) {
  return sentence.size() <= kMaxSentence ? sentence : sentence.substr(0, kMaxSentence) + " ...";
}

/// With the bytes that a terminal would not show as \x1f.
std::string shown(std::string_view text) {
  std::string all;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    all += byte < 0x80 && std::isprint(byte) != 0 ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return all;
}

/// `byte` counts from 1; the one behind the last is the end.
std::string at(std::size_t byte, std::string_view text) {
  const std::string_view before = text.substr(0, byte - 1);
  std::string_view line = before.substr(before.rfind('\n') + 1);
  const std::string where = fmt::format("line {}, column {}: ", 1 + std::ranges::count(before, '\n'), line.size() + 1);
  if (byte > text.size()) return where + "unexpected end of input";
  line.remove_prefix(line.size() - std::min(line.size(), kMaxBehind));
  return where + "unexpected '" + shown(text.substr(byte - 1, 1)) + "'" +
         (line.empty() ? "" : " behind '" + shown(line) + "'");
}

}  // namespace

std::string what_is_wrong(const nlohmann::json::exception& error, std::string_view text) {
  const std::string_view named = error.what();  // "[json.exception.NAME.ID] SENTENCE"
  const std::string sentence(named.substr(named.find(' ') + 1));
  switch (error.id) {
    case kSyntax:
      if (const auto* const syntax = dynamic_cast<const nlohmann::json::parse_error*>(&error);
          syntax != nullptr && syntax->byte > 0 && text.data() != nullptr) {
        return at(syntax->byte, text);
      }
      break;
    case kOtherType:
      return shortened("a value's " + sentence);
    case kAtOfOther:
    case kIndexOfOther:
    case kValueOfOther:  // the sentence ends with the type of what is no object
      return "an object is expected, not " + sentence.substr(sentence.rfind(' ') + 1);
    default:
      break;
  }
  return shortened(sentence);
}

std::string wrong_schema(std::string_view found, std::string_view known, std::string_view remedy) {
  const auto parts = [](std::string_view schema) {
    const std::size_t slash = std::min(schema.rfind('/'), schema.size());
    int number = 0;
    const std::string_view digits = schema.substr(std::min(slash + 1, schema.size()));
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return std::pair(schema.substr(0, slash), number);
  };
  const auto [name, number] = parts(found);
  const auto [known_name, known_number] = parts(known);
  if (name == known_name && number > known_number) {
    return fmt::format("its schema is '{}', of a newer Scanlab: update", shortened(std::string(found)));
  }
  return fmt::format("its schema is '{}', not {}: {}", shortened(std::string(found)), known, remedy);
}

}  // namespace scanlab
