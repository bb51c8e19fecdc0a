// The pictures that lectures draw, simulated: each shows the fact that it is there for.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "harness/cli/command.hpp"
#include "harness/scenarios/scenario.hpp"
#include "harness/schedule/hazards.hpp"
#include "harness/simulator/bounds.hpp"
#include "tests/program.hpp"
#include "tests/test_folder.hpp"

namespace scanlab::simulator {
namespace {

using streams::Engine;
using streams::Interval;
using Json = nlohmann::ordered_json;

constexpr double kUnit = 1e-3;
constexpr double kExact = 1e-9;  // units

/// A scenario, simulated; times in its units.
class Seen {
 public:
  explicit Seen(const std::string& id)
      : scenario_(*std::ranges::find(built_in_scenarios(), id, &Scenario::id)), simulation_(simulate(scenario_)) {}

  double makespan() const { return simulation_.timeline.makespan() / kUnit; }

  /// The operation of a chunk on an engine; without copies, the kernel that was issued as the `chunk`-th.
  Interval when(Engine engine, int chunk) const {
    for (const streams::Span& span : simulation_.timeline.spans) {
      const streams::Operation& operation = scenario_.recording.operations[span.operation];
      const int number = scenario_.shows_blocks() ? static_cast<int>(span.operation) : operation.chunk.index;
      if (engine_of(operation) == engine && number == chunk) return in_units(span.when);
    }
    throw std::out_of_range("no such operation in " + scenario_.id);
  }
  Interval in(int chunk) const { return when(Engine::copy_in, chunk); }
  Interval kernel(int chunk) const { return when(Engine::compute, chunk); }
  Interval out(int chunk) const { return when(Engine::copy_out, chunk); }

  /// The most kernels, or all engines' operations, at work at the same time.
  int most_kernels() const {
    return most([](Engine engine) { return engine == Engine::compute; });
  }
  int most_at_once() const {
    return most([](Engine) { return true; });
  }

  /// Blocks of each multiprocessor in the order of time, as the numbers of their kernels.
  std::map<std::size_t, std::vector<std::size_t>> blocks() const {
    std::map<std::size_t, std::vector<std::size_t>> all;
    for (const PlacedBlock& block : place_blocks(scenario_, simulation_)) all[block.slot].push_back(block.operation);
    return all;
  }

 private:
  static Interval in_units(const Interval& when) { return {when.start / kUnit, when.end / kUnit}; }

  template <class Counts>
  int most(Counts counts) const {
    int most = 0;
    for (const streams::Span& at : simulation_.timeline.spans) {
      int now = 0;
      for (const streams::Span& span : simulation_.timeline.spans) {
        const bool counted = counts(engine_of(scenario_.recording.operations[span.operation]));
        now += counted && span.when.start <= at.when.start && at.when.start < span.when.end ? 1 : 0;
      }
      most = std::max(most, now);
    }
    return most;
  }

  const Scenario& scenario_;
  Simulation simulation_;
};

double makespan(const char* id) { return Seen(id).makespan(); }

// ---- Markidis, Harris: generations of devices

TEST(Scenarios, TheC1060OverlapsNothingDepthFirstAndSavesAThirdBreadthFirst) {
  const Seen depth("c1060_depth_first");
  EXPECT_EQ(depth.most_at_once(), 1);
  EXPECT_GE(depth.in(1).start, depth.out(0).end);  // one engine for copies, in the order of issue
  EXPECT_GT(depth.makespan(), makespan("c1060_sequential"));
  const Seen breadth("c1060_breadth_first");
  EXPECT_NEAR(breadth.makespan() / makespan("c1060_sequential"), 8.0 / 12, 0.02);
  for (int chunk = 0; chunk < 3; ++chunk) EXPECT_LT(breadth.kernel(chunk).start, breadth.in(chunk + 1).end) << chunk;
  EXPECT_GE(breadth.out(0).start, breadth.in(3).end);
}

TEST(Scenarios, TheC2050SavesHalfDepthFirstAndAQuarterBreadthFirst) {
  const Seen depth("c2050_depth_first");
  EXPECT_EQ(depth.most_at_once(), 3);
  EXPECT_NEAR(depth.makespan() / makespan("c2050_sequential"), 6.0 / 12, 0.02);
  const Seen breadth("c2050_breadth_first");
  EXPECT_NEAR(breadth.makespan() / makespan("c2050_sequential"), 9.0 / 12, 0.02);
  // All blocks of the last kernel have started: what is left of it is less than one wave.
  EXPECT_GT(breadth.out(0).start, breadth.kernel(3).start + 0.9 * breadth.kernel(3).seconds());
  EXPECT_LT(breadth.out(0).start, breadth.kernel(3).end);
  EXPECT_LT(depth.out(0).start, depth.kernel(2).start);
}

TEST(Scenarios, HyperQMakesTheOrderOfIssueMatterNoMore) {
  EXPECT_NEAR(makespan("k20c_depth_first") / makespan("k20c_breadth_first"), 1, 0.01);
  EXPECT_NEAR(makespan("k20c_depth_first") / makespan("k20c_sequential"), 6.0 / 12, 0.02);
  EXPECT_NEAR(makespan("k20c_sequential"), 7.101760, 0.05);  // as published
}

// ---- When are they worth using?

TEST(Scenarios, InTheIdealCaseNStreamsTakeAThirdAndTwoThirdsOverN) {
  EXPECT_NEAR(makespan("ideal_whole"), 12, kExact);
  EXPECT_NEAR(makespan("ideal_two_streams"), 8, kExact);
  const Seen four("ideal_four_streams");
  EXPECT_NEAR(four.makespan(), 6, kExact);
  EXPECT_EQ(four.most_at_once(), 3);
  EXPECT_NEAR(four.kernel(0).start, four.in(0).end, kExact);  // it waits for its own part of the data alone
}

TEST(Scenarios, StreamsSaveNoMoreThanSmallCopiesTake) {
  EXPECT_NEAR(makespan("small_copies_whole"), 12, kExact);
  const Seen streams("small_copies_streams");
  EXPECT_NEAR(streams.makespan(), 10.5, kExact);
  EXPECT_NEAR(streams.kernel(3).end - streams.kernel(0).start, 10, kExact);  // as long as the whole kernel
  const Seen hoped("small_copies_hoped");
  EXPECT_EQ(hoped.most_kernels(), 4);
  EXPECT_LT(hoped.makespan(), 4);
}

TEST(Scenarios, AnotherStreamFillsTheTail) {
  EXPECT_NEAR(makespan("tails_one_stream"), 4, kExact);
  EXPECT_EQ(Seen("tails_one_stream").blocks(),
            (std::map<std::size_t, std::vector<std::size_t>>{{0, {0, 0, 1, 1}}, {1, {0, 1}}, {2, {0, 1}}}));
  const Seen two("tails_two_streams");
  EXPECT_NEAR(two.makespan(), 3, kExact);
  EXPECT_NEAR(two.kernel(1).start, 1, kExact);  // where the first has its tail
  EXPECT_NEAR(two.kernel(0).end, 2, kExact);
  EXPECT_EQ(two.blocks(),
            (std::map<std::size_t, std::vector<std::size_t>>{{0, {0, 0, 1}}, {1, {0, 1, 1}}, {2, {0, 1}}}));
  EXPECT_NEAR(makespan("tails_one_grid"), two.makespan(), kExact);
}

TEST(Scenarios, TwoSmallGridsRunInOneWaveOfSixMultiprocessors) {
  const Seen one_stream("small_grids_one_stream");
  EXPECT_NEAR(one_stream.makespan(), 4, kExact);
  EXPECT_EQ(one_stream.blocks().size(), 3u);  // three multiprocessors never have a block
  const Seen four_streams("small_grids_four_streams");
  EXPECT_NEAR(four_streams.makespan(), 2, kExact);
  EXPECT_EQ(four_streams.most_kernels(), 2);
  EXPECT_EQ(four_streams.blocks(), (std::map<std::size_t, std::vector<std::size_t>>{
                                       {0, {0, 2}}, {1, {0, 2}}, {2, {0, 2}}, {3, {1, 3}}, {4, {1, 3}}, {5, {1, 3}}}));
  EXPECT_NEAR(makespan("small_grids_no_concurrency"), 4, kExact);
}

TEST(Scenarios, OneCopyEngineOverlapsNothingUntilTheOrderChanges) {
  EXPECT_NEAR(makespan("one_way_expected"), 5, kExact);
  const Seen real("one_way_real");
  EXPECT_NEAR(real.makespan(), 9, kExact);
  EXPECT_EQ(real.most_at_once(), 1);
  EXPECT_GE(real.in(1).start, real.out(0).end);
  const Seen reordered("one_way_reordered");
  EXPECT_NEAR(reordered.makespan(), 6, kExact);  // six copies, one after another: no order does better
  EXPECT_LT(reordered.in(1).start, reordered.out(0).start);
}

TEST(Scenarios, ASingleQueueHoldsSmallGridsBackUntilTheOrderChanges) {
  const Seen expected("small_grids_expected");
  EXPECT_NEAR(expected.makespan(), 7, kExact);
  EXPECT_EQ(expected.most_kernels(), 3);
  const Seen real("small_grids_real");
  EXPECT_NEAR(real.makespan(), 11, kExact);
  EXPECT_EQ(real.most_kernels(), 1);
  EXPECT_NEAR(real.kernel(1).start, real.kernel(0).end, kExact);  // though its copy was in long before
  EXPECT_LT(real.in(1).end, real.kernel(1).start);
  const Seen reordered("small_grids_reordered");
  EXPECT_NEAR(reordered.makespan(), 8, kExact);
  EXPECT_EQ(reordered.most_kernels(), 2);
}

TEST(Scenarios, ASingleQueueHoldsACopyOutUntilAllBlocksBeforeItHaveStarted) {
  const Seen expected("large_grids_expected");
  EXPECT_NEAR(expected.out(0).start, expected.kernel(0).end, kExact);
  EXPECT_NEAR(expected.makespan(), 9, kExact);
  const Seen real("large_grids_real");
  EXPECT_NEAR(real.kernel(0).end, 3, kExact);
  EXPECT_NEAR(real.out(0).start, real.kernel(1).end - 1, kExact);  // the second of its two waves starts
  EXPECT_NEAR(real.makespan(), 10, kExact);
  EXPECT_NEAR(makespan("large_grids_reordered"), 9, kExact);
}

// ---- Tutorial 08

TEST(Scenarios, TheDefaultStreamSerialisesAndStreamsDoNot) {
  const Seen serial("default_stream");
  EXPECT_NEAR(serial.makespan(), 6, kExact);
  EXPECT_EQ(serial.most_at_once(), 1);
  const Seen two("two_streams");
  EXPECT_NEAR(two.makespan(), 4, kExact);
  EXPECT_NEAR(two.in(1).start, two.kernel(0).start, kExact);
  const Seen pipeline("four_chunk_pipeline");
  EXPECT_NEAR(pipeline.makespan(), 6, kExact);
  for (int chunk = 0; chunk < 4; ++chunk) {
    EXPECT_NEAR(pipeline.in(chunk).start, chunk, kExact);
    EXPECT_NEAR(pipeline.kernel(chunk).start, chunk + 1, kExact);
    EXPECT_NEAR(pipeline.out(chunk).start, chunk + 2, kExact);
  }
}

TEST(Scenarios, TheLegacyDefaultStreamPartsKernels) {
  const Seen legacy("null_stream_legacy");
  EXPECT_NEAR(legacy.makespan(), 3, kExact);
  EXPECT_NEAR(legacy.kernel(1).start, 1, kExact);
  EXPECT_NEAR(legacy.kernel(2).start, 2, kExact);
  for (const char* id : {"null_stream_per_thread", "null_stream_non_blocking"}) {
    const Seen concurrent(id);
    EXPECT_NEAR(concurrent.makespan(), 2, kExact) << id;
    EXPECT_NEAR(concurrent.kernel(1).start, 0, kExact) << id;
    EXPECT_NEAR(concurrent.kernel(2).start, 1, kExact) << id;
  }
}

// ---- the course

TEST(Scenarios, ChunksOfTheRoundedUpQuotientCoverEveryItemOnce) {
  for (const auto& [id, sizes, units] :
       {std::tuple("even_chunks", std::vector{5, 5}, 20.0), {"uneven_chunks", {4, 4, 2}, 18.0}}) {
    const Seen seen(id);
    std::int64_t next = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const int chunk = static_cast<int>(i);
      EXPECT_NEAR(seen.in(chunk).start, static_cast<double>(next), kExact) << id;  // an item takes a unit
      EXPECT_NEAR(seen.in(chunk).seconds(), sizes[i], kExact) << id;
      EXPECT_NEAR(seen.kernel(chunk).seconds(), sizes[i], kExact) << id;
      next += sizes[i];
    }
    EXPECT_EQ(next, 10) << id;
    EXPECT_NEAR(seen.makespan(), units, kExact) << id;
  }
}

// ---- all of them

TEST(Scenarios, AreOrderedAndSayWhatTheyShow) {
  std::set<std::string> ids;
  for (const Scenario& scenario : built_in_scenarios()) {
    EXPECT_TRUE(ids.insert(scenario.id).second) << scenario.id;
    EXPECT_TRUE(check(scenario.recording).ordered()) << scenario.id;
    EXPECT_EQ(scenario.fact.back(), '.') << scenario.id;
    EXPECT_FALSE(scenario.title.empty() || scenario.source.empty() || scenario.device.title.empty()) << scenario.id;
  }
}

TEST(Scenarios, BlocksEndWhenTheirKernelsDo) {
  for (const Scenario& scenario : built_in_scenarios()) {
    const Simulation simulation = simulate(scenario);
    std::map<std::size_t, Interval> kernels;
    for (const PlacedBlock& block : place_blocks(scenario, simulation)) {
      const auto [at, is_new] = kernels.try_emplace(block.operation, block.when);
      at->second.start = std::min(at->second.start, block.when.start);
      at->second.end = std::max(at->second.end, block.when.end);
    }
    for (const streams::Span& span : simulation.timeline.spans) {
      if (engine_of(scenario.recording.operations[span.operation]) != Engine::compute) continue;
      EXPECT_NEAR(kernels.at(span.operation).start, span.when.start, 1e-11) << scenario.id;
      EXPECT_NEAR(kernels.at(span.operation).end, span.when.end, 1e-11) << scenario.id;
    }
  }
}

// ---- the command

TEST(Scenarios, AreWrittenWholeAndNeverOverWhatIsThere) {
  const TestFolder own;
  const std::filesystem::path& folder = own.path();
  std::ofstream(folder / "uneven_chunks.json") << "mine";
  expect_error({"scenarios", "--out", folder}, "uneven_chunks.json' exists");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);  // none was begun

  const cli::Result result = cli::run_program({"scenarios", "--out", folder, "--force"});
  EXPECT_EQ(result.status, scanlab::kOk) << result.err;
  EXPECT_EQ(static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {})),
            built_in_scenarios().size());
  const Json trace = Json::parse(std::ifstream(folder / "small_grids_four_streams.json"));
  EXPECT_EQ(trace["otherData"]["scenario"], "small_grids_four_streams");
  EXPECT_EQ(trace["otherData"]["simulated_on"], "didactic");
  EXPECT_NEAR(trace["otherData"]["makespan_us"].get<double>(), 2000, 1e-6);
  const auto blocks = std::ranges::count_if(trace["traceEvents"],
                                            [](const Json& event) { return event["ph"] == "X" && event["pid"] == 4; });
  EXPECT_EQ(blocks, 12);
}

}  // namespace
}  // namespace scanlab::simulator
