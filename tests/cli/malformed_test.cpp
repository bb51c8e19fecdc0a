// Files that the commands read, with every field in turn left out or of a value that it cannot have: one sentence that
// names the file and status 2, or a meaning; never an uncaught exception, nor a number that a loop runs to.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/simulator/device_profile.hpp"
#include "harness/tuning/tuning_table.hpp"
#include "tests/program.hpp"
#include "tests/test_folder.hpp"

namespace scanlab::cli {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

const std::string kHuge(5000, '9');

/// Values to put into fields that require something else.
const std::vector<Json>& wrong_values() {
  static const std::vector<Json> values{
      "HUGE",     1e30, 100'000'000, -1, 0.5, 1e308, true, nullptr, Json::array(), Json::array({Json::array({1})}),
      {{"a", 1}}, "",   "no such"};
  return values;
}

/// Every field of a document; of a list those of its first and its last entry.
void add_fields(const Json& value, const Json::json_pointer& at, std::vector<Json::json_pointer>& all) {
  if (!at.empty()) all.push_back(at);
  if (value.is_object()) {
    for (const auto& [key, field] : value.items()) add_fields(field, at / key, all);
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); i += std::max<std::size_t>(1, value.size() - 1)) {
      add_fields(value[i], at / i, all);
    }
  }
}

class Malformed : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_ / name; }

  /// Calls `read` with the text of the document with each field wrong.
  static int each_fault(const Json& sound,
                        const std::function<void(const std::string& text, const std::string& fault)>& read) {
    std::vector<Json::json_pointer> fields;
    add_fields(sound, Json::json_pointer(), fields);
    int faults = 0;
    const auto is_read = [&](const Json& document, const Json::json_pointer& field, const std::string& is) {
      std::string text = document.dump();
      if (const auto huge = text.find("\"HUGE\""); huge != text.npos) text.replace(huge, 6, kHuge);
      read(text, field.to_string() + " " + is);
      ++faults;
    };
    for (const Json::json_pointer& field : fields) {
      for (const Json& value : wrong_values()) {
        Json document = sound;
        document[field] = value;
        is_read(document, field, value.dump());
      }
      Json document = sound;
      Json& parent = document[field.parent_pointer()];
      if (parent.is_object()) parent.erase(field.back());
      is_read(document, field, "missing");
    }
    return faults;
  }

  /// The sound file is taken, and every other is taken or refused in a sentence that names it.
  void expect_taken_or_refused(const Json& sound, const Words& words, const std::string& file) const {
    const auto run_on = [&](const std::string& text) {
      std::ofstream(file) << text;
      return run_program(words);
    };
    const Result whole = run_on(sound.dump());
    ASSERT_EQ(whole.status, kOk) << whole.err;
    int refused = 0;
    const int faults = each_fault(sound, [&](const std::string& text, const std::string& fault) {
      const auto [status, out, err] = run_on(text);
      EXPECT_TRUE(status == kOk || status == kBadInput) << fault << ": status " << status << ": " << err;
      if (status != kBadInput) return;
      ++refused;
      EXPECT_TRUE(has(err, file)) << fault;
      EXPECT_EQ(std::ranges::count(err, '\n'), 1) << fault << ": " << err;
      EXPECT_FALSE(has(err, "json.exception")) << fault;
      EXPECT_LT(err.size(), 1000u) << fault;
    });
    EXPECT_GT(refused, faults / 4);
  }

  TestFolder folder_;
};

TEST_F(Malformed, ProfilesOfDevices) {
  std::ifstream file(SCANLAB_SOURCE "/data/devices/h200.json");
  const std::string profile = path("profile.json");
  expect_taken_or_refused(Json::parse(file),
                          {"simulate", "depth_first", "--profile", profile, "--items", "2^12", "--chunks", "2"},
                          profile);
}

TEST_F(Malformed, TracesThatTheModelIsHeldAgainst) {
  const std::string trace = path("trace.json");
  const Words words{"simulate", "depth_first", "--profile", "h200", "--items", "2^12", "--chunks", "2", "--out", trace};
  ASSERT_EQ(run_program(words).status, kOk);
  Json sound = Json::parse(std::ifstream(trace));
  sound["otherData"].erase("simulated_on");  // as if it were measured
  expect_taken_or_refused(sound, {"simulate", "--profile", "h200", "--compare", trace}, trace);
}

TEST_F(Malformed, ResultsThatATableIsChosenFrom) {
  const auto entry = [](const std::string& variant) {
    return Json{{"kind", "scan"},  {"outcome", "timed"},  {"variant", variant},  {"type", "i32"},
                {"op", "plus"},    {"mode", "inclusive"}, {"items", 1024},       {"settings", {{"threads", "512"}}},
                {"cache", "cold"}, {"launch", "stream"},  {"real_time", 1000.5}, {"time_unit", "ns"},
                {"verified", true}};
  };
  const Json about{{"origin", "variant"},
                   {"kind", "scan"},
                   {"on_host", false},
                   {"types", {"i8", "i16", "i32", "i64", "f16", "f32", "f64"}},
                   {"operators", {"plus", "max", "min", "affine"}}};
  const Json sound{{"context",
                    {{"schema", "scanlab-results/2"},
                     {"variants", {{"one_block", about}, {"decoupled_lookback", about}}},
                     {"device", "a device"},
                     {"multiprocessors", "132"},
                     {"compute_capability", "9.0"},
                     {"date", "2026-01-02"}}},
                   {"benchmarks", {entry("one_block"), entry("decoupled_lookback")}}};
  const std::string results = path("results.json");
  expect_taken_or_refused(sound, {"tune", "--from", results, "--out", path("table.json"), "--force"}, results);
}

TEST_F(Malformed, SchedulesThatAdviceIsHeldAgainst) {
  const Json entry{
      {"run_name", "any"}, {"schedule", "depth_first"}, {"workload", "scale"}, {"items", 4096}, {"chunks", 4},
      {"streams", 2},      {"memory", "pinned"},        {"work", 1},           {"blocks", 0},   {"buffers", 4},
      {"real_time", 1e6},  {"verified", true}};
  const std::string results = path("results.json");
  expect_taken_or_refused({{"context", {{"git_commit", "0123"}, {"git_dirty", "false"}}}, {"benchmarks", {entry}}},
                          {"advise", "--profile", "h200", "--against", results}, results);
}

TEST_F(Malformed, TablesOfWhatBestRuns) {
  Json sound = Json::parse(std::ifstream(SCANLAB_SOURCE "/data/tuned/nvidia-h200.json"));
  sound["entries"].erase(sound["entries"].begin() + 1, sound["entries"].end());
  EXPECT_NO_THROW(parse_tuning_table(sound.dump(), "table.json"));
  each_fault(sound, [](const std::string& text, const std::string& fault) {
    try {
      parse_tuning_table(text, "table.json");
    } catch (const DocumentError& error) {
      const std::string reason = error.what();
      EXPECT_TRUE(has(reason, "table.json: ")) << fault;
      EXPECT_LT(reason.size(), 1000u) << fault;
    }
  });
}

}  // namespace
}  // namespace scanlab::cli
