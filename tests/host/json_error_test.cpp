// What is said of a JSON text that is none, or that has other values than it should.
#include "harness/host/json_error.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace scanlab {
namespace {

using Json = nlohmann::json;

std::string said_of(
    const std::string& text, const std::function<void(const Json&)>& read = [](const Json&) {}) {
  try {
    read(Json::parse(text));
  } catch (const Json::exception& error) {
    return what_is_wrong(error, text);
  }
  return {};
}

TEST(JsonError, SaysWhereTheTextIsNone) {
  EXPECT_EQ(said_of("{\"schema\": 1,\n  \"name\""), "line 2, column 9: unexpected end of input");
  EXPECT_EQ(said_of(""), "line 1, column 1: unexpected end of input");
  EXPECT_EQ(said_of("{\n\n"), "line 3, column 1: unexpected end of input");
  EXPECT_EQ(said_of("{\"a\": [1, 2}"), "line 1, column 12: unexpected '}' behind '{\"a\": [1, 2'");
  EXPECT_EQ(said_of("[1,\n]"), "line 2, column 1: unexpected ']'");
  EXPECT_EQ(said_of("\xff\x01"), "line 1, column 1: unexpected '\\xff'");
  EXPECT_EQ(said_of("[\"" + std::string(500, 'x') + "\x01"),
            "line 1, column 503: unexpected '\\x01' behind '" + std::string(30, 'x') + "'");
}

TEST(JsonError, SaysWhichValueIsNotWhatItShouldBe) {
  EXPECT_EQ(said_of("{}", [](const Json& json) { json.at("name"); }), "key 'name' not found");
  EXPECT_EQ(said_of("[]", [](const Json& json) { json.at("name"); }), "an object is expected, not array");
  EXPECT_EQ(said_of("3", [](const Json& json) { json.value("name", 1); }), "an object is expected, not number");
  EXPECT_EQ(said_of("3", [](const Json& json) { return json["name"]; }), "an object is expected, not number");
  EXPECT_EQ(said_of("3", [](const Json& json) { json.get<std::string>(); }),
            "a value's type must be string, but is number");
}

TEST(JsonError, IsShortWhateverTheFileHolds) {
  EXPECT_LT(said_of(std::string(5000, '9')).size(), 300U);
  EXPECT_LT(said_of("{}", [](const Json& json) { json.at(std::string(5000, 'x')); }).size(), 300U);
  try {
    [[maybe_unused]] const Json none = Json::parse("[");
  } catch (const Json::exception& error) {
    EXPECT_NE(what_is_wrong(error).find("line 1, column 2"), std::string::npos) << "of a text that is not at hand";
  }
}

}  // namespace
}  // namespace scanlab
