// The tracer of examples/symptoms without a device: records of CUPTI that are made here are read back from its file as
// an export of Nsight Systems.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>

#include "examples/symptoms/trace_database.hpp"
#include "harness/host/sqlite_file.hpp"
#include "harness/timeline/nsight_export.hpp"
#include "tests/program.hpp"

namespace scanlab::streams {
namespace {

constexpr std::uint64_t kZero = 1'700'000'000'000'000'000;  // nanoseconds
constexpr std::uint32_t kContext = 1;
constexpr std::uint32_t kNullStream = 7;
constexpr std::uint32_t kStreams[] = {13, 14};
constexpr std::uint32_t kEvent = 3;
constexpr std::uint32_t kThread = 4343;
constexpr CUpti_CallbackId kLaunch = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
constexpr CUpti_CallbackId kCopy = CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020;

CUptiResult call_name(CUpti_CallbackDomain domain, std::uint32_t call, const char** name) {
  static const std::map<std::pair<int, std::uint32_t>, const char*> kNames{
      {{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel}, "cuLaunchKernel"},
      {{CUPTI_CB_DOMAIN_RUNTIME_API, kLaunch}, "cudaLaunchKernel_v7000"},
      {{CUPTI_CB_DOMAIN_RUNTIME_API, kCopy}, "cudaMemcpyAsync_v3020"},
      {{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020}, "cudaMemcpy_v3020"},
      {{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaFree_v3020}, "cudaFree_v3020"}};
  const auto known = kNames.find({domain, call});
  if (known != kNames.end()) *name = known->second;
  return CUPTI_SUCCESS;
}

/// In microseconds.
template <class Record>
void set_times(Record& record, double start, double end) {
  record.start = kZero + static_cast<std::uint64_t>(1e3 * start);
  record.end = kZero + static_cast<std::uint64_t>(1e3 * end);
}

/// Records of a program, in the layouts of CUPTI. Times are microseconds.
class Records {
 public:
  Records() {
    auto& device = add<CUpti_ActivityDevice4>(CUPTI_ACTIVITY_KIND_DEVICE);
    device.name = "Test GPU";
    device.numMemcpyEngines = 1;
    device.isCudaVisible = 1;
    auto& context = add<CUpti_ActivityContext>(CUPTI_ACTIVITY_KIND_CONTEXT);
    context.contextId = kContext;
    context.nullStreamId = kNullStream;
    for (const std::uint32_t id : kStreams) {
      auto& stream = add<CUpti_ActivityStream>(CUPTI_ACTIVITY_KIND_STREAM);
      stream.contextId = kContext;
      stream.streamId = id;
      stream.flag = id == kStreams[0] ? CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING
                                      : CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT;
    }
  }

  template <class Record>
  Record& add(CUpti_ActivityKind kind) {
    static_assert(sizeof(Record) <= sizeof(Storage));
    auto& record = reinterpret_cast<Record&>(storage_.emplace_back());
    record.kind = kind;
    return record;
  }

  /// A call of the host; what it issues has its correlation.
  std::uint32_t call(CUpti_CallbackId id, double start, double end,
                     CUpti_ActivityKind kind = CUPTI_ACTIVITY_KIND_RUNTIME) {
    auto& call = add<CUpti_ActivityAPI>(kind);
    call.cbid = id;
    call.threadId = kThread;
    call.correlationId = ++correlation_;
    set_times(call, start, end);
    return correlation_;
  }

  template <class Record>
  Record& work(CUpti_ActivityKind kind, std::uint32_t stream, double start, double end) {
    auto& record = add<Record>(kind);
    record.contextId = kContext;
    record.streamId = stream;
    record.correlationId = correlation_;
    set_times(record, start, end);
    return record;
  }

  void kernel(std::uint32_t stream, double start, double end, std::uint64_t graph_node = 0) {
    auto& kernel = work<CUpti_ActivityKernel9>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, stream, start, end);
    kernel.name = "_ZN12_GLOBAL__N_14stepILi3EEEvPj";
    kernel.gridX = 6;
    kernel.gridY = 2;
    kernel.gridZ = 1;
    kernel.graphNodeId = graph_node;
  }

  void copy(std::uint32_t stream, double start, double end, CUpti_ActivityMemcpyKind kind,
            CUpti_ActivityMemoryKind host) {
    auto& copy = work<CUpti_ActivityMemcpy5>(CUPTI_ACTIVITY_KIND_MEMCPY, stream, start, end);
    copy.bytes = 4096;
    copy.copyKind = static_cast<std::uint8_t>(kind);
    copy.srcKind =
        static_cast<std::uint8_t>(kind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD ? host : CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
    copy.dstKind =
        static_cast<std::uint8_t>(kind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH ? host : CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
  }

  void record_event(std::uint32_t stream) {
    auto& event = add<CUpti_ActivityCudaEvent>(CUPTI_ACTIVITY_KIND_CUDA_EVENT);
    event.correlationId = correlation_;
    event.contextId = kContext;
    event.streamId = stream;
    event.eventId = kEvent;
  }

  void wait(CUpti_ActivitySynchronizationType type, std::uint32_t stream, std::uint32_t event, double start,
            double end) {
    auto& wait = add<CUpti_ActivitySynchronization>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
    wait.type = type;
    wait.correlationId = correlation_;
    wait.contextId = kContext;
    wait.streamId = stream;
    wait.cudaEventId = event;
    set_times(wait, start, end);
  }

  std::filesystem::path file(const std::string& name) const {
    const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / (name + ".sqlite");
    std::vector<const CUpti_Activity*> all;
    for (const Storage& each : storage_) all.push_back(reinterpret_cast<const CUpti_Activity*>(&each));
    trace::TraceDatabase(path, kZero, call_name).write(all);
    return path;
  }

 private:
  struct alignas(8) Storage {
    std::byte bytes[512];
  };

  std::deque<Storage> storage_;
  std::uint32_t correlation_ = 0;
};

/// Two streams, an event between them, a graph, a memset, and a synchronous copy of pageable memory.
Records program() {
  constexpr std::uint32_t kNone = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  Records all;
  all.call(kCopy, 10, 12);
  all.copy(kStreams[0], 20, 30, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
  all.call(CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020, 12, 13);
  all.record_event(kStreams[0]);
  all.call(CUPTI_RUNTIME_TRACE_CBID_cudaStreamWaitEvent_v3020, 13, 14);
  all.wait(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT, kStreams[1], kEvent, 13, 14);
  all.call(kLaunch, 15, 16);
  all.kernel(kStreams[1], 32, 50);
  all.call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 16, 18, CUPTI_ACTIVITY_KIND_DRIVER);
  all.kernel(kNullStream, 52, 60);
  all.call(CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000, 18, 20);
  all.kernel(kStreams[1], 62, 64, 101);
  all.kernel(kStreams[1], 65, 66, 102);
  all.call(CUPTI_RUNTIME_TRACE_CBID_cudaFree_v3020, 20, 90);
  all.call(CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020, 91, 120);
  all.copy(kNullStream, 100, 119, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
  all.call(CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020, 121, 122);
  all.work<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, kStreams[0], 123, 124);
  all.call(CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020, 123, 130);
  all.wait(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, kStreams[0], kNone, 123, 130);
  return all;
}

std::vector<std::string> described(const NsightExport& imported) {
  std::vector<std::string> all;
  for (const Operation& each : imported.recording.operations) all.push_back(describe(each));
  return all;
}

TEST(TraceDatabase, IsReadAsAnExportOfNsightSystems) {
  const NsightExport imported = read_nsight_export(program().file("program"), {});
  EXPECT_EQ(imported.device, "Test GPU");
  EXPECT_EQ(imported.times.copy_engines, 1);
  EXPECT_EQ(
      described(imported),
      (std::vector<std::string>{"the copy in of chunk 0, input 0, in stream 13", "the record of event 0 in stream 13",
                                "the wait of stream 14 for event 0", "the kernel of chunk 0 in stream 14",
                                "the kernel of chunk 1 in the legacy default stream", "a side kernel in stream 14",
                                "a side kernel in stream 14", "cudaFree",
                                "the synchronous copy out of chunk 1 in the legacy default stream",
                                "the kernel of chunk 0 in stream 13", "the host's wait for stream 13"}));
  const std::vector<Operation>& operations = imported.recording.operations;
  EXPECT_EQ(operations[0].chunk.items, 4096);
  EXPECT_EQ(operations[0].stream.kind, StreamKind::non_blocking);
  EXPECT_EQ(operations[3].stream.kind, StreamKind::blocking);
  EXPECT_TRUE(has(imported.unknown.front(), "1 of 2 copies are of pageable memory: all count as pinned"));
  const Timeline timeline = imported.timeline();
  ASSERT_EQ(timeline.spans.size(), 7U);
  const Span& kernel = timeline.spans[1];  // times are from the first call on
  EXPECT_EQ(kernel.blocks, 12);
  EXPECT_NEAR(kernel.when.start, 22e-6, 1e-12);
  EXPECT_NEAR(kernel.when.end, 40e-6, 1e-12);
  EXPECT_NEAR(timeline.issued[kernel.operation].start, 5e-6, 1e-12);
}

TEST(TraceDatabase, HasTheNamesOfKernels) {
  std::vector<std::string> names;
  SqliteFile(program().file("names")).read("StringIds", {{"value"}}, [&](const SqliteFile::Row& row) {
    names.push_back(row.text(0));
  });
  for (const char* name : {"step", "void (anonymous namespace)::step<3>(unsigned int*)", "cudaLaunchKernel_v7000"}) {
    EXPECT_EQ(std::ranges::count(names, name), 1) << name;
  }
}

TEST(TraceDatabase, OverheadOfTheThreadThatIssuesIsItsWork) {
  Records all = program();
  auto& overhead = all.add<CUpti_ActivityOverhead>(CUPTI_ACTIVITY_KIND_OVERHEAD);
  overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH;
  overhead.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  overhead.objectId.pt.threadId = kThread;
  set_times(overhead, 131, 160);
  EXPECT_EQ(described(read_nsight_export(all.file("overhead"), {})).back(), "Buffer flush");
}

TEST(TraceDatabase, IsLimitedToTheProfiledPart) {
  const auto in_runtime = CUPTI_ACTIVITY_KIND_RUNTIME;
  const auto in_driver = CUPTI_ACTIVITY_KIND_DRIVER;
  Records all = program();
  all.call(CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000, 5, 6, in_runtime);  // of nothing
  all.call(CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000, 14, 14.5, in_runtime);
  all.call(CUPTI_DRIVER_TRACE_CBID_cuProfilerStop, 90.5, 91, in_driver);
  const NsightExport imported = read_nsight_export(all.file("profiled"), {});
  EXPECT_EQ(described(imported),
            (std::vector<std::string>{"a side kernel in stream 14", "a side kernel in the legacy default stream",
                                      "a side kernel in stream 14", "a side kernel in stream 14", "cudaFree"}));
}

TEST(TraceDatabase, ThrowsWithTheReasonIfItCannotBeWritten) {
  try {
    trace::TraceDatabase("/nowhere/trace.sqlite", kZero, call_name).write({});
    FAIL() << "it was written";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "unable to open database file");
  }
}

}  // namespace
}  // namespace scanlab::streams
