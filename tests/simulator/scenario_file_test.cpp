// Scenario files: what they say is what is simulated, and what they cannot say is refused with the file, the line, the
// word and what is allowed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/cli/command.hpp"
#include "harness/scenarios/scenario.hpp"
#include "tests/program.hpp"
#include "tests/test_folder.hpp"

namespace scanlab::simulator {
namespace {

using streams::OperationKind;
using streams::StreamKind;
using Json = nlohmann::ordered_json;

constexpr char kJob[] = R"toml([[scenario]]
title = "Three tasks share one copy engine"
device = {profile = "didactic", copy_engines = [["in", "out"]], hardware_queues = 1}
job = {schedule = "depth_first", chunks = 3, streams = 3, blocks = 6, h2d_ms = 3, kernel_ms = 3, d2h_ms = 3}
)toml";

constexpr char kByHand[] = R"toml([[scenario]]
title = "By hand"
operations = [
  {stream = 0, kind = "h2d", bytes = "64MiB", gb_per_s = 16, label = "A"},
  {stream = 0, kind = "record", event = "copied"},
  {stream = 1, kind = "wait", event = "copied"},
  {stream = 1, kind = "kernel", ms = 4, blocks = 12, label = "f(A)"},
  {stream = "legacy_default", kind = "side_kernel", ms = 1},
  {stream = 1, kind = "d2h", ms = 2},
]
)toml";

Scenario only(const std::string& text) {
  std::vector<Scenario> all = parse_scenarios(text, "talk/my.toml");
  EXPECT_EQ(all.size(), 1u);
  return std::move(all.front());
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("there is no " + from);
  return text.replace(at, from.size(), to);
}

/// Returns the error message for a text; empty if the text is valid.
std::string refusal(const std::string& text) {
  try {
    parse_scenarios(text, "my.toml");
  } catch (const CommandError& error) {
    EXPECT_EQ(error.status, kBadInput);
    return error.what();
  }
  return {};
}

TEST(ScenarioFile, SaysAScheduleOnADeviceOfItsOwn) {
  const Scenario scenario = only(kJob);
  EXPECT_EQ(scenario.id, "my");
  EXPECT_EQ(scenario.source, "talk/my.toml");
  EXPECT_EQ(scenario.fact, scenario.title);
  EXPECT_EQ(scenario.unit, "ms");
  EXPECT_EQ(scenario.device.copy_engines.size(), 1u);
  EXPECT_EQ(scenario.device.hardware_queues, 1);
  EXPECT_EQ(scenario.device.multiprocessors, device_profile("didactic").multiprocessors);
  EXPECT_TRUE(has(scenario.device.title, "with copy_engines = [[\"in\",\"out\"]], hardware_queues = 1"));
  EXPECT_NEAR(simulate(scenario).timeline.makespan(), 9e-3, 1e-12);  // nothing overlaps: three tasks of three units
  EXPECT_EQ(only(replaced(kJob, "chunks = 3", "chunks = 3, items = \"2^20\"")).recording.job.items, 1 << 20);
}

/// The order of issue, streams, events and times are those of the file, counted by hand.
TEST(ScenarioFile, SaysOperationsInTheOrderOfIssue) {
  const Scenario scenario = only(kByHand);
  std::vector<std::tuple<OperationKind, StreamKind, int, std::string>> issued;
  for (const streams::Operation& operation : scenario.recording.operations) {
    issued.emplace_back(operation.kind, operation.stream.kind, operation.stream.index, operation.label);
  }
  EXPECT_EQ(issued, (decltype(issued){{OperationKind::copy_in, StreamKind::blocking, 0, "A"},
                                      {OperationKind::record_event, StreamKind::blocking, 0, ""},
                                      {OperationKind::wait_event, StreamKind::blocking, 1, ""},
                                      {OperationKind::kernel, StreamKind::blocking, 1, "f(A)"},
                                      {OperationKind::side_kernel, StreamKind::legacy_default, 0, ""},
                                      {OperationKind::copy_out, StreamKind::blocking, 1, ""}}));
  const Simulation simulation = simulate(scenario);
  std::vector<double> ends;  // milliseconds
  for (const streams::Span& span : simulation.timeline.spans) ends.push_back(1e3 * span.when.end);
  const double copied = 67.108864 / 16;
  ASSERT_EQ(ends.size(), 4u);
  EXPECT_NEAR(ends[0], copied, 1e-9);
  EXPECT_NEAR(ends[1], copied + 4, 1e-9);  // two waves of six blocks each take 4 ms together
  EXPECT_NEAR(ends[2], copied + 5, 1e-9);
  EXPECT_NEAR(ends[3], copied + 7, 1e-9);
  EXPECT_EQ(scenario.recording.operations[0].chunk.items * 4, 64 << 20);
  EXPECT_EQ(scenario.recording.operations[3].chunk.items * 4, 64 << 20);   // those that were copied in for it
  EXPECT_EQ(scenario.recording.operations[5].chunk.items * 4, 2'000'000);  // 2 ms at 1 GB/s

  const Scenario concurrent = only(replaced(kByHand, "operations", "created_streams = \"non_blocking\"\noperations"));
  EXPECT_EQ(concurrent.recording.streams.size(), 2u);
  EXPECT_EQ(concurrent.recording.streams[1].kind, StreamKind::non_blocking);
  EXPECT_LT(simulate(concurrent).timeline.makespan(), simulation.timeline.makespan());
}

/// Milliseconds, by operation; `more` is said of the didactic machine.
std::vector<std::pair<double, double>> times(const std::string& operations, const std::string& more = "") {
  const Scenario scenario = only("[[scenario]]\ntitle = \"a\"\ndevice = {profile = \"didactic\"" + more +
                                 "}\noperations = [" + operations + "]\n");
  std::vector<std::pair<double, double>> all;
  for (const streams::Span& span : simulate(scenario).timeline.spans) {
    all.emplace_back(std::round(1e9 * span.when.start) / 1e6, std::round(1e9 * span.when.end) / 1e6);
  }
  return all;
}
using Times = std::vector<std::pair<double, double>>;

TEST(ScenarioFile, AKernelWithoutBlocksFillsTheDeviceAndACopyTakesItsRate) {
  EXPECT_EQ(times("{stream = 0, kind = \"side_kernel\", ms = 2}, {stream = 1, kind = \"side_kernel\", ms = 2}"),
            (Times{{0, 2}, {2, 4}}));
  EXPECT_EQ(times("{stream = 0, kind = \"h2d\", bytes = 8_000_000}", ", copy_in_gb_per_s = 4"), (Times{{0, 2}}));
}

constexpr char kPriority[] =
    "{stream = 0, kind = \"side_kernel\", ms = 10, blocks = 60},"
    "{stream = 1, kind = \"side_kernel\", ms = 1, blocks = 6, priority = -1}";

/// Two of six multiprocessors are for the second kernel alone.
TEST(ScenarioFile, KernelsUseTheMultiprocessorsOfTheirPartition) {
  constexpr char kApart[] =
      "{stream = 0, kind = \"side_kernel\", ms = 10, blocks = 60, partition = 1},"
      "{stream = 1, kind = \"side_kernel\", ms = 1, blocks = 6, partition = 0}]\npartitions = [2, 4";
  EXPECT_EQ(times(kApart), (Times{{0, 15}, {0, 3}}));
  EXPECT_EQ(times(replaced(kApart, "partition = 0", "partition = 1")), (Times{{0, 15}, {15, 17}}));
}

/// The first six of sixty blocks run on, and the rest of them wait.
TEST(ScenarioFile, PendingBlocksOfAStreamOfHigherPriorityStartFirst) {
  EXPECT_EQ(times(kPriority), (Times{{0, 11}, {1, 2}}));
  EXPECT_EQ(times(replaced(kPriority, ", priority = -1", "")), (Times{{0, 10}, {10, 11}}));
  const std::string copies =
      "{stream = 0, kind = \"h2d\", ms = 3},"
      "{stream = 0, kind = \"h2d\", ms = 2},"
      "{stream = 1, kind = \"h2d\", ms = 1, priority = -5}";
  EXPECT_EQ(times(copies), times(replaced(copies, ", priority = -5", ""))) << "copies have no priority";
  // A kernel waits for the one before it in its stream, and then for the blocks that took their room.
  EXPECT_EQ(times("{stream = 0, kind = \"side_kernel\", ms = 3, blocks = 18},"
                  "{stream = 1, kind = \"side_kernel\", ms = 1, blocks = 6, priority = -1},"
                  "{stream = 1, kind = \"side_kernel\", ms = 1, blocks = 6},"
                  "{stream = 2, kind = \"side_kernel\", ms = 1, blocks = 6, priority = -2}"),
            (Times{{0, 6}, {2, 3}, {4, 5}, {1, 2}}));
}

TEST(ScenarioFile, TheHostIssuesNothingUntilWhatItWaitsForIsDone) {
  const std::string two =
      "{stream = 0, kind = \"h2d\", ms = 2},"
      "{stream = 0, kind = \"record\", event = \"copied\"},"
      "{stream = 0, kind = \"kernel\", ms = 2},"
      "{stream = 2, kind = \"d2h\", ms = 7},"
      "{kind = \"synchronize\"},"
      "{stream = 1, kind = \"h2d\", ms = 2}";
  const auto start = [&](const std::string& wait) {
    return times(replaced(two, "{kind = \"synchronize\"},", wait)).back().first;
  };
  EXPECT_EQ(start(""), 2);
  EXPECT_EQ(start("{kind = \"synchronize\"},"), 7);
  EXPECT_EQ(start("{kind = \"synchronize\", stream = 0},"), 4);
  EXPECT_EQ(start("{kind = \"synchronize\", event = \"copied\"},"), 2);
}

/// The didactic machine copies 1 GB/s in each direction, and its memory moves 10 GB/s.
TEST(ScenarioFile, AMemsetTakesTheRateOfDeviceMemoryAndNoCopyEngine) {
  EXPECT_EQ(times("{stream = 0, kind = \"memset\", bytes = 20_000_000}, {stream = 1, kind = \"h2d\", ms = 5},"
                  "{stream = 2, kind = \"d2h\", ms = 5}"),
            (Times{{0, 2}, {0, 5}, {0, 5}}));
  EXPECT_EQ(times("{stream = 0, kind = \"d2d\", bytes = 20_000_000}"), (Times{{0, 4}})) << "read and written";
  const Times both = times("{stream = 0, kind = \"memset\", ms = 1}, {stream = 1, kind = \"d2d\", ms = 2}");
  EXPECT_EQ(both[1].second, 3) << "together they have no more than the rate of device memory";
}

TEST(ScenarioFile, NamesTheLineTheWordAndWhatIsAllowed) {
  struct Case {
    const char *text, *from, *to, *line, *error;
  };
  const std::vector<Case> cases{
      {kJob, "title", "titles", "line 2", "key 'scenario[0].titles': there is no such key; did you mean title?"},
      {kJob, "title = \"Three", "#", "line 1", "key 'scenario[0]': lacks the key 'title'"},
      {kJob, "didactic", "didatic", "line 3", "did you mean didactic"},
      {kJob, "hardware_queues = 1", "hardware_queue = 1", "line 3", "key 'hardware_queue': there is no such key; did"},
      {kJob, "hardware_queues = 1", "resident_blocks = 1, resident_threads = 100", "line 3",
       "resident_threads: 100 are too few, since scenarios have blocks of 256 threads"},
      {kJob, "depth_first", "depth_frist", "line 4", "did you mean depth_first?"},
      {kJob, "schedule = \"depth_first\", ", "", "line 4", "key 'scenario[0].job': lacks the key 'schedule'"},
      {kJob, "blocks = 6", "block = 6", "line 4", "key 'scenario[0].job.block': there is no such key"},
      {kJob, "h2d_ms = 3", "h2d_ms = -3", "line 4", "expected a number from 0 to 1000000, got -3"},
      {kJob, "chunks = 3", "items = \"2^10:2^12\"", "line 4", "is a range: give one number"},
      {kJob, "kernel_ms = 3", "work = 5", "line 4",
       "didactic does not say how long a kernel of scale with work 5 in 6 blocks takes: give kernel_ms"},
      {kJob, "job = {", "job = [", "line 4", "Error while parsing"},
      {kJob, "job =", "created_streams = \"blocking\"\njob =", "line 4", "a job creates its streams"},
      {kJob, "h2d_ms = 3, kernel_ms = 3", "h2d_ms = 999999, kernel_ms = 999999", "line 1", "cannot be simulated: "},
      {kJob, "[[scenario]]", "[scenario]", "line 1", "each below a line [[scenario]]"},
      {kJob, "[[scenario]]", "[[scenario]]\nid = \"a/b\"", "line 2", "at most 100 letters"},
      {kByHand, "\"h2d\"", "\"h2h\"", "line 4", "key 'scenario[0].operations[0].kind': expected one of h2d, kernel, "},
      {kByHand, "legacy_default", "default", "line 8", "expected one of legacy_default, per_thread_default"},
      {kByHand, "64MiB", "64MeB", "line 4", "bytes '64MeB' is no number of bytes: write 4096"},
      {kByHand, "bytes = \"64MiB\", gb_per_s = 16, ", "", "line 4", "give ms, or bytes"},
      {kByHand, "bytes = \"64MiB\"", "ms = 3", "line 4", "expected bytes beside it"},
      {kByHand, "wait\", event = \"copied\"", "wait\", event = \"copy\"", "line 6",
       "expected an event that an operation above records (copied), got \"copy\""},
      {kByHand, "\"record\", event", "\"record\", ms", "line 5", "operations[1].ms': there is no such key"},
      {kByHand, "ms = 1", "ms = 1, priority = -1", "line 8", "default streams have no priority"},
      {kByHand, "{stream = 1, kind = \"d2h\", ms = 2}",
       "{stream = 1, kind = \"d2h\", ms = 2, priority = -1},\n{stream = 1, kind = \"d2h\", ms = 2, priority = 0}",
       "line 10", "expected -1, the priority of stream 1 above, got 0"},
      {kByHand, "{stream = 1, kind = \"d2h\", ms = 2}", "{stream = 1, kind = \"d2h\", ms = 2, partition = 0}", "line 9",
       "the scenario has no key partitions"},
      {kByHand, "\"wait\"", "\"synchronize\"", "line 6", "give a stream or an event, not both"},
      {kByHand, "title", "job = {schedule = \"graph\"}\ntitle", "line 1", "both of the keys job and operations"},
  };
  for (const auto& [text, from, to, line, error] : cases) {
    const std::string reason = refusal(replaced(text, from, to));
    EXPECT_TRUE(reason.starts_with(std::string("my.toml, ") + line)) << to << ": " << reason;
    EXPECT_TRUE(has(reason, error)) << to;
  }
  EXPECT_TRUE(has(refusal("[[scenario]]\ntitle = \"a\"\n"), "none of the keys job and operations"));
  EXPECT_TRUE(has(refusal(""), "one scenario or more"));
  EXPECT_TRUE(has(refusal("[[scenario]]\ntitle = \"a\"\noperations = [{stream = 0, kind = \"kernel\", ms = 0}]\n"),
                  "nothing in it takes any time"));
  EXPECT_TRUE(refusal("title = \"\xff\"").starts_with("my.toml, line 1: "));
  EXPECT_TRUE(has(refusal("[[scenario]]\ntitle = \"a\"\njob = {schedule = \"breadth_first\", workload = \"scan\"}\n" +
                          std::string("[[scenario]]\ntitle = \"a\"\njob = {schedule = \"serial\"}\n")),
                  "lacks the key 'id'"));
}

/// Two figures that only go together are taken together, and a fault that needs both names the device's line.
TEST(ScenarioFile, FiguresOfADeviceAreHeldToEachOther) {
  const auto rates = [](const char* figures) {
    return replaced(kJob, "hardware_queues = 1", std::string("hardware_queues = 1, ") + figures);
  };
  EXPECT_EQ(only(rates("both_in_gb_per_s = 2, copy_in_gb_per_s = 3")).device.both.in, 2e9);
  EXPECT_EQ(refusal(rates("both_in_gb_per_s = 4, copy_in_gb_per_s = 3"))
                .find("my.toml, line 3: key 'both_in_gb_per_s': is more"),
            0u);
}

/// Writes files into a folder of its own.
class ScenariosCommand : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  std::string out() const { return folder_ / "out"; }

 private:
  TestFolder folder_;
};

TEST_F(ScenariosCommand, WritesTheTimelineOfAFileOfTheUsers) {
  const cli::Result result = cli::run_program({"scenarios", write("mine.toml", kByHand), "--out", out()});
  ASSERT_EQ(result.status, kOk) << result.err;
  EXPECT_TRUE(has(result.out, "  mine                      11.19 ms     By hand"));
  const Json trace = Json::parse(std::ifstream(out() + "/mine.json"));
  EXPECT_EQ(trace["otherData"]["title"], "By hand");
  const auto labelled = std::ranges::count_if(trace["traceEvents"], [](const Json& event) {
    return event["ph"] == "X" && event["name"] == "f(A)" && event["args"]["label"] == "f(A)";
  });
  EXPECT_EQ(labelled, 3);  // in its stream, on its engine, and as the host issues it
}

TEST_F(ScenariosCommand, ReadsAllFilesOrWritesNone) {
  const std::string good = write("good.toml", kJob);
  const std::string bad = write("bad.toml", replaced(kJob, "chunks = 3", "chunks = three"));
  const cli::Result result = cli::run_program({"scenarios", good, bad, "--out", out()});
  EXPECT_EQ(result.status, kBadInput);
  EXPECT_TRUE(has(result.err, "bad.toml, line 4: "));
  EXPECT_FALSE(has(result.out, "Three tasks"));
  EXPECT_FALSE(std::filesystem::exists(out()));
  expect_error({"scenarios", good, "--out", ""}, "--out '' names no folder");
  expect_error({"scenarios", good, good, "--out", out()}, "there is a scenario 'good' already: ");
  for (const std::string& none : {out() + "/none.toml", write("empty.toml", ""), good + "/.."}) {
    expect_error({"scenarios", none}, none);
  }
}

}  // namespace
}  // namespace scanlab::simulator
