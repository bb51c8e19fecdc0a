// From times to a table, from a table to what `best` runs. No device is needed: times come from a results file or from
// a machine that makes them up, and `best` runs on the emulator.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "baselines/cub_candidates/candidates.hpp"
#include "harness/core/scan_variant.hpp"
#include "harness/host/document.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/measure/record.hpp"
#include "harness/tuning/tuner.hpp"
#include "harness/tuning/tuning_table.hpp"
#include "tests/program.hpp"
#include "tests/test_folder.hpp"
#include "tests/tuning/made_up_backend.hpp"

namespace scanlab::cli {
namespace {

using Json = nlohmann::json;
using Rows = std::vector<std::pair<std::int64_t, std::string>>;

Rows rows_of(const std::vector<TuningTable::Row>& rows) {
  Rows all;
  for (const TuningTable::Row& row : rows) all.emplace_back(row.from_items, row.choice.label());
  return all;
}

constexpr tuning::Column kColdStream{Cache::cold, Launch::stream};
constexpr tuning::Column kWarmGraph{Cache::warm, Launch::graph};

/// One candidate's times in two columns.
std::map<tuning::Column, std::vector<double>> times(double cold, double warm) {
  return {{kColdStream, {cold}}, {kWarmGraph, {warm}}};
}

const Choice kA{"a"};
const Choice kB{"b"};
const Choice kC{"c"};

// ------------------------------------------------------------------------------------------------------- choosing

TEST(Choose, TheWorstColumnCounts) {
  // b is the fastest in one column and far behind in the other; c is a little behind in both.
  const tuning::Timings timings{{kA, times(100, 200)}, {kB, times(200, 100)}, {kC, times(110, 110)}};
  EXPECT_NEAR(tuning::losses(timings).at(kA), 2, 1e-9);
  EXPECT_NEAR(tuning::losses(timings).at(kC), 1.1, 1e-9);
  EXPECT_EQ(rows_of(tuning::choose({{1000, timings}})), (Rows{{0, "c"}}));
}

TEST(Choose, TheMedianOfRepetitionsCountsAndAllColumnsAreNeeded) {
  const tuning::Timings timings{{kA, {{kColdStream, {100, 100, 900}}}}, {kB, {{kColdStream, {110, 10, 110}}}}};
  EXPECT_EQ(rows_of(tuning::choose({{1000, timings}})), (Rows{{0, "a"}}));
  const tuning::Timings lacking{{kA, times(100, 100)}, {kB, {{kColdStream, {50}}}}};
  EXPECT_EQ(rows_of(tuning::choose({{1000, lacking}})), (Rows{{0, "a"}}));
  EXPECT_TRUE(tuning::choose({{100, {}}}).empty()) << "nothing was measured";
}

TEST(Choose, ChangesBehindTheLastSizeThatTheFormerChoiceWonOrAtTheOneThatItCannotTake) {
  tuning::TimingsBySize sizes{{100, {{kA, times(1, 1)}, {kB, times(2, 2)}}},
                              {10'000, {{kA, times(2, 2)}, {kB, times(1, 1)}}}};
  EXPECT_EQ(rows_of(tuning::choose(sizes)), (Rows{{0, "a"}, {101, "b"}}));
  sizes.at(10'000).erase(kA);
  EXPECT_EQ(rows_of(tuning::choose(sizes)), (Rows{{0, "a"}, {10'000, "b"}}));
}

TEST(Choose, KeepsAChoiceThatIsAboutAsGood) {
  const auto with_gain = [](double gain) {
    return tuning::TimingsBySize{{100, {{kA, times(100, 100)}, {kB, times(150, 150)}}},
                                 {200, {{kA, times(100 * gain, 100 * gain)}, {kB, times(100, 100)}}},
                                 {400, {{kA, times(100, 100)}, {kB, times(150, 150)}}}};
  };
  EXPECT_EQ(tuning::choose(with_gain(1.02)).size(), 1U);
  EXPECT_EQ(tuning::choose(with_gain(1.20)).size(), 3U);
}

// ---------------------------------------------------------------------------------------------------------- tables

TuningTable small_table() {
  TuningTable table;
  table.device = "a device";
  table.compute_capability = "9.0";
  table.multiprocessors = 132;
  table.provenance = {{"git_commit", "abc"}, {"argv", "scanlab \"tune\""}};
  table.entries = {
      {ElementType::i32, Operator::plus, {{0, kA}, {1000, {"b", {{"tile", "36"}}}}, {5000, kC}}},
      {ElementType::f32, Operator::plus, {{0, {"f32 plus"}}}},
      {ElementType::i64, Operator::max, {{0, {"i64 max"}}}},
      {ElementType::i64, Operator::affine, {{0, {"i64 affine"}}}},
  };
  return table;
}

TEST(TuningTables, SurviveBeingWrittenAndRead) {
  const TuningTable table = small_table();
  const TuningTable again = parse_tuning_table(to_text(table), "again");
  EXPECT_EQ(to_text(again), to_text(table));
  EXPECT_EQ(again.provenance, table.provenance);
  EXPECT_EQ(again.multiprocessors, 132);
  EXPECT_EQ(rows_of(again.entries[0].rows), (Rows{{0, "a"}, {1000, "b/tile:36"}, {5000, "c"}}));
}

/// malformed_test.cpp has each field missing, and of a wrong kind.
TEST(TuningTables, SayInOneSentenceWhatIsWrongWithThem) {
  const auto expect = [](const std::string& text, const std::string& hint) {
    try {
      parse_tuning_table(text, "my.json");
      FAIL() << hint;
    } catch (const DocumentError& error) {
      const std::string what = error.what();
      EXPECT_TRUE(has(what, "my.json") && has(what, hint)) << what;
      EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    }
  };
  const std::string good = to_text(small_table());
  for (const std::size_t length : {0UL, 1UL, good.size() / 2, good.size() - 3}) {
    expect(good.substr(0, length), "is no JSON: line ");
  }
  const auto with = [&](const std::function<void(Json&)>& change) {
    Json json = Json::parse(good);
    change(json);
    return json.dump();
  };
  expect(with([](Json& json) { json["schema"] = "scanlab-results/1"; }),
         "key 'schema': expected scanlab-tuning/1 (tune again");
  expect(with([](Json& json) { json["schema"] = "scanlab-tuning/7"; }), "of a newer Scanlab: update");
  expect(with([](Json& json) { json["entries"][0]["choices"] = Json::array(); }), "rise");
  expect(with([](Json& json) { json["entries"][0]["choices"][0]["from_items"] = 5; }), "rise");
  expect(with([](Json& json) { json["entries"][0]["choices"][2]["from_items"] = 1000; }), "rise");
}

TEST(TuningTables, ChooseByItemsAndKnowWhatToFallBackOn) {
  const TuningTable table = small_table();
  const auto choices = [&](std::int64_t n) {
    std::vector<std::string> labels;
    for (const Choice& choice : table.choices({.items = n})) labels.push_back(choice.label());
    return labels;
  };
  using Labels = std::vector<std::string>;
  EXPECT_EQ(choices(0), (Labels{"a", "b/tile:36"}));
  EXPECT_EQ(choices(999), (Labels{"a", "b/tile:36"}));
  EXPECT_EQ(choices(1000), (Labels{"b/tile:36", "c", "a"}));
  EXPECT_EQ(choices(5000), (Labels{"c", "b/tile:36"}));
}

TEST(TuningTables, TakeWhatIsNearestForWhatTheyLack) {
  const TuningTable table = small_table();
  const auto nearest = [&](ElementType type, const Operator& op) {
    const TuningTable::Entry* const entry = table.nearest(type, op);
    return entry == nullptr ? std::string("none") : entry->rows[0].choice.variant;
  };
  using enum ElementType;
  constexpr Operator plus = Operator::plus, max = Operator::max, min = Operator::min, affine = Operator::affine;
  EXPECT_EQ(nearest(f32, plus), "f32 plus");
  EXPECT_EQ(nearest(f32, max), "f32 plus") << "the same type";
  EXPECT_EQ(nearest(i16, affine), "a") << "4 bytes, none of affine: the first plus";
  EXPECT_EQ(nearest(i64, min), "i64 max") << "costs what max does";
  EXPECT_EQ(nearest(f64, max), "i64 max");
  EXPECT_EQ(nearest(f64, affine), "i64 affine");
  EXPECT_EQ(nearest(i8, plus), "none") << "no item of one byte";
}

TEST(TuningTables, BuiltInOnesAreSound) {
  std::set<std::pair<std::string, int>> devices;
  for (const TuningTable& table : built_in_tuning_tables()) {
    EXPECT_TRUE(devices.emplace(table.device, table.multiprocessors).second) << "two tables of " << table.device;
    EXPECT_FALSE(table.entries.empty());
    EXPECT_EQ(tuning_table(table.device, table.multiprocessors), &table);
#ifdef SCANLAB_WITH_CUDA  // without it the program lacks the variants that are plain CUDA
    EXPECT_EQ(table.unknown_choice(), "") << table.device;
#endif
  }
  EXPECT_FALSE(devices.empty());
  EXPECT_EQ(tuning_table("no such device", 1), nullptr);
}

// ------------------------------------------------------------------------------------------------- files and words

class TuneTest : public testing::Test {
 protected:
  ~TuneTest() override { unsetenv("SCANLAB_TUNING"); }

  static void expect_ok(const std::vector<std::string>& words) {
    const Result result = run_program(words);
    EXPECT_EQ(result.status, kOk) << result.err << result.out;
  }
  TuningTable table(const std::string& name) const { return read_tuning_table(path(name), name); }
  std::vector<std::string> files(const std::string& folder) const {
    std::vector<std::string> names;
    for (const auto& each : std::filesystem::directory_iterator(folder_ / folder))
      names.push_back(each.path().filename());
    return names;
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }

 private:
  TestFolder folder_;
};

/// Results as `bench` writes them.
class Results {
 public:
  /// `scan` is an id, with the settings that are not defaults: "look_ahead/tile:36".
  Results& add(const std::string& scan, std::int64_t n, double time, const Json& more = Json::object()) {
    const std::string id = scan.substr(0, scan.find('/'));
    const Variant* const variant = Registry::instance().find(id);
    Json settings = Json::object();
    if (variant != nullptr) {
      for (const Parameter& each : variant->about.parameters) settings[each.name] = each.values.front();
    }
    std::istringstream words(scan.substr(std::min(id.size() + 1, scan.size())));
    for (std::string word; std::getline(words, word, '/');) {
      settings[word.substr(0, word.find(':'))] = word.substr(word.find(':') + 1);
    }
    document_["context"]["variants"][id] = about(id, variant);
    for (const auto& [cache, launch] : {std::pair{"cold", "stream"}, {"warm", "graph"}}) {
      Json entry{{"name", "of no matter"}, {"kind", "scan"},  {"outcome", "timed"},  {"variant", id},
                 {"type", "i32"},          {"op", "plus"},    {"mode", "inclusive"}, {"items", n},
                 {"settings", settings},   {"cache", cache},  {"launch", launch},    {"real_time", time},
                 {"time_unit", "ns"},      {"verified", true}};
      entry.update(more);
      document_["benchmarks"].push_back(entry);
    }
    return *this;
  }
  Json& context() { return document_["context"]; }
  Json& entry(std::size_t i) { return document_["benchmarks"].at(i); }
  std::string text() const { return document_.dump(); }

 private:
  /// This build may lack it.
  static Json about(const std::string& id, const Variant* variant) {
    Json words =
        measure::described({variant == nullptr ? Registry::instance().find("one_block") : variant}).begin().value();
    if (variant == nullptr) words["origin"] = id.starts_with("cub") || id == "memcpy" ? "baseline" : "variant";
    return words;
  }

  Json document_{{"context",
                  {{"schema", measure::kResultsSchema},
                   {"variants", Json::object()},
                   {"device", "a device"},
                   {"compute_capability", "9.0"},
                   {"multiprocessors", "132"},
                   {"git_commit", "abc"},
                   {"driver", "580"},
                   {"argv", "scanlab bench"},
                   {"date", "2026-01-01"}}},
                 {"benchmarks", Json::array()}};
};

TEST_F(TuneTest, ATableFromResults) {
  Results results;
  results.add("one_block", 1000, 10).add("warp_shuffle", 1000, 20).add("look_ahead/piece:4/tile:36", 1000, 30);
  results.add("one_block", 100'000, 0, {{"outcome", "skipped"}, {"error_message", "too many"}});
  results.add("warp_shuffle", 100'000, 50).add("look_ahead/piece:4/tile:36", 100'000, 60);
  results.add("warp_shuffle", 10'000'000, 5000).add("look_ahead/piece:4/tile:36", 10'000'000, 1000);
  results.add("look_ahead/piece:4/tile:36", 10'000'000, 1100);  // a second repetition
  // None of these is to be chosen.
  results.add("cub_device_scan", 1000, 1).add("memcpy", 1000, 1).add("hs_blocked", 1000, 1).add("best", 1000, 1);
  results.add("device_scan", 1000, 1);
  results.add("reduce_then_scan", 1000, 1, {{"outcome", "failed"}, {"verified", false}});
  results.add("decoupled_lookback", 1000, 1, {{"launch", "batch"}});
  results.add("decoupled_lookback", 1000, 1, {{"launch", "pipeline"}});
  results.add("one_cluster", 1000, 1, {{"mode", "exclusive"}});
  expect_ok({"tune", "--from", write("results.json", results.text()), "--out", path("new/table.json")});
  const TuningTable table = this->table("new/table.json");
  ASSERT_EQ(table.entries.size(), 1U);
  EXPECT_EQ(table.entries[0].type, ElementType::i32);
  EXPECT_EQ(rows_of(table.entries[0].rows),
            (Rows{{0, "one_block"}, {100'000, "warp_shuffle"}, {100'001, "look_ahead/piece:4/tile:36"}}));
  EXPECT_EQ(table.device, "a device");
  EXPECT_EQ(table.multiprocessors, 132);
  const std::pair<std::string, std::string> commit{"git_commit", "abc"};
  EXPECT_NE(std::ranges::find(table.provenance, commit), table.provenance.end());
  EXPECT_EQ(files("new"), std::vector<std::string>{"table.json"});
}

/// malformed_test.cpp has each field missing, and of a wrong kind.
TEST_F(TuneTest, BadInputIsOneSentenceAndLeavesNoFile) {
  const std::string good = Results().add("one_block", 1000, 10).text();
  const auto expect = [&](const std::string& results, const std::string& hint) {
    expect_error({"tune", "--from", write("results.json", results), "--out", path("table.json")}, hint);
    EXPECT_EQ(files(""), std::vector<std::string>{"results.json"});
  };
  expect("", "cannot be read, or is empty");
  expect(good.substr(0, good.size() / 2), "is no JSON: line 1");
  expect("{\"context\": {}, \"benchmarks\": []}", "schema");
  Results old;
  old.context()["schema"] = "scanlab-results/1";
  expect(old.add("one_block", 1000, 10).text(), "expected scanlab-results/2 (measure again");
  const auto with = [](const char* field, const Json& value) {
    Results wrong;
    wrong.add("one_block", 1000, 10).entry(1)[field] = value;
    return wrong.text();
  };
  expect(with("launch", "sideways"), "key 'benchmarks[1].launch': expected one of ");
  expect(with("cache", "tepid"), "key 'benchmarks[1].cache': expected one of ");
  expect(with("items", -5), "key 'benchmarks[1].items': expected a whole number from 1");
  expect(with("time_unit", "ms"), "key 'benchmarks[1].time_unit': expected one of ns");
  expect(with("verified", false), "key 'benchmarks[1].verified': expected true");
  Results newer;
  newer.context()["schema"] = "scanlab-results/9";
  expect(newer.add("one_block", 1000, 10).text(), "of a newer Scanlab: update");
  expect(Results().text(), "no candidate has a time");
  Results of_the_host;
  of_the_host.context().erase("device");
  expect(of_the_host.add("one_block", 1000, 10).text(), "no GPU");
  expect_error({"tune", "--from", path("nowhere.json")}, "nowhere.json");
  expect_error({"tune", "--from", write("good.json", good), "--items", "10"}, "--items");
  expect_error({"tune", "--from", path("good.json"), "--out", "/proc/no/such/place"}, "/proc/no");
}

TEST_F(TuneTest, KeepsTheEntriesThatAreNotTunedNow) {
  const std::string results = write("results.json", Results().add("one_block", 1000, 10).text());
  expect_ok({"tune", "--from", results, "--out", path("first.json")});
  TuningTable before = table("first.json");
  before.entries.front().rows.front().choice = {"warp_shuffle"};
  before.entries.push_back({ElementType::f64, Operator::plus, {{0, {"reduce_then_scan"}}}});
  const std::string kept = write("kept.json", to_text(before));
  expect_ok({"tune", "--from", results, "--keep", kept, "--out", path("second.json")});
  const TuningTable second = table("second.json");
  ASSERT_EQ(second.entries.size(), 2);
  EXPECT_EQ(second.entries[0].rows.front().choice, Choice{"one_block"}) << "measured now";
  EXPECT_EQ(second.entries[1].rows.front().choice, Choice{"reduce_then_scan"});
  EXPECT_EQ(second.provenance.back().first, "kept_from");

  before.entries.back() = {ElementType::i8, Operator::plus, {{0, {"one_wave"}}}};
  const std::string more = write("more.json", to_text(before));
  expect_ok({"tune", "--from", results, "--keep", kept, "--keep", more, "--out", path("both.json")});
  const TuningTable both = table("both.json");
  ASSERT_EQ(both.entries.size(), 3);
  EXPECT_EQ(both.entries[2].rows.front().choice, Choice{"one_wave"});
  EXPECT_EQ(std::ranges::count(both.provenance, "kept_from", &std::pair<std::string, std::string>::first), 1);

  before.device = "another device";
  const std::string of_another = write("another.json", to_text(before));
  expect_error({"tune", "--from", results, "--keep", of_another, "--out", path("third.json")}, "another device");
  expect_error({"tune", "--from", results, "--keep", path("nowhere.json")}, "nowhere.json");
}

TEST_F(TuneTest, AnExistingTableIsReplacedOnlyIfAsked) {
  const std::string results = write("results.json", Results().add("one_block", 1000, 10).text());
  const std::string table = write("table.json", "mine");
  expect_error({"tune", "--from", results, "--out", table}, "--force");
  EXPECT_EQ(text_of(table), "mine");
  expect_ok({"tune", "--from", results, "--out", table, "--force"});
  EXPECT_NE(text_of(table), "mine");
}

#if !defined(SCANLAB_WITH_CUDA)
TEST_F(TuneTest, MeasuringNeedsADevice) { EXPECT_EQ(run_program({"tune"}).status, kNoDevice); }
#endif

// ------------------------------------------------------------------------------------------------------- measuring

class TunerTest : public testing::Test {
 protected:
  MadeUpBackend& made_up(std::function<double(const measure::TimedCase&)> seconds) {
    backends_.cuda = std::make_unique<MadeUpBackend>(std::move(seconds));
    return static_cast<MadeUpBackend&>(*backends_.cuda);
  }
  std::ostringstream err_;
  measure::Backends backends_;
  measure::Engine engine_{{}, nullptr, err_};
  tuning::Tuner tuner_{backends_, engine_};
};

const std::vector<std::int64_t> kSizes{256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536};
const std::vector<Choice> kPortable{{"decoupled_lookback"}, {"one_block"}, {"warp_shuffle"}};
const tuning::TypeAndOperator kI32Plus{ElementType::i32, Operator::plus};

TEST_F(TunerTest, MeasuresWhatCanBeTheFastestAndLeavesOutWhatIsHopeless) {
  MadeUpBackend& machine = made_up([](const measure::TimedCase& timed) {
    if (timed.about().id == "one_block") return 1e-6;
    if (timed.about().id == "warp_shuffle") return 10e-6;  // nowhere good
    return timed.problem().items < 10'000 ? 1.5e-6 : 1e-6;
  });
  const tuning::TimingsBySize measured = tuner_.measure(kI32Plus, kSizes, kPortable);
  EXPECT_EQ(measured.size(), kSizes.size());
  EXPECT_EQ(rows_of(tuning::choose(measured)), (Rows{{0, "one_block"}, {16384, "decoupled_lookback"}}));
  EXPECT_EQ(machine.timed_sizes["decoupled_lookback"].size(), kSizes.size());
  EXPECT_EQ(machine.timed_sizes["one_block"], (std::set<std::int64_t>{256, 512, 1024, 2048, 4096, 8192}));
  EXPECT_EQ(machine.timed_sizes["warp_shuffle"], (std::set<std::int64_t>{256, 4096, 65536})) << "the first pass alone";
  EXPECT_FALSE(tuner_.any_failed());
}

TEST_F(TunerTest, NeverChoosesWhatIsWrong) {
  MadeUpBackend& machine =
      made_up([](const measure::TimedCase& timed) { return timed.about().id == "one_block" ? 1e-6 : 2e-6; });
  machine.wrong = "one_block";
  const tuning::TimingsBySize measured = tuner_.measure(kI32Plus, kSizes, kPortable);
  for (const TuningTable::Row& row : tuning::choose(measured)) EXPECT_NE(row.choice.variant, "one_block");
  EXPECT_TRUE(tuner_.any_failed());
  EXPECT_NE(err_.str().find("one_block"), std::string::npos);
  EXPECT_FALSE(tuner_.measure(kI32Plus, {1 << 28}, kPortable).at(1 << 28).contains({"one_block"}));
}

TEST_F(TunerTest, NeverChoosesWhatFailsOnTheWay) {
  made_up([](const measure::TimedCase& timed) {
    if (timed.about().id != "one_block") return 2e-6;
    if (timed.problem().items == 2048) throw std::runtime_error("the launch was refused");
    return 1e-6;
  });
  for (const auto& [n, timings] : tuner_.measure(kI32Plus, kSizes, kPortable))
    EXPECT_FALSE(timings.contains({"one_block"})) << n;
}

/// Registers a scan for the device that does nothing, if it is not there yet.
template <class Scan>
void plant(Origin origin) {
  if (Registry::instance().find(Scan::describe().id) != nullptr) return;
  const auto no_functions = []<class Op>(Op, const auto&, const Problem&, BoundScan&) {};
  const Registration planted{scan_variant<Scan>(origin, {.cuda = true}, no_functions)};
}

// ---------------------------------------------------------------------------------------------------------- rivals

const Choice kSmall{"planted_rival", {{"items", "1"}}};
const Choice kLarge{"planted_rival", {{"items", "9"}}};

/// A rival with two shapes, for i32 sums alone.
struct PlantedRival {
  static Description describe() {
    return {.id = "planted_rival",
            .family = "Planted",
            .parameters = {{.name = "items", .values = {"1", "9"}},
                           {.name = "pdl", .values = {"yes", "no"}, .experiment = true}},
            .shapes = [](ElementType type, Operator op) -> std::vector<Settings> {
              if (type != ElementType::i32 || op != Operator::plus) return {};
              return {kSmall.settings, kLarge.settings};
            }};
  }
  explicit PlantedRival(const Problem&) {}
  Plan plan() const { return {}; }
};

/// The same as it is shipped: not among the shapes, whatever its time.
struct PlantedAsShipped {
  static Description describe() { return {.id = "planted_as_shipped", .family = "Planted"}; }
  explicit PlantedAsShipped(const Problem&) {}
  Plan plan() const { return {}; }
};

class RivalTest : public TunerTest {
 protected:
  static void SetUpTestSuite() {
    plant<PlantedRival>(Origin::baseline);
    plant<PlantedAsShipped>(Origin::baseline);
  }
  /// Seconds of the two shapes; as it is shipped it is always faster.
  MadeUpBackend& shapes_take(const std::function<double(bool small, const measure::TimedCase&)>& seconds) {
    return made_up([=](const measure::TimedCase& timed) {
      if (timed.about().id == "planted_as_shipped") return 1e-6;
      return seconds(timed.problem().settings.at("items") == "1", timed);
    });
  }
};

TEST_F(RivalTest, ItsShapesAreThoseThatAreCompiledIn) {
  EXPECT_EQ(tuning::rival_candidates("planted", kI32Plus), (std::vector{kSmall, kLarge}));
  EXPECT_EQ(tuning::rival_monoids("planted"), std::vector{kI32Plus});
  EXPECT_EQ(tuning::rival_references("planted").front(), Choice{"planted_as_shipped"});
}

TEST_F(RivalTest, ATableHasNoExperiment) {
  EXPECT_EQ(tuning::without_experiments({"planted_rival", {{"items", "9"}, {"pdl", "yes"}}}), kLarge);
  EXPECT_EQ(tuning::without_experiments({"planted_rival", {{"items", "9"}, {"pdl", "no"}}}), std::nullopt);
  EXPECT_EQ(tuning::without_experiments({"of_another_build", {{"pdl", "no"}}})->settings.size(), 1U);
}

TEST_F(RivalTest, EveryShapeHasATimeAtEverySizeAndTheFastestOfSmallAndLargeSizesAreLeft) {
  const MadeUpBackend& machine = shapes_take([](bool small, const measure::TimedCase& timed) {
    return timed.problem().items < 10'000 ? (small ? 2e-6 : 6e-6) : small ? 20e-6 : 6e-6;
  });
  const std::vector<std::int64_t> sizes{1000, 10'000, 100'000};
  const tuning::TimingsBySize measured = tuner_.tune_rival("planted", kI32Plus, sizes);
  EXPECT_EQ(machine.timed_sizes.at("planted_rival").size(), sizes.size()) << "hopeless or not";
  EXPECT_EQ(machine.timed_sizes.at("planted_as_shipped").size(), sizes.size());
  for (const auto& [n, timings] : measured) EXPECT_EQ(timings.size(), 2) << n;
  EXPECT_EQ(tuning::finalists(measured), (std::vector{kSmall, kLarge})) << "never what is not a shape";
}

/// A shape that is good only when its input is in the cache may not be passed over, nor one that only a graph favours.
TEST_F(RivalTest, ItsShapesAreTimedColdAndWarmAndTheFinalistsInTheColumnsOfOurs) {
  shapes_take([](bool small, const measure::TimedCase& timed) {
    if (timed.problem().items > 1 << 22) return small ? 20e-6 : 6e-6;
    return timed.cache == Cache::warm && small ? 2e-6 : 3e-6;
  });
  const tuning::TimingsBySize measured = tuner_.tune_rival("planted", kI32Plus, {});
  ASSERT_FALSE(measured.empty());
  const std::vector<std::int64_t> first = tuning::first_rival_sizes(kI32Plus);
  for (const auto& [n, timings] : measured) {
    const std::size_t columns = std::ranges::count(first, n) != 0 ? 2 : 4;
    ASSERT_EQ(timings.size(), 2) << n;
    EXPECT_EQ(timings.at(kSmall).size(), columns) << n;
    EXPECT_EQ(timings.at(kLarge).size(), columns) << n;
  }
  const auto rows = tuning::choose(measured);
  ASSERT_EQ(rows.size(), 2);
  EXPECT_EQ(rows[0].choice, kSmall) << "as fast cold, and faster warm";
}

TEST_F(RivalTest, NeverChoosesAShapeThatFailsAtALaterSize) {
  shapes_take([](bool small, const measure::TimedCase& timed) {
    if (!small && timed.problem().items == 1 << 20) throw std::runtime_error("the launch was refused");
    return timed.problem().items < 10'000'000 ? (small ? 2e-6 : 3e-6) : small ? 20e-6 : 6e-6;
  });
  const tuning::TimingsBySize measured = tuner_.tune_rival("planted", kI32Plus, {});
  EXPECT_EQ(measured.size(), tuning::rival_sizes(kI32Plus).size());
  for (const auto& [n, timings] : measured) {
    EXPECT_FALSE(timings.contains(kLarge)) << n;
    EXPECT_TRUE(timings.contains(kSmall)) << n;
  }
  EXPECT_TRUE(tuner_.any_failed());
}

TEST_F(RivalTest, ItsTableIsMadeFromSamplesByWhatWasTimedWithEveryShape) {
  // Small is the fastest at 2^22; large at both larger sizes, and at a size that is no usual one small alone was timed.
  Results results;
  for (const auto& [n, small, large] : {std::tuple{1 << 22, 5, 6}, {1 << 26, 90, 60}, {1 << 28, 350, 250}}) {
    results.add("planted_rival/items:1", n, small).add("planted_rival/items:9", n, large);
    results.add("planted_as_shipped", n, 1).add("hs_block", n, 1);
  }
  results.add("planted_rival/items:1", 1 << 12, 3);
  const TestFolder folder;
  std::ofstream(folder / "samples.json") << results.text();
  const tuning::Measured measured = tuning::read_results(folder / "samples.json", "planted");
  ASSERT_EQ(measured.timings.size(), 1);
  const tuning::TimingsBySize& sizes = measured.timings.at(kI32Plus);
  EXPECT_EQ(sizes.size(), 4);
  for (const auto& [n, timings] : sizes) EXPECT_EQ(timings.size(), n == 1 << 12 ? 1 : 2) << n;
  const auto rows = tuning::choose(sizes);
  ASSERT_EQ(rows.size(), 2);
  EXPECT_EQ(rows[0].choice, kSmall);
  EXPECT_EQ(rows[1].choice, kLarge);
  EXPECT_GT(rows[1].from_items, 1 << 22);
}

TEST(CubShapes, LookAheadIsRefusedWhereCubHasNoCodeForThem) {
  EXPECT_EQ(look_ahead_refusal("cub_newest_look_ahead", 80),
            "cub_newest_look_ahead needs compute capability 9.0: CUB has no look-ahead scan below");
  EXPECT_NE(look_ahead_refusal("cub_tuned", 89), "");
  EXPECT_EQ(look_ahead_refusal("cub_tuned", 90), "");
  EXPECT_EQ(look_ahead_refusal("cub_tuned", 120), "");
}

/// cub_tuned is compiled with what these say, and the build would take other numbers, too.
TEST(CubShapes, TablesHaveCandidatesAlone) {
  std::set<std::pair<std::string, Settings>> candidates;
  for_each_cub_candidate([&](auto, const auto& shape) { candidates.emplace(shape.kVariant, shape.settings()); });
  int tables = 0;
  for (const auto& file : std::filesystem::directory_iterator(SCANLAB_SOURCE "/data/tuned/cub")) {
    const TuningTable table = read_tuning_table(file.path().string(), file.path().filename().string());
    std::set<std::size_t> sizes;
    for (const TuningTable::Entry& entry : table.entries) {
      sizes.insert(item_bytes(entry.type, entry.op));
      for (const TuningTable::Row& row : entry.rows) {
        Settings settings = row.choice.settings;
        settings.emplace("accumulator", "cub");  // tables from before it was tuned do not name it
        EXPECT_TRUE(candidates.contains({row.choice.variant, settings})) << row.choice.label();
      }
    }
    EXPECT_EQ(sizes, (std::set<std::size_t>{1, 2, 4, 8, 16})) << "every size of item has a shape";
    ++tables;
  }
  EXPECT_GE(tables, 1);
}

TEST_F(TuneTest, ARivalThatCannotBeTunedSaysHowItCould) {
  expect_error({"tune", "--rival", "thrust"}, "cannot be tuned: give --rival cub");
  expect_error({"tune", "--rival", "cub"}, "-DSCANLAB_CUB_CANDIDATES=ON");
}

// ------------------------------------------------------------------------------------------------------------ best

/// A candidate for the device alone, with a workspace, for one n.
class DeviceOnly {
 public:
  static constexpr std::int64_t kItems = 40'001;  // several tiles of the safe one
  static Description describe() {
    Description about;
    about.id = "planted_device_only";
    about.in_place = true;
    return about;
  }
  explicit DeviceOnly(const Problem& problem) : items_(problem.items) {}
  Plan plan() const {
    if (items_ != kItems) return Plan::refuse("planted_device_only takes no such n");
    return {.workspace_bytes = 1000, .chain = 7};
  }

 private:
  std::int64_t items_;
};

class BestTest : public TuneTest {
 protected:
  static void SetUpTestSuite() { plant<DeviceOnly>(Origin::variant); }

  void use(std::vector<TuningTable::Row> rows) const {
    TuningTable table;
    table.device = "a device";
    table.compute_capability = "9.0";
    table.multiprocessors = 1;
    table.entries = {{ElementType::i32, Operator::plus, std::move(rows)}};
    static int tables = 0;  // a file is read once: another table is another file
    setenv("SCANLAB_TUNING", write(std::to_string(++tables) + ".json", to_text(table)).c_str(), 1);
  }

  /// The kernels that one run on the emulator launches.
  static std::set<std::string> kernels(std::int64_t n) {
    std::set<std::string> all;
    const Json explanation = Json::parse(run_program({"explain", "best", "--json", "--items", std::to_string(n)}).out);
    for (const Json& launch : explanation.at("launches")) all.insert(launch.at("kernel"));
    return all;
  }
  static std::string choice(std::int64_t n) { return best({.items = n}).plan.choice.value_or(Choice{"none"}).label(); }
  static BoundScan best(const Problem& problem) { return Registry::instance().find("best")->bind(problem); }

  static void expect_right(std::int64_t n, const std::string& aliasing = "apart") {
    expect_ok({"verify", "--device", "simt", "--variant", "best", "--items", std::to_string(n), "--mode", "all",
               "--aliasing", aliasing});
  }
};

constexpr char kSafe[] = "decoupled_lookback";

TEST_F(BestTest, WithoutATableABlockThenTheSafeOne) {
  std::string refusal;
  if (measure::device_facts(refusal)) GTEST_SKIP() << "this device may have a table of its own";
  EXPECT_EQ(choice(0), "one_block");
  EXPECT_EQ(choice(1000), "one_block");
  EXPECT_EQ(choice(100'000), kSafe);
  EXPECT_EQ(kernels(1000), std::set<std::string>{"one_block"});
  EXPECT_TRUE(kernels(20'000).contains(kSafe));
}

TEST_F(BestTest, RunsWhatTheTableSays) {
  use({{0, {"warp_shuffle"}}, {1500, {kSafe, {{"threads", "128"}}}}, {3000, {"reduce_then_scan"}}});
  EXPECT_EQ(choice(1499), "warp_shuffle");
  EXPECT_EQ(choice(1500), "decoupled_lookback/threads:128");
  EXPECT_EQ(choice(3000), "reduce_then_scan");
  EXPECT_EQ(kernels(1000), std::set<std::string>{"warp_shuffle"});
  EXPECT_FALSE(kernels(4000).contains("warp_shuffle"));
  for (const std::int64_t n : {1000, 2000, 4000}) {
    expect_right(n);
    expect_right(n, "in_place,shifted");
  }
}

TEST_F(BestTest, RunsTheSafeOneInPlaceOfWhatNeedsTwoArrays) {
  use({{0, {"redundant_reduce"}}});
  EXPECT_EQ(choice(5000), "redundant_reduce");
  EXPECT_EQ(kernels(5000), std::set<std::string>{"redundant_reduce"});
  expect_right(5000);
  expect_right(5000, "in_place,shifted");
}

TEST_F(BestTest, GoesOnToTheNextRowWhereAPlanRefuses) {
  use({{0, {"one_block"}}, {1'000'000, {"reduce_then_scan"}}});
  EXPECT_EQ(choice(1000), "one_block");
  EXPECT_EQ(choice(20'000), "reduce_then_scan") << "one block holds less";
}

TEST_F(BestTest, FallsBackFromWhatThisProgramDoesNotHave) {
  testing::internal::CaptureStderr();
  use({{0, {"no_such_scan"}}});
  EXPECT_EQ(choice(100'000), kSafe);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("no_such_scan"), std::string::npos);
}

TEST_F(BestTest, RunsNothingThatIsNoCandidate) {
  testing::internal::CaptureStderr();
  for (const char* id : {"best", "cpu_sequential", "hs_blocked"}) {
    use({{0, {id}}});
    EXPECT_EQ(choice(100'000), kSafe) << id;
  }
  testing::internal::GetCapturedStderr();
}

TEST_F(BestTest, EmulatesTheSafeOneForAVariantWithoutAnEmulatorForm) {
  use({{0, {"planted_device_only"}}});
  const Problem problem{.items = DeviceOnly::kItems};
  const BoundScan safe = Registry::instance().find(kSafe)->bind(problem);
  const BoundScan bound = best(problem);
  EXPECT_EQ(bound.plan.choice, Choice{"planted_device_only"});
  EXPECT_EQ(bound.plan.workspace_bytes, 1024 + safe.plan.workspace_bytes) << "a part each, aligned";
  EXPECT_EQ(bound.plan.chain, safe.plan.chain) << "the longer of the two";
  EXPECT_TRUE(kernels(DeviceOnly::kItems).contains(kSafe));
  expect_right(DeviceOnly::kItems);
}

TEST_F(BestTest, AnUnusableTableIsBadInput) {
  for (const char* text : {"", "{", "{\"schema\": \"scanlab-tuning/1\"}"}) {
    const std::string file = write(std::string("table") + std::to_string(std::string(text).size()), text);
    setenv("SCANLAB_TUNING", file.c_str(), 1);
    expect_error({"explain", "best", "--items", "100"}, file);
  }
  setenv("SCANLAB_TUNING", path("nowhere.json").c_str(), 1);
  expect_error({"explain", "best", "--items", "100"}, "nowhere.json");
}

// ---------------------------------------------------------------------------------------------------------- choice

/// Runs another, as best does.
struct Choosing {
  static Description describe() {
    Description about;
    about.id = "planted_choosing";
    return about;
  }
  explicit Choosing(const Problem&) {}
  static Plan plan() { return {.chain = 1, .choice = Choice{"another", {{"tile", "36"}}}}; }
  template <class Op>
  void run(Op, const typename Op::Item* in, typename Op::Item* out) const {
    *out = *in;  // right for one item
  }
};

TEST_F(TuneTest, BenchSaysWhatWasChosen) {
  if (Registry::instance().find("planted_choosing") == nullptr) {
    const Registration choosing{host_scan<Choosing>()};
  }
  const Result result = run_program({"bench", "--variant", "planted_choosing", "--items", "1",
                                     "--benchmark_repetitions=1", "--out", path("results.json")});
  ASSERT_EQ(result.status, kOk) << result.err;
  EXPECT_EQ(Json::parse(text_of(path("results.json"))).at("benchmarks").at(0).at("choice"),
            Json({{"variant", "another"}, {"settings", {{"tile", "36"}}}}));
  EXPECT_TRUE(has(result.out, "another/tile:36"));
}

}  // namespace
}  // namespace scanlab::cli
