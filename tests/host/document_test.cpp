// Documents: read into structs and written from them; errors name the file, the line, the key and what is expected.
#include "harness/host/document.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace scanlab {

struct Copy {
  std::string name;
  double seconds = 0;
  std::optional<int> queue;
  std::vector<std::int64_t> bytes;
};

template <class Fields>
void list_fields(Fields& fields, Copy& copy) {
  fields("name", copy.name);
  fields("us", copy.seconds, {.above = 0, .unit = 1e-6});
  fields.optional("queue", copy.queue, {.low = 1, .high = 8});
  fields("bytes", copy.bytes, {.low = 1});
  fields.refuse_others();
}

namespace {

using Copies = std::vector<Copy>;

std::string refusal(const std::function<void()>& read) {
  try {
    read();
  } catch (const DocumentError& error) {
    EXPECT_EQ(error.status, kBadInput);
    return error.what();
  }
  return {};
}

std::string refusal_of_json(const std::string& text) {
  return refusal([&] { read<Copies>(parse_json(text, "my.json")); });
}

TEST(Document, IsReadAsItIsWritten) {
  const Copies copies{{"a", 2e-6, 3, {1, 2}}, {"b", 1e-6, {}, {}}};
  const Document document{.file = "my.json", .json = to_document(copies), .lines = {}};
  EXPECT_EQ(document.json.dump(),
            R"([{"name":"a","us":2.0,"queue":3,"bytes":[1,2]},{"name":"b","us":1.0,"bytes":[]}])");
  EXPECT_EQ(to_document(read<Copies>(document)), document.json);
}

TEST(Document, ErrorsNameTheKeyAndWhatIsExpected) {
  EXPECT_EQ(refusal_of_json("3"), "my.json: expected a list, got 3");
  EXPECT_EQ(refusal_of_json(R"([{"name": 1}])"),
            "my.json: key '[0].name': expected a text of one line, of 1 to 1000 bytes, got 1");
  EXPECT_EQ(refusal_of_json(R"([{"name": "a"}])"), "my.json: key '[0]': lacks the key 'us'");
  EXPECT_EQ(refusal_of_json(R"([{"name": "a", "us": 0}])"), "my.json: key '[0].us': expected a number above 0, got 0");
  EXPECT_EQ(refusal_of_json(R"([{"name": "a", "us": 1, "queue": 9}])"),
            "my.json: key '[0].queue': expected a whole number from 1 to 8, got 9");
  EXPECT_NE(refusal_of_json(R"([{"name": "a", "us": 1, "bytes": [1, 0.5]}])").find("key '[0].bytes[1]'"),
            std::string::npos);
  EXPECT_EQ(refusal_of_json(R"([{"name": "a", "us": 1, "bytes": [], "quene": 3}])"),
            "my.json: key '[0].quene': there is no such key; did you mean queue?");
  EXPECT_LT(refusal_of_json("[\"" + std::string(5000, 'x') + "\"]").size(), 300U);
}

TEST(Document, ErrorsInATomlFileNameTheLine) {
  const auto refusal_of_toml = [](const std::string& text) {
    return refusal([&] { Value(parse_toml(text, "my.toml")).at("copy").get<Copy>(); });
  };
  EXPECT_EQ(refusal_of_toml("[copy]\nname = 'a'\nus = 'fast'\n"),
            "my.toml, line 3: key 'copy.us': expected a number above 0, got \"fast\"");
  EXPECT_EQ(refusal_of_toml("\n[copy]\nname = 'a'\n"), "my.toml, line 2: key 'copy': lacks the key 'us'");
  EXPECT_TRUE(refusal_of_toml("[copy\n").starts_with("my.toml, line 1: "));
}

TEST(Document, ErrorsInTheTextNameLineAndColumn) {
  EXPECT_TRUE(refusal_of_json("{\"schema\": 1,\n  \"name\"").starts_with("my.json: is no JSON: line 2, column 9: "));
  EXPECT_TRUE(refusal_of_json("\xff\x01").starts_with("my.json: is no JSON: line 1, column 1: "));
  const std::string too_large = refusal_of_json(std::string(5000, '9'));
  EXPECT_TRUE(too_large.starts_with("my.json: is no JSON: number overflow")) << too_large;
  EXPECT_LT(too_large.size(), 300U);
}

TEST(Document, SchemasSayWhatToDo) {
  const auto refusal_of_schema = [](const std::string& schema) {
    const Document document{.file = "my.json", .json = {{"schema", schema}}, .lines = {}};
    return refusal([&] { Value(document).check_schema("scanlab-trace/1", "trace it anew"); });
  };
  EXPECT_EQ(refusal_of_schema("scanlab-trace/1"), "");
  EXPECT_NE(refusal_of_schema("scanlab-trace/2").find("of a newer Scanlab: update"), std::string::npos);
  EXPECT_NE(refusal_of_schema("scanlab-tuning/2").find("trace it anew"), std::string::npos);
}

}  // namespace
}  // namespace scanlab
