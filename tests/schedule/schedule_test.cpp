// Schedules, their recordings, and the statements about their order. No device: a schedule is a description.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>

#include "harness/schedule/hazards.hpp"
#include "harness/schedule/issuer.hpp"
#include "tests/growth.hpp"
#include "tests/program.hpp"
#include "tests/random_recording.hpp"

namespace scanlab::streams {
namespace {

const Workload* workload(const char* id) { return WorkloadRegistry::instance().find(id); }
const Schedule& schedule(const char* id) { return *ScheduleRegistry::instance().find(id); }

Job job_of(const char* id, int chunks = 4, int streams = 3) {
  return {.workload = workload(id), .items = 1000, .chunks = chunks, .streams = streams};
}

/// The operations that `issue` issues for four chunks of `scale`.
Recording recorded(void (*issue)(Issuer&, const Job&), HostMemory memory = HostMemory::pinned) {
  Job job = job_of("scale");
  job.memory = memory;
  return record(Schedule{.issue = issue}, job);
}

bool is_ordered(void (*issue)(Issuer&, const Job&), HostMemory memory = HostMemory::pinned) {
  return check(recorded(issue, memory)).ordered();
}

std::string all_of(const Recording& recording) {
  std::string text;
  for (const Hazard& hazard : check(recording).hazards) text += describe(recording, hazard) + "\n";
  return text;
}

TEST(Chunks, AreAPartitionOfAnyItems) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    const std::int64_t items = trial % 3 == 0 ? random() % 200 : static_cast<std::int64_t>(random()) << (random() % 9);
    const int chunks = 1 + static_cast<int>(random() % 150);
    const int buffers = static_cast<int>(random() % 4);
    const std::vector<Chunk> all = split(items, chunks, buffers);
    ASSERT_EQ(all.size(), static_cast<std::size_t>(chunks));
    std::int64_t next = 0;
    for (int i = 0; i < chunks; ++i) {
      ASSERT_EQ(all[i].index, i);
      ASSERT_EQ(all[i].first, next) << items << " in " << chunks;
      ASSERT_GE(all[i].items, items / chunks);
      ASSERT_LE(all[i].items, longest_chunk(items, chunks));
      ASSERT_EQ(all[i].buffer, buffers == 0 ? i : i % buffers);
      next += all[i].items;
    }
    ASSERT_EQ(next, items);
    ASSERT_EQ(all.front().items, longest_chunk(items, chunks));
  }
}

TEST(Chunks, MoreThanItemsLeaveEmptyTailsForWhichNothingIsIssued) {
  EXPECT_EQ(split(100, 64).back(), (Chunk{.index = 63, .first = 99, .items = 1, .buffer = 63}));
  Job job = job_of("vector_add", 64, 100);
  job.items = 10;
  const Recording recording = record(schedule("depth_first"), job);
  EXPECT_EQ(recording.operations.size(), 10u * 4);
  EXPECT_EQ(recording.buffers, 10);
  EXPECT_EQ(recording.buffer_items, 1);
}

TEST(Schedules, AllAreOrderedButTheControls) {
  std::mt19937 random(2);
  std::set<std::string> controls;
  for (const auto& [id, each] : ScheduleRegistry::instance().all()) {
    EXPECT_FALSE(each.about.title.empty() || each.about.source.empty() || each.about.expectation.empty()) << id;
    if (each.about.control) controls.insert(id);
    for (const auto& [name, work] : WorkloadRegistry::instance().all()) {
      for (int trial = 0; trial < 25; ++trial) {
        Job job{.workload = &work,
                .items = 1 + static_cast<std::int64_t>(random() % (trial % 2 == 0 ? 30 : 100'000)),
                .chunks = 1 + static_cast<int>(random() % 40),
                .streams = 1 + static_cast<int>(random() % 10),
                .memory = random() % 2 == 0 ? HostMemory::pinned : HostMemory::pageable,
                .buffers = 2 + static_cast<int>(random() % 4)};
        const Recording recording = record(each, job);
        EXPECT_EQ(check(recording).ordered(), !each.about.control)
            << id << " " << name << " " << job.items << " items, " << job.chunks << " chunks, " << job.streams
            << " streams\n"
            << all_of(recording);
        std::int64_t in = 0;
        std::int64_t computed = 0;
        std::int64_t out = 0;
        for (const Operation& operation : recording.operations) {
          if (operation.kind == OperationKind::copy_in) in += operation.chunk.items;
          if (operation.kind == OperationKind::kernel) computed += operation.chunk.items;
          if (operation.kind == OperationKind::copy_out) out += operation.chunk.items;
        }
        EXPECT_EQ(in, work.about.inputs * job.items) << id;
        EXPECT_EQ(computed, job.items) << id;
        EXPECT_EQ(out, job.items) << id;
      }
    }
  }
  EXPECT_EQ(controls, (std::set<std::string>{"null_stream_race", "three_streams_unordered"}));
}

/// Issues copy in, kernel and copy out of every chunk but the one that lacks it, 0 for none.
template <int kNoCopyIn, int kNoKernel, int kNoCopyOut>
void issue_all_but(Issuer& issuer, const Job&) {
  for (const Chunk& chunk : issuer.chunks()) {
    if (kNoCopyIn == 0 || chunk.index != kNoCopyIn) issuer.copy_in(chunk, kLegacyDefault);
    if (kNoKernel == 0 || chunk.index != kNoKernel) issuer.compute(chunk, kLegacyDefault);
    if (kNoCopyOut == 0 || chunk.index != kNoCopyOut) issuer.copy_out(chunk, kLegacyDefault);
  }
}

TEST(Schedules, WhatOfTheJobIsLeftUndoneIsNamed) {
  for (const auto& [id, each] : ScheduleRegistry::instance().all()) {
    for (const char* work : {"scale", "vector_add", "scan"}) {
      for (const std::int64_t items : {0, 1, 1003}) {
        Job job = job_of(work, 7);
        job.items = items;
        EXPECT_EQ(left_undone(record(each, job)), std::vector<std::string>{}) << id << ", " << work;
      }
    }
  }
  const auto expect = [](void (*issue)(Issuer&, const Job&), const char* work, const std::string& fault) {
    const Schedule incomplete{.issue = issue};
    const CheckedSchedule checked({&incomplete, job_of(work)});
    EXPECT_TRUE(checked.result.ordered()) << fault;
    EXPECT_FALSE(as_expected(checked)) << fault;
    std::ostringstream out;
    print(checked, false, out);
    EXPECT_TRUE(has(out.str(), "NOT THE WHOLE JOB: "));
    EXPECT_TRUE(has(out.str(), fault));
  };
  expect(issue_all_but<1, 0, 0>, "scale", "no copy in before it brings what the kernel of chunk 1 ");
  expect(issue_all_but<1, 0, 0>, "vector_add", "reads of input 1");
  expect(issue_all_but<0, 1, 0>, "scale", "no kernel before it writes what the copy out of chunk 1 ");
  expect(issue_all_but<0, 0, 1>, "scale", "no copy out takes items 250 to 499 of the output");
  expect(
      [](Issuer& issuer, const Job&) {  // the buffer holds the next chunk by then
        const std::vector<Chunk> chunks = issuer.chunks_in_turn(1);
        issuer.copy_in(chunks[0], kLegacyDefault);
        for (const Chunk& chunk : chunks) {
          if (chunk.index + 1 < 4) issuer.copy_in(chunks[static_cast<std::size_t>(chunk.index) + 1], kLegacyDefault);
          issuer.compute(chunk, kLegacyDefault);
          issuer.copy_out(chunk, kLegacyDefault);
        }
      },
      "scale", "no copy in before it brings what the kernel of chunk 0 ");
}

TEST(Schedules, ACaptureBeginsAndEndsInStream0) {
  for (const auto& [id, each] : ScheduleRegistry::instance().all()) {
    if (!each.about.captured) continue;
    // With a kernel at each end of stream 0: these two must be ordered with all.
    Recording recording = record(each, job_of("scale", 7, 5));
    for (const Operation& operation : recording.operations) {
      EXPECT_TRUE(operation.stream.created() && !operation.synchronous) << id << ": " << describe(operation);
    }
    const Operation end{.kind = OperationKind::side_kernel, .stream = recording.streams.front()};
    const std::size_t last = recording.operations.size() + 1;
    recording.operations.insert(recording.operations.begin(), end);
    recording.operations.push_back(end);
    const std::vector<Hazard> hazards = check(conflicting(recording)).hazards;
    EXPECT_FALSE(hazards.empty());  // of the copies with each other: that is the overlap
    for (const Hazard& hazard : hazards) {
      EXPECT_TRUE(hazard.first != 0 && hazard.second != last) << id << ": " << describe(recording, hazard);
    }
  }
}

/// Two chunks in two streams, as the drawing in each schedule's file has them: "in 0 | kernel 0 | …", with the stream.
TEST(Schedules, IssueInTheOrderOfTheirDrawings) {
  const auto drawn = [](const char* id) {
    Job job = job_of("scale", 2, 2);
    job.memory = schedule(id).about.memory;
    using K = OperationKind;
    const std::map<K, const char*> names{
        {K::copy_in, "in"}, {K::kernel, "k"}, {K::copy_out, "out"}, {K::side_kernel, "side"}, {K::host_work, "host"}};
    std::string text;
    for (const Operation& each : record(schedule(id), job).operations) {
      if (!names.contains(each.kind)) continue;
      text += names.at(each.kind);
      if (is_work(each) && each.kind != K::side_kernel) text += std::to_string(each.chunk.index);
      if (each.synchronous) text += "!";
      if (is_work(each)) text += ":" + (each.stream.created() ? std::to_string(each.stream.index) : "default");
      text += " ";
    }
    return text;
  };
  EXPECT_EQ(drawn("serial"), "in0!:default k0:default out0!:default in1!:default k1:default out1!:default ");
  EXPECT_EQ(drawn("serial_pinned"), drawn("serial"));
  EXPECT_EQ(drawn("depth_first"), "in0:0 k0:0 out0:0 in1:1 k1:1 out1:1 ");
  EXPECT_EQ(drawn("graph"), drawn("depth_first"));
  EXPECT_EQ(drawn("breadth_first"), "in0:0 in1:1 k0:0 k1:1 out0:0 out1:1 ");
  EXPECT_EQ(drawn("skewed"), "in0:0 k0:0 in1:1 k1:1 out0:0 out1:1 ");
  EXPECT_EQ(drawn("three_streams"), "in0:0 k0:1 out0:2 in1:0 k1:1 out1:2 ");
  EXPECT_EQ(drawn("double_buffered"), drawn("three_streams"));
  EXPECT_EQ(drawn("three_streams_unordered"), drawn("three_streams"));
  EXPECT_EQ(drawn("event_handoff"), "in0:0 k0:1 host in1:0 out0:1 k1:1 host out1:1 ");
  EXPECT_EQ(drawn("null_stream_trap"), "in0:0 k0:0 out0:0 side:default in1:1 k1:1 out1:1 side:default ");
  EXPECT_EQ(drawn("null_stream_nonblocking"), drawn("null_stream_trap"));
  EXPECT_EQ(drawn("per_thread_default"), drawn("null_stream_trap"));
  EXPECT_EQ(drawn("null_stream_race"), "in0:0 k0:default out0:0 in1:1 k1:default out1:1 ");
  for (const auto& [id, each] : ScheduleRegistry::instance().all()) {
    EXPECT_EQ(each.about.captured, id == "graph");
    EXPECT_EQ(each.about.memory == HostMemory::pageable, id == "serial");
  }
}

// The faults that are planted: each must be seen.

TEST(HappensBefore, EveryWaitThatIsRemovedIsMissed) {
  for (const auto& [id, work] : {std::pair{"three_streams", "scale"},
                                 {"three_streams", "vector_add"},
                                 {"double_buffered", "scale"},
                                 {"event_handoff", "square"},
                                 {"depth_first", "scan"},
                                 {"breadth_first", "scan"}}) {
    const Recording whole = record(schedule(id), job_of(work, 7, 3));
    int waits = 0;
    for (std::size_t i = 0; i < whole.operations.size(); ++i) {
      if (whole.operations[i].kind != OperationKind::wait_event) continue;
      ++waits;
      Recording mutant = whole;
      mutant.operations.erase(mutant.operations.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_FALSE(check(mutant).hazards.empty()) << id << ", without " << describe(whole.operations[i]);
    }
    EXPECT_GE(waits, 6) << id;
  }
}

TEST(HappensBefore, ABufferThatIsUsedAgainUnguardedIsNamed) {
  const Recording recording = recorded([](Issuer& issuer, const Job& job) {
    const std::vector<Stream> streams = issuer.create_streams(job.streams);
    for (const Chunk& chunk : issuer.chunks_in_turn(2)) {
      issuer.copy_in(chunk, streams[chunk.index % 3]);
      issuer.compute(chunk, streams[chunk.index % 3]);
      issuer.copy_out(chunk, streams[chunk.index % 3]);
    }
  });
  EXPECT_TRUE(has(all_of(recording),
                  "the kernel of chunk 0 in stream 0, which reads buffer 0 of device input 0, and the "
                  "copy in of chunk 2, input 0, in stream 2, which writes it"));
}

TEST(HappensBefore, AWaitBeforeItsRecordIsNoWait) {
  const Recording recording = recorded([](Issuer& issuer, const Job&) {
    const Chunk chunk = issuer.chunks().front();
    const std::vector<Stream> streams = issuer.create_streams(2);
    const Event event = issuer.create_event();
    issuer.wait(streams[1], event);
    issuer.copy_in(chunk, streams[0]);
    issuer.record(event, streams[0]);
    issuer.compute(chunk, streams[1]);
  });
  const CheckResult result = check(recording);
  EXPECT_EQ(result.waits_for_nothing, std::vector<std::size_t>{0});
  ASSERT_EQ(result.hazards.size(), 1u);
  EXPECT_EQ(result.hazards[0].first, 1u);
  EXPECT_EQ(result.hazards[0].second, 3u);
}

TEST(HappensBefore, NeighbouringChunksShareNothing) {
  EXPECT_TRUE(is_ordered([](Issuer& issuer, const Job&) {
    const std::vector<Chunk> chunks = issuer.chunks();
    for (const int i : {2, 1, 3, 0}) issuer.copy_out(chunks[i], issuer.create_stream());
  }));
  EXPECT_FALSE(is_ordered([](Issuer& issuer, const Job&) {
    Chunk chunk = issuer.chunks()[1];
    issuer.copy_out(chunk, issuer.create_stream());
    chunk.first += chunk.items - 1;  // one item of the output is written twice
    issuer.copy_out(chunk, issuer.create_stream());
  }));
}

TEST(HappensBefore, TwoThatReadTheSameNeedNoOrder) {
  EXPECT_TRUE(is_ordered([](Issuer& issuer, const Job&) {
    Chunk chunk = issuer.chunks().front();
    for (const Stream stream : issuer.create_streams(2)) {  // the same items, to a buffer each
      issuer.copy_in(chunk, stream);
      ++chunk.buffer;
    }
  }));
}

TEST(HappensBefore, ASynchronousCopyFromPageableMemoryMayReturnBeforeTheDeviceHasIt) {
  constexpr auto issue = [](Issuer& issuer, const Job&) {
    const Chunk chunk = issuer.chunks().front();
    const Stream stream = issuer.create_stream(StreamKind::non_blocking);
    issuer.copy_in_now(chunk);
    issuer.compute(chunk, stream);
    issuer.synchronize(stream);
    issuer.copy_out_now(chunk);
  };
  EXPECT_TRUE(is_ordered(issue, HostMemory::pinned));
  EXPECT_FALSE(is_ordered(issue, HostMemory::pageable));
}

TEST(HappensBefore, ASynchronousCopyToTheHostReturnsWhenItIsThere) {
  constexpr auto issue = [](Issuer& issuer, const Job&) {
    const Chunk chunk = issuer.chunks().front();
    issuer.copy_out_now(chunk);
    issuer.compute(chunk, issuer.create_stream(StreamKind::non_blocking));  // writes what was copied
  };
  EXPECT_TRUE(is_ordered(issue, HostMemory::pinned));
  EXPECT_TRUE(is_ordered(issue, HostMemory::pageable));
}

/// Every pair of copies and kernels that nothing orders, by the rules as they are written, pair by pair: slow and
/// plain.
std::set<std::pair<std::size_t, std::size_t>> unordered_pairs(const std::vector<Operation>& operations) {
  const std::size_t n = operations.size();
  std::vector<std::vector<bool>> before(n, std::vector<bool>(n, false));
  const auto on_host = [](const Operation& operation) {
    return operation.kind == OperationKind::host_work || operation.kind == OperationKind::synchronize_stream ||
           operation.kind == OperationKind::synchronize_event || operation.kind == OperationKind::synchronize_device;
  };
  const auto blocking = [](const Operation& operation) {
    return operation.stream.kind == StreamKind::blocking || operation.stream.kind == StreamKind::per_thread_default;
  };
  for (std::size_t j = 0; j < n; ++j) {
    const Operation& later = operations[j];
    bool latest_record = true;
    for (std::size_t i = j; i-- > 0;) {
      const Operation& earlier = operations[i];
      const bool waits = later.kind == OperationKind::wait_event || later.kind == OperationKind::synchronize_event;
      bool edge = on_host(earlier);
      if (waits && earlier.kind == OperationKind::record_event && earlier.event == later.event) {
        edge = edge || latest_record;
        latest_record = false;
      }
      if (!on_host(earlier)) {
        if (later.kind == OperationKind::synchronize_device) edge = true;
        const bool has_stream = !on_host(later) || later.kind == OperationKind::synchronize_stream;
        if (has_stream && earlier.stream == later.stream) edge = true;
        const auto legacy = StreamKind::legacy_default;
        if (!on_host(later) && ((earlier.stream.kind == legacy && blocking(later)) ||
                                (later.stream.kind == legacy && blocking(earlier)))) {
          edge = true;
        }
      }
      if (!edge) continue;
      before[i][j] = true;
      for (std::size_t k = 0; k < i; ++k) before[k][j] = before[k][j] || before[k][i];
    }
  }
  std::set<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      if (is_work(operations[i]) && is_work(operations[j]) && !before[i][j]) pairs.emplace(i, j);
    }
  }
  return pairs;
}

TEST(HappensBefore, AgreesWithTheRulesTakenPairByPair) {
  std::mt19937 random(3);
  std::size_t total = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const Recording recording = random_recording(random, job_of("scale"), 40, false);
    std::set<std::pair<std::size_t, std::size_t>> pairs;
    for (const Hazard& hazard : check(conflicting(recording)).hazards) pairs.emplace(hazard.first, hazard.second);
    ASSERT_EQ(pairs, unordered_pairs(recording.operations)) << "trial " << trial;
    total += pairs.size();
  }
  EXPECT_GT(total, 1000u);
}

TEST(HappensBefore, TenThousandOperationsTakeNoLongerThanTenSortsOfAMillionNumbers) {
  const double yardstick = yardstick_seconds();
  for (const int streams : {4, 64}) {
    for (const char* id : {"depth_first", "double_buffered", "three_streams_unordered"}) {
      Job job = job_of("scan", 3334, streams);
      job.items = 1'000'000;
      const Recording recording = record(schedule(id), job);
      ASSERT_GE(recording.operations.size(), 10'000u);
      EXPECT_LT(processor_seconds([&] { check(recording); }), 10 * yardstick) << id;
    }
  }
}

// An ordered workload.

TEST(Issuer, RefusesKernelsOfAnOrderedWorkloadOutOfOrder) {
  const Schedule backwards{.issue = [](Issuer& issuer, const Job&) {
    const std::vector<Chunk> chunks = issuer.chunks();
    issuer.compute(chunks[1], kLegacyDefault);
    issuer.compute(chunks[0], kLegacyDefault);
  }};
  EXPECT_NO_THROW(record(backwards, job_of("scale")));
  EXPECT_THROW(record(backwards, job_of("scan")), std::logic_error);
  for (const std::vector<std::size_t>& order : {std::vector<std::size_t>{1}, {0, 2}, {0, 0}, {0, 1, 0}}) {
    Recording recording{.job = job_of("scan")};
    Issuer issuer(recording);
    const std::vector<Chunk> chunks = issuer.chunks();
    const auto issue = [&] {
      for (const std::size_t index : order) issuer.compute(chunks[index], kLegacyDefault);
    };
    EXPECT_THROW(issue(), std::logic_error) << "left out, or twice: " << order.back();
  }
}

// The command line.

cli::Result scanlab_streams(const std::vector<std::string>& words) {
  return cli::run_program(cli::with({"streams"}, words));
}

TEST(StreamsCommand, CheckSaysByItsStatusWhetherAllIsOrdered) {
  EXPECT_EQ(scanlab_streams({"check", "depth_first", "--items", "100003", "--chunks", "1,7"}).status, scanlab::kOk);
  const cli::Result all = scanlab_streams({"check", "all", "--items", "2^10,100003"});
  EXPECT_EQ(all.status, scanlab::kOk);
  EXPECT_TRUE(all.out.ends_with(" passed, 0 failed\n")) << all.out;
  EXPECT_EQ(scanlab_streams({"check", "all", "--items", "0"}).status, scanlab::kOk);
  for (const char* control : {"three_streams_unordered", "null_stream_race"}) {
    const cli::Result result = scanlab_streams({"check", control});
    EXPECT_EQ(result.status, scanlab::kFailed);
    EXPECT_TRUE(has(result.out, "a control, kept to be caught: it is)"));
  }
}

TEST(StreamsCommand, CheckWritesJson) {
  const cli::Result result = scanlab_streams({"check", "all", "--items", "1", "--json", "--workload", "scale"});
  EXPECT_EQ(result.status, scanlab::kOk);
  const auto json = nlohmann::json::parse(result.out);
  std::size_t hazards = 0;
  for (const auto& each : json["checked"]) {
    EXPECT_EQ(each["ordered"].get<bool>(), !each["control"].get<bool>()) << each.dump();
    hazards += each["hazards"].size();
    EXPECT_TRUE(each["undone"].empty()) << each.dump();
  }
  EXPECT_EQ(hazards, 4u);  // of each control, copy in and kernel, kernel and copy out
}

TEST(StreamsCommand, BadInputIsASentence) {
  EXPECT_TRUE(has(cli::run_program({"streams"}).err, "usage: scanlab streams"));
  expect_error({"streams", "chek"}, "did you mean check");
  expect_error({"streams", "check"}, "takes a schedule");
  expect_error({"streams", "check", "all", "--workload", "sqare"}, "square");
  expect_error({"streams", "check", "all", "--chunks", "0"}, "0 chunks are not enough");
  expect_error({"streams", "check", "all", "--chunks", "-1"}, "--chunks: '-1'");
  expect_error({"streams", "check", "all", "--memory", "pined"}, "pinned");
  expect_error({"streams", "check", "double_buffered", "--workload", "scale", "--budget", "1000"},
               "less than two chunks");
  expect_error({"streams", "check", "double_buffered", "--budget", "2^20", "--buffers", "3"}, "leave out --buffers");
}

TEST(StreamsCommand, ABudgetLeavesOutWhatTakesMore) {
  const std::vector<std::string> job{"--workload", "scale", "--items", "2^22", "--chunks", "8", "--budget", "9MiB"};
  const auto check = [&](const char* which) { return scanlab_streams(cli::with({"check", which}, job)); };
  const cli::Result alone = check("depth_first");
  EXPECT_EQ(alone.status, scanlab::kBadInput);
  EXPECT_TRUE(has(alone.err,
                  "depth_first, scale: 4194304 items in 8 chunks, 4 streams, pinned memory, work 1 takes "
                  "33554432 bytes of device memory, and --budget is 9437184: take"));
  EXPECT_EQ(check("double_buffered").status, scanlab::kOk);
  const cli::Result all = check("all");
  EXPECT_EQ(all.status, scanlab::kOk) << all.err;
  EXPECT_TRUE(has(all.err, "scanlab: --budget leaves out "));
  EXPECT_FALSE(has(all.out, "depth_first, scale"));
  EXPECT_TRUE(has(all.out, "double_buffered, scale"));
}

}  // namespace
}  // namespace scanlab::streams
