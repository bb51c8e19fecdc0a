// Exports of Nsight Systems, made here with the documented tables from simulated timelines: what is read from one is
// what it was made from, and faults are reported.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/cli/command.hpp"
#include "harness/simulator/device_profile.hpp"
#include "harness/simulator/simulation.hpp"
#include "harness/timeline/diagnosis.hpp"
#include "harness/timeline/nsight_export.hpp"
#include "harness/timeline/trace_events.hpp"
#include "tests/program.hpp"

namespace scanlab::streams {
namespace {

constexpr std::int64_t kBegin = 5'000'000'000;  // nanoseconds: Nsight shows it as 5000 ms
constexpr std::int64_t kProcess = (std::int64_t{1} << 48) | (std::int64_t{4242} << 24);
constexpr int kNullStream = 99;

void execute(const std::filesystem::path& file, const std::string& sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  char* error = nullptr;
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &error), SQLITE_OK) << error << " in " << sql;
  sqlite3_close(database);
}

double whole(double seconds) { return 1e-9 * std::round(1e9 * seconds); }

/// A simulated timeline of a schedule, as far as an export can know it, in whole nanoseconds.
struct Played {
  Recording recording;
  Timeline timeline;

  Played(const std::string& schedule, int chunks, int streams) {
    const Schedule& registered = *ScheduleRegistry::instance().find(schedule);
    Job job{
        .workload = WorkloadRegistry::instance().find("scale"), .items = 1 << 22, .chunks = chunks, .streams = streams};
    job.memory = registered.about.memory;
    recording = record(registered, job);
    const simulator::DeviceProfile profile = simulator::device_profile("h200");
    timeline = simulator::simulate(recording, profile, simulator::costs(recording, profile, {})).timeline;
    timeline.latency = Timeline{}.latency;
    for (Span& span : timeline.spans) {
      span.channel.reset();
      span.held.reset();
      span.when = {whole(span.when.start), whole(span.when.end)};
    }
    for (Interval& call : timeline.issued) call = {whole(call.start), whole(call.end)};
  }
};

/// Writes an export whose streams have the recording's numbers.
std::filesystem::path exported(const Played& played, const std::string& name) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / (name + ".sqlite");
  std::filesystem::remove(file);
  std::ostringstream sql;
  sql << "BEGIN; CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
         "CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);"
         "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.28.1');"
         "CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER NOT NULL, name TEXT);"
         "INSERT INTO TARGET_INFO_GPU VALUES (1, 0, 'Test GPU');"
         "CREATE TABLE TARGET_INFO_CUDA_CONTEXT_INFO (nullStreamId INTEGER, processId INTEGER, contextId INTEGER);"
         "CREATE TABLE TARGET_INFO_CUDA_STREAM (streamId INTEGER, processId INTEGER, contextId INTEGER, flag INTEGER);"
         "CREATE TABLE ENUM_CUPTI_SYNC_TYPE (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);"
         "INSERT INTO ENUM_CUPTI_SYNC_TYPE VALUES"  // other numbers than CUPTI's, as another schema may have
         " (11, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE', ''),"
         " (12, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT', ''),"
         " (13, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE', ''),"
         " (14, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE', '');"
         "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,"
         " streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER,"
         " srcKind INTEGER, dstKind INTEGER);"
         "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,"
         " streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, gridX INTEGER,"
         " gridY INTEGER, gridZ INTEGER);"
         "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,"
         " correlationId INTEGER, nameId INTEGER);"
         "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, deviceId INTEGER,"
         " contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, syncType INTEGER,"
         " eventId INTEGER);"
         "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId INTEGER, contextId INTEGER, streamId INTEGER,"
         " correlationId INTEGER, globalPid INTEGER, eventId INTEGER);"
         "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER);";
  sql << "INSERT INTO TARGET_INFO_CUDA_CONTEXT_INFO VALUES (" << kNullStream << ", 4242, 1);";
  for (const Stream& stream : played.recording.streams) {
    sql << "INSERT INTO TARGET_INFO_CUDA_STREAM VALUES (" << stream.index << ", 4242, 1, "
        << (stream.kind == StreamKind::non_blocking ? 2 : 1) << ");";
  }
  const auto ns = [](double seconds) { return kBegin + std::llround(1e9 * seconds); };
  std::map<std::string, int> names;
  const auto call = [&](std::size_t i, const std::string& function) {
    const auto [at, is_new] = names.try_emplace(function, static_cast<int>(names.size()) + 1);
    if (is_new) sql << "INSERT INTO StringIds VALUES (" << at->second << ", '" << function << "');";
    const Interval& when = played.timeline.issued[i];
    sql << "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (" << ns(when.start) << ", " << ns(when.end) << ", 0, "
        << kProcess + 7 << ", " << i + 1 << ", " << at->second << ");";
  };
  auto span = played.timeline.spans.begin();
  for (std::size_t i = 0; i < played.recording.operations.size(); ++i) {
    const Operation& each = played.recording.operations[i];
    const int stream = each.stream.kind == StreamKind::legacy_default ? kNullStream : each.stream.index;
    std::ostringstream common;  // what rows of activity have in common
    common << stream << ", " << i + 1 << ", " << kProcess;
    const auto waits = [&](int kind, const char* function) {
      call(i, function);
      sql << "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (0, 0, 0, 1, " << common.str() << ", " << kind
          << ", " << 500 + each.event.index << ");";
    };
    if (is_work(each)) {
      std::ostringstream when;
      when << ns(span->when.start) << ", " << ns(span->when.end) << ", 0, 1, ";
      ++span;
      if (is_copy(each)) {
        const bool in = each.kind == OperationKind::copy_in;
        const int host = played.recording.job.memory == HostMemory::pageable ? 0 : 1;
        call(i, each.synchronous ? "cudaMemcpy_v3020" : "cudaMemcpyAsync_v3020");
        sql << "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (" << when.str() << common.str() << ", "
            << 4 * each.chunk.items << ", " << (in ? 1 : 2) << ", " << (in ? host : 2) << ", " << (in ? 2 : host)
            << ");";
      } else {
        call(i, "cudaLaunchKernel_v7000");
        sql << "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" << when.str() << common.str() << ", NULL, 264, 1, 1);";
      }
    } else if (each.kind == OperationKind::record_event) {
      call(i, "cudaEventRecord_v3020");
      sql << "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0, 1, " << common.str() << ", "
          << 500 + each.event.index << ");";
    } else if (each.kind == OperationKind::wait_event) {
      waits(12, "cudaStreamWaitEvent_v3020");
    } else if (each.kind == OperationKind::synchronize_stream) {
      waits(13, "cudaStreamSynchronize_v3020");
    } else if (each.kind == OperationKind::synchronize_event) {
      waits(11, "cudaEventSynchronize_v3020");
    } else if (each.kind == OperationKind::synchronize_device) {
      waits(14, "cudaDeviceSynchronize_v3020");
    }
  }
  sql << "COMMIT;";
  execute(file, sql.str());
  return file;
}

class NsightExports : public testing::TestWithParam<const char*> {};

TEST_P(NsightExports, AreDiagnosedAsTheTimelineThatTheyAreMadeFrom) {
  const Played played(GetParam(), 8, 4);
  const NsightExport imported = read_nsight_export(exported(played, GetParam()), {});
  EXPECT_EQ(imported.device, "Test GPU");
  ASSERT_EQ(imported.recording.operations.size(), played.recording.operations.size());
  for (std::size_t i = 0; i < played.recording.operations.size(); ++i) {
    EXPECT_EQ(describe(imported.recording.operations[i]), describe(played.recording.operations[i]));
  }
  const Timeline timeline = imported.timeline();
  ASSERT_EQ(timeline.issued.size(), played.timeline.issued.size());
  const auto expected = diagnose(played.timeline, analyse(played.timeline));
  const auto actual = diagnose(timeline, analyse(timeline));
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_STREQ(name(actual[i].cause), name(expected[i].cause));
    EXPECT_NEAR(actual[i].seconds, expected[i].seconds, 1e-7);
    if (actual[i].cause == Cause::too_few_buffers) continue;  // whose evidence is a number that no export has
    EXPECT_EQ(actual[i].evidence, expected[i].evidence);
  }
}

INSTANTIATE_TEST_SUITE_P(OfSchedules, NsightExports,
                         testing::Values("depth_first", "null_stream_trap", "null_stream_nonblocking", "three_streams",
                                         "double_buffered", "serial", "serial_pinned"));

TEST(NsightExport, IsExplainedAndBecomesATraceOnTheCommandLine) {
  const Played played("null_stream_trap", 8, 4);
  const std::string file = exported(played, "command_line").string();
  const cli::Result reason = cli::run_program({"streams", "diagnose", "--nsys", file});
  EXPECT_EQ(reason.status, 0) << reason.err;
  EXPECT_TRUE(has(reason.out, "Test GPU: 32 operations"));
  EXPECT_TRUE(has(reason.out, "\n  the legacy default stream ("));
  EXPECT_TRUE(has(reason.out, "of the export: chunks are not in it: 8 are taken to be there"));
  const std::string out = file + ".json";
  const cli::Result import = cli::run_program({"streams", "import", file, "--out", out, "--force"});
  EXPECT_EQ(import.status, 0) << import.err;
  const auto trace = nlohmann::ordered_json::parse(std::ifstream(out));
  EXPECT_EQ(trace["otherData"]["imported_from"], "command_line.sqlite");
  EXPECT_EQ(trace["otherData"]["device"], "Test GPU");
  const std::vector<Span> spans = read_spans(Document{.file = "trace.json", .json = trace, .lines = {}});
  ASSERT_EQ(spans.size(), played.timeline.spans.size());
  for (std::size_t i = 0; i < spans.size(); ++i) {
    EXPECT_NEAR(spans[i].when.start, played.timeline.spans[i].when.start, 2e-9);
  }
}

std::string diagnosed(const std::filesystem::path& file, const std::vector<std::string>& more = {}) {
  const cli::Result result = cli::run_program(cli::with({"streams", "diagnose", "--nsys", file}, more));
  EXPECT_EQ(result.status, 0) << result.err;
  return result.out;
}

TEST(NsightExport, TheNullStreamIsReadWhereverAnExportNamesIt) {
  const std::filesystem::path file = exported(Played("null_stream_trap", 8, 4), "null_stream");
  const std::string now = diagnosed(file);
  EXPECT_TRUE(has(now, "8 operations in the legacy default stream"));
  execute(file,
          "CREATE TABLE TARGET_INFO_CUDA_NULL_STREAM (streamId INTEGER, hwId INTEGER, vmId INTEGER, processId INTEGER,"
          " deviceId INTEGER, contextId INTEGER);"
          "INSERT INTO TARGET_INFO_CUDA_NULL_STREAM SELECT nullStreamId, 0, 1, processId, 0, contextId"
          " FROM TARGET_INFO_CUDA_CONTEXT_INFO;"
          "DROP TABLE TARGET_INFO_CUDA_CONTEXT_INFO");
  EXPECT_EQ(diagnosed(file), now);
}

TEST(NsightExport, CopiesOfManagedMemoryAreCalledThat) {
  const std::filesystem::path file = exported(Played("serial_pinned", 8, 1), "managed");
  execute(file,
          "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET srcKind = 4 WHERE copyKind = 1;"
          "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET dstKind = 4 WHERE copyKind = 2;"
          "UPDATE StringIds SET value = 'cudaMemcpyAsync_v3020' WHERE value = 'cudaMemcpy_v3020'");
  const std::string all = diagnosed(file);
  EXPECT_TRUE(has(all, ", managed memory\n"));
  EXPECT_TRUE(has(all, "copies that hold the host, of managed memory ("));
  EXPECT_TRUE(has(all, "calls of cudaMemcpyAsync on managed memory"));
}

TEST(NsightExport, CallsInWhichTheHostWasAreTheHostsWork) {
  const Played played("depth_first", 8, 4);
  const std::filesystem::path file = exported(played, "calls");
  execute(file,
          "CREATE TABLE OSRT_API (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER);"
          "CREATE TABLE PROFILER_OVERHEAD (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER)");
  int id = 100;
  // From and to are milliseconds from the last issue.
  const auto call = [&](const std::string& table, const std::string& name, double from, double to, int thread) {
    ++id;
    const auto ns = [&](double ms) {
      return kBegin + std::llround(1e9 * played.timeline.issued.back().start + 1e6 * ms);
    };
    std::ostringstream sql;
    sql << "INSERT INTO StringIds VALUES (" << id << ", '" << name << "'); INSERT INTO " << table
        << " (start, end, globalTid, nameId) VALUES (" << ns(from) << ", " << ns(to) << ", " << kProcess + thread
        << ", " << id << ");";
    if (table == "CUPTI_ACTIVITY_KIND_RUNTIME") {
      sql << "UPDATE " << table << " SET correlationId = nameId WHERE nameId = " << id;
    }
    execute(file, sql.str());
  };
  const std::string kRuntime = "CUPTI_ACTIVITY_KIND_RUNTIME";
  call(kRuntime, "cudaMalloc_v3020", -9000, -8000, 7);  // before the first operation
  call(kRuntime, "cudaFree_v3020", -1e-6, 1, 7);
  call("OSRT_API", "poll", 0.1, 0.9, 7);  // within cudaFree
  call(kRuntime, "cudaHostAlloc_v3020", 0, 1, 8);
  call(kRuntime, "cudaGetDevice_v3020", 1, 1.001, 7);
  call("OSRT_API", "pread64", 2, 3, 7);
  call("PROFILER_OVERHEAD", "Buffer flush", 4, 5, 7);
  call(kRuntime, "cuLibraryLoadData", 6, 7, 7);
  const NsightExport read = read_nsight_export(file, {});
  std::vector<std::string> labels;
  for (const Operation& each : read.recording.operations) {
    if (each.kind == OperationKind::host_work) labels.push_back(describe(each));
  }
  EXPECT_EQ(labels, (std::vector<std::string>{"cudaFree", "pread64", "Buffer flush", "cuLibraryLoadData"}));
  ASSERT_EQ(read.times.loads.size(), 1);
  EXPECT_NEAR(read.times.loads.front().seconds(), 1e-3, 1e-6);
}

TEST(NsightExport, OtherProcessesAndContextsHaveTheDevice) {
  const Played played("depth_first", 8, 4);
  for (const char* other :
       {"1, streamId, correlationId, globalPid + (1 << 24)", "2, streamId, correlationId, globalPid"}) {
    const std::filesystem::path file = exported(played, "others");
    execute(file, std::string("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT start, end, deviceId, ") + other +
                      ", demangledName, gridX, gridY, gridZ FROM CUPTI_ACTIVITY_KIND_KERNEL");
    const NsightExport imported = read_nsight_export(file, {});
    EXPECT_EQ(imported.times.spans.size(), played.timeline.spans.size()) << other;
    double others = 0;
    for (const Interval& each : imported.times.others) others += each.seconds();
    EXPECT_NEAR(others, analyse(played.timeline).busy[1], 1e-6) << other;
    EXPECT_EQ(imported.unknown.front().find("8 operations of "), 0U) << imported.unknown.front();
  }
}

TEST(NsightExport, AGpuIsChosenByItsNumber) {
  const std::filesystem::path file = exported(Played("three_streams", 4, 4), "gpus");
  execute(file,
          "INSERT INTO TARGET_INFO_GPU VALUES (1, 1, 'Other GPU');"
          "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);"
          "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, 4242), (0, 1, 4243), (1, 0, 4243);"
          "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT start, end, deviceId, contextId, streamId, correlationId,"
          " globalPid + (1 << 24), demangledName, gridX, gridY, gridZ FROM CUPTI_ACTIVITY_KIND_KERNEL");
  EXPECT_TRUE(has(diagnosed(file), "4 operations of GPU 1 are left out: take them by --gpu 1"));
  EXPECT_TRUE(has(diagnosed(file, {"--gpu", "1"}), "Other GPU: 4 operations"));
  expect_error({"streams", "diagnose", "--nsys", file, "--gpu", "2"},
               "it has no work of GPU 2: give --gpu one of 0, 1");
}

TEST(NsightExport, TheCopyEnginesAreThoseOfTheGpu) {
  const std::filesystem::path file = exported(Played("depth_first", 8, 4), "engines");
  EXPECT_EQ(read_nsight_export(file, {}).timeline().copy_engines, 2);
  execute(file,
          "ALTER TABLE TARGET_INFO_GPU ADD COLUMN asyncEngines INTEGER; UPDATE TARGET_INFO_GPU SET asyncEngines = 1");
  EXPECT_EQ(read_nsight_export(file, {}).timeline().copy_engines, 1);
}

TEST(NsightExport, APartIsWhatWasIssuedInIt) {
  const Played played("depth_first", 8, 4);
  const std::filesystem::path file = exported(played, "part");
  const std::size_t half = played.timeline.issued.size() / 2;
  const double until = 1e-6 * kBegin + 1e3 * played.timeline.issued[half].start;
  const auto count = [&](const NsightPart& part) { return read_nsight_export(file, part).recording.operations.size(); };
  EXPECT_EQ(count({.to_ms = until}), half);
  EXPECT_EQ(count({.from_ms = until}), played.recording.operations.size() - half);
  execute(file, "INSERT INTO NVTX_EVENTS VALUES (0, " + std::to_string(std::llround(1e6 * until)) +
                    ", 59, 'half', NULL), (1, 2, 59, 'half', NULL), (3, 4, 59, 'nothing', NULL)");
  EXPECT_EQ(count({.range = "half"}), half);
  EXPECT_TRUE(has(read_nsight_export(file, {.range = "half"}).unknown.front(), "2 NVTX ranges are called 'half'"));
  for (const auto& [words, hint] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--range", "nothing"}, "issued in the part that is asked for: work was issued from 5000.000 to "},
           {{"--range", "none"}, "no NVTX range 'none'"},
           {{"--from", "9", "--to", "8"}, "--from 9 is not before --to 8"},
           {{"--from", "-1"}, "--from -1"},
           {{"--items", "8"}, "--items would have no effect"}}) {
    expect_error(cli::with({"streams", "diagnose", "--nsys", file}, words), hint);
  }
  expect_error({"streams", "diagnose", "depth_first", "--from", "1"}, "it goes with --nsys");
}

TEST(NsightExport, WhatIsWrongWithOneIsSaid) {
  const Played played("three_streams", 4, 4);
  const auto expect = [&](const std::string& sql, const std::string& hint) {
    const std::filesystem::path file = exported(played, "wrong");
    execute(file, sql);
    expect_error({"streams", "diagnose", "--nsys", file}, hint);
  };
  expect("DROP TABLE StringIds", "it is no export of Nsight Systems: it has no table StringIds");
  expect("DROP TABLE CUPTI_ACTIVITY_KIND_MEMCPY; DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL", "it has no CUDA activity");
  expect("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = 10; DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL",
         "it has no work that can be read: 8 copies between devices, between hosts and of unified memory");
  for (const auto& [table, column] :
       std::vector<std::pair<std::string, std::string>>{{"CUPTI_ACTIVITY_KIND_MEMCPY", "srcKind"},
                                                        {"CUPTI_ACTIVITY_KIND_KERNEL", "streamId"},
                                                        {"CUPTI_ACTIVITY_KIND_RUNTIME", "nameId"},
                                                        {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "syncType"},
                                                        {"CUPTI_ACTIVITY_KIND_CUDA_EVENT", "eventId"},
                                                        {"TARGET_INFO_CUDA_STREAM", "flag"}}) {
    expect("ALTER TABLE " + table + " RENAME COLUMN " + column + " TO renamed",
           "its table " + table + " has no column " + column);
  }
  expect("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET streamId = NULL",
         "its table CUPTI_ACTIVITY_KIND_KERNEL has a row with no whole number in column streamId");
  const std::filesystem::path text = std::filesystem::path(testing::TempDir()) / "text.sqlite";
  std::ofstream(text) << std::string(5000, 'x');
  expect_error({"streams", "diagnose", "--nsys", text}, "it is no database of SQLite");
  expect_error({"streams", "import", "/no/such", "--out", "x"}, "there is no such file");
  expect_error({"streams", "import", text}, "--out");
}

TEST(NsightExport, WhatItDoesNotSayIsSaidAndNotInvented) {
  const Played played("three_streams", 4, 4);
  const auto unknown = [&](const std::string& sql) {
    const std::filesystem::path file = exported(played, "unknown");
    execute(file, sql);
    const NsightExport imported = read_nsight_export(file, {});
    std::string all;
    for (const std::string& each : imported.unknown) all += each + "\n";
    return std::pair(all, imported.times.issued.size());
  };
  EXPECT_FALSE(has(unknown("").first, "not known"));
  const auto [no_calls, issued] = unknown("DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME");
  EXPECT_TRUE(has(no_calls, "the host's calls of 12 operations are not in it"));
  EXPECT_EQ(issued, 0U);
  EXPECT_TRUE(has(unknown("DROP TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION").first, "8 waits of streams for events"));
  EXPECT_TRUE(has(unknown("DROP TABLE TARGET_INFO_CUDA_CONTEXT_INFO").first, "which stream is the default stream"));
  EXPECT_TRUE(has(unknown("DROP TABLE TARGET_INFO_CUDA_STREAM").first, "of 3 streams it is not said how"));
  EXPECT_TRUE(has(unknown("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = 8 WHERE correlationId < 2").first,
                  "1 copies within the device and memsets count as kernels"));
  EXPECT_TRUE(
      has(unknown("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET srcKind = 0 WHERE copyKind = 1 AND correlationId < 2").first,
          "1 of 8 copies are of pageable memory: all count as pinned"));
  EXPECT_TRUE(
      has(unknown("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = 1").first, "4 operations of GPU 1 are left"));
}

}  // namespace
}  // namespace scanlab::streams
