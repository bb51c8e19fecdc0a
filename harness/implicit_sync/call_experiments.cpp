// Calls that are issued while a kernel spins: the statement about each, and how it is made.
#include <algorithm>
#include <optional>

#include "harness/implicit_sync/statements.hpp"
#ifdef SCANLAB_WITH_CUDA
#include "harness/implicit_sync/test_bed.hpp"
#endif

namespace scanlab::implicit_sync {

namespace {

using Action = std::function<void(TestBed&)>;

#define ACT(...) SCANLAB_TRIAL([]([[maybe_unused]] TestBed& bed) { __VA_ARGS__; })

/// A copy between host and device: one call of many that differ in where, from which memory, and how much.
struct HostCopy {
  bool async = false;
  bool up = false;  ///< to the device
  bool pinned = false;
  bool large = false;
};

/// A call, and the statements about it.
struct Call {
  std::string name;
  std::string call;
  std::optional<Expected> host;     ///< does it block the host until the kernel before it ends
  std::optional<Expected> streams;  ///< does it serialise kernels of two streams
  std::string claim;
  Sources sources;
  Action act;
  Action prepare = nullptr;  ///< before the kernel
  Action clean = nullptr;    ///< after everything
  bool non_blocking_streams = false;
  std::function<std::string()> prepare_process = nullptr;
  Sources host_sources{};  ///< of the answer about the host, if not all sources give it
};

#ifdef SCANLAB_WITH_CUDA
constexpr std::size_t kPinnedBytes = std::size_t{4} << 20;
constexpr std::size_t kDeviceBytes = std::size_t{64} << 20;

Trial try_call(const Call& call, bool is_host, TestBed& bed) {
  const auto prepared = [&](const auto& body) {
    if (call.prepare) call.prepare(bed);
    bed.finish();
    body();
    bed.finish();
    if (call.clean) call.clean(bed);
    bed.clear();
  };
  Trial trial;
  const auto act = [&] { trial.seconds = host_seconds([&] { call.act(bed); }); };
  prepared(act);
  // A spin must outlast the call on an idle device, or its end would not mean a wait.
  bed.spin_seconds = std::clamp(4 * trial.seconds, 2e-3, 40e-3);
  prepared([&] {
    const Spin first = bed.spin(bed.a());
    first.wait_until_started();
    act();
    trial.yes = first.ended();
    if (is_host) return;
    const Spin second = bed.spin(bed.b(), TestBed::kShort);
    bed.finish();
    trial.yes = second.start() >= first.end();
  });
  return trial;
}

void allocate_pinned(TestBed& bed) { done(cudaHostAlloc(&bed.scratch, kPinnedBytes, cudaHostAllocDefault)); }
void allocate(TestBed& bed) { done(cudaMalloc(&bed.scratch, kDeviceBytes)); }
void record_event(TestBed& bed) { done(cudaEventRecord(bed.event.get(), bed.a())); }

Action copy(const HostCopy& copy) {
  return [copy](TestBed& bed) {
    void* const host = copy.pinned ? bed.pinned() : bed.pageable();
    void* const to = copy.up ? bed.device() : host;
    const void* const from = copy.up ? host : bed.device();
    const std::size_t bytes = copy.large ? TestBed::kLarge : TestBed::kSmall;
    const cudaMemcpyKind kind = copy.up ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    done(copy.async ? cudaMemcpyAsync(to, from, bytes, kind, bed.a()) : cudaMemcpy(to, from, bytes, kind));
  };
}

std::string lacks_second_device() {
  int devices = 0;
  return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 1 ? "" : "it needs a second device";
}

#endif

const std::string kListed = "commands of two streams cannot run at once if the host issues between them ";
constexpr std::nullopt_t kNotAsked = std::nullopt;

std::vector<Call> controls() {
  return {
      {"nothing", "nothing in between", kNotAsked, kNo,
       "commands of different streams, neither of them the default one, may run at once (a control)", kRussianStreams,
       ACT()},
      {"device_synchronize", "cudaDeviceSynchronize", kYes, kYes,
       "halts the host until all commands before it in all streams have completed (a control)", kMe759Synchronization,
       ACT(done(cudaDeviceSynchronize()))},
  };
}

/// Calls that must not come between two commands that are to run at once.
std::vector<Call> blocking_list() {
  return {
      // Never freed: the runtime keeps freed memory, and would give it again without allocating any.
      {"pinned_allocation", "cudaHostAlloc (4 MiB)", kSilent, kYes, kListed + "an allocation of page-locked memory",
       kMe759Caveats, ACT(allocate_pinned(bed))},
      {"device_allocation", "cudaMalloc (64 MiB)", kSilent, kYes, kListed + "an allocation of device memory",
       kMe759Caveats, ACT(allocate(bed)), nullptr, ACT(done(cudaFree(bed.scratch)))},
      {"device_memset", "cudaMemset", kSilent, kYes, kListed + "a device memory set", kMe759Caveats,
       ACT(done(cudaMemset(bed.device(), 0, TestBed::kLarge)))},
      {"device_memset_async", "cudaMemsetAsync in a third stream", kSilent, kYes,
       kListed + "a device memory set (it makes no difference between the two forms)", kMe759Caveats,
       ACT(done(cudaMemsetAsync(bed.device(), 0, TestBed::kLarge, bed.c())))},
      {"device_copy", "cudaMemcpy within the device", kNo, kYes,
       "such copies are asynchronous; yet " + kListed + "one of them", kMe759Asynchronous + kMe759Caveats,
       ACT(done(cudaMemcpy(bed.device(), bed.other_device(), TestBed::kLarge, cudaMemcpyDeviceToDevice)))},
      {"device_copy_async", "cudaMemcpyAsync within the device in a third stream", kNo, kYes,
       "asynchronous; yet " + kListed + "a copy within the device", kMe759Asynchronous + kMe759Caveats,
       ACT(done(
           cudaMemcpyAsync(bed.device(), bed.other_device(), TestBed::kLarge, cudaMemcpyDeviceToDevice, bed.c())))},
      {"default_stream_kernel", "a kernel in the default stream", kNo, kYes,
       kListed + "any command to stream 0; launches are asynchronous", kMe759Caveats,
       ACT(bed.spin(nullptr, TestBed::kShort))},
      {"default_stream_copy_async", "cudaMemcpyAsync from pinned memory in the default stream", kNo, kYes,
       kListed + "any command to stream 0; functions named Async are asynchronous", kMe759Caveats,
       ACT(done(cudaMemcpyAsync(bed.device(), bed.pinned(), TestBed::kLarge, cudaMemcpyHostToDevice, nullptr)))},
      {"cache_configuration", "cudaDeviceSetCacheConfig (more L1, then more shared memory)", kSilent, kYes,
       kListed + "a switch between configurations of L1 and shared memory", kMe759Caveats,
       ACT(done(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared))),
       ACT(done(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1))),
       ACT(done(cudaDeviceSetCacheConfig(cudaFuncCachePreferNone)))},
  };
}

/// Calls of the default stream's kin, and streams that do not care.
std::vector<Call> default_stream() {
  return {
      {"default_stream_kernel_nonblocking", "a kernel in the default stream, the others being non-blocking", kNo, kNo,
       "non-blocking streams do not synchronise with the default stream", kTutorialNull,
       ACT(bed.spin(nullptr, TestBed::kShort)), nullptr, nullptr, true},
      {"per_thread_default_stream_kernel", "a kernel in the per-thread default stream", kNo, kNo,
       "the default stream of a thread behaves as a regular stream", kTutorialNull,
       ACT(bed.spin(cudaStreamPerThread, TestBed::kShort))},
      {"copy_nonblocking", "cudaMemcpy to the device, the streams being non-blocking", kYes, kYes,
       "before a copy that is not asynchronous, cudaDeviceSynchronize is called implicitly", kRussianControl,
       SCANLAB_TRIAL(copy({.up = true, .large = true})), nullptr, nullptr, true},
      {"copy_64_kib_nonblocking", "cudaMemcpy to the device, 64 KiB, the streams being non-blocking", kNo, kNo,
       "copies of 64 KB or less are asynchronous; non-blocking streams do not synchronise with the default stream",
       kTutorialNull, SCANLAB_TRIAL(copy({.up = true})), nullptr, nullptr, true, nullptr, kMe759Asynchronous},
  };
}

Call described(const HostCopy& asked) {
  const std::string name = std::string(asked.async ? "copy_async" : "copy") + (asked.up ? "_to_device_" : "_to_host_") +
                           (asked.pinned ? "pinned" : "pageable") + (asked.large ? "_large" : "_64_kib");
  const std::string words = std::string(asked.up ? "to the device from " : "to the host in ") +
                            (asked.pinned ? "pinned" : "pageable") + " memory, " + (asked.large ? "4 MiB" : "64 KiB");
  if (!asked.async) {
    const char* const claim = asked.large
                                  ? "cudaMemcpy returns when the transfer is complete; it is a command to stream 0"
                                  : "copies of 64 KB or less are asynchronous; a command to stream 0";
    return {.name = name,
            .call = "cudaMemcpy " + words,
            .host = asked.large ? kYes : kNo,
            .streams = kYes,
            .claim = claim,
            .sources = kTutorialDefault + kMe759Caveats,
            .act = SCANLAB_TRIAL(copy(asked)),
            .host_sources = asked.large ? kMe759Transfers : kMe759Asynchronous};
  }
  const Expected expected = asked.pinned ? kNo : kYes;
  const char* const claim =
      asked.pinned ? "from pinned memory it returns at once, and overlaps with kernels of other streams"
                   : "without pinned memory it silently falls back to synchronous behaviour (ME759: functions named "
                     "Async are asynchronous)";
  return {name,
          "cudaMemcpyAsync behind the kernel, " + words,
          expected,
          expected,
          claim,
          kTutorialStreams,
          SCANLAB_TRIAL(copy(asked))};
}

std::vector<Call> copies() {
  std::vector<Call> all;
  for (const bool up : {true, false}) {
    for (const bool pinned : {true, false}) {
      for (const bool large : {true, false}) {
        for (const bool async : {false, true}) all.push_back(described({async, up, pinned, large}));
      }
    }
  }
  all.push_back({
    .name = "peer_copy_async", .call = "cudaMemcpyPeerAsync to another device, behind the kernel", .host = kNo,
    .streams = kSilent, .claim = "copies by functions named Async are asynchronous", .sources = kMe759Asynchronous,
    .act = ACT(done(cudaMemcpyPeerAsync(bed.scratch, 1, bed.device(), 0, TestBed::kLarge, bed.a()))),
    .prepare = ACT(done(cudaSetDevice(1)); done(cudaMalloc(&bed.scratch, TestBed::kLarge)); done(cudaSetDevice(0))),
    .clean = ACT(done(cudaFree(bed.scratch))), .prepare_process = SCANLAB_TRIAL(lacks_second_device)
  });
  return all;
}

/// Stream and event calls, and what programs do besides.
std::vector<Call> stream_and_event_calls() {
  return {
      {"stream_query", "cudaStreamQuery", kNo, kSilent,
       "a way to know whether all commands before it in a stream have completed", kMe759Synchronization,
       ACT(cudaStreamQuery(bed.a()); cudaGetLastError())},
      {"stream_synchronize", "cudaStreamSynchronize", kYes, kNotAsked,
       "halts the host until all commands before it in this stream have completed", kMe759Synchronization,
       ACT(done(cudaStreamSynchronize(bed.a())))},
      {"stream_wait_event", "cudaStreamWaitEvent, for the stream that waits", kNo, kYes,
       "halts what is added to this stream until the event has completed, but not the host",
       kMe759Synchronization + kTutorialEvents,
       ACT(record_event(bed); done(cudaStreamWaitEvent(bed.b(), bed.event.get(), 0)))},
      {"stream_wait_event_elsewhere", "cudaStreamWaitEvent, for other streams", kNotAsked, kNo,
       "blocks only its stream: the host can keep issuing work to others", kTutorialEvents,
       ACT(record_event(bed); done(cudaStreamWaitEvent(bed.c(), bed.event.get(), 0)))},
      {"event_record", "cudaEventRecord", kNo, kNo, "a lightweight marker in a stream", kTutorialEvents,
       ACT(record_event(bed))},
      {"event_synchronize", "cudaEventSynchronize", kYes, kNotAsked, "blocks the host until the event has been reached",
       kTutorialEvents, ACT(record_event(bed); done(cudaEventSynchronize(bed.event.get())))},
      {"event_elapsed_time", "cudaEventElapsedTime of an event that has not completed", kSilent, kSilent,
       "measures the time between two events; what it does before they complete is not said", kTutorialEvents,
       ACT(record_event(bed); float milliseconds = 0;
           cudaEventElapsedTime(&milliseconds, bed.other_event.get(), bed.event.get()); cudaGetLastError())},
      {"device_free", "cudaFree (64 MiB)", kSilent, kSilent, "not said", kNobody, ACT(done(cudaFree(bed.scratch))),
       ACT(allocate(bed))},
      {"pinned_free", "cudaFreeHost (1 MiB)", kSilent, kSilent, "not said", kNobody,
       ACT(done(cudaFreeHost(bed.scratch))), ACT(allocate_pinned(bed))},
      {"allocation_in_stream", "cudaMallocAsync (64 MiB) in a third stream", kSilent, kSilent, "not said", kNobody,
       ACT(done(cudaMallocAsync(&bed.scratch, kDeviceBytes, bed.c()))), nullptr,
       ACT(done(cudaFreeAsync(bed.scratch, bed.c())); bed.finish())},
  };
}

}  // namespace

std::vector<Experiment> call_experiments() {
  std::vector<Experiment> all;
  const auto add = [&](const Call& call, bool is_host, Expected expected) {
    all.push_back({.name = call.name + (is_host ? ".host" : ".streams"),
                   .subject = call.call,
                   .verb = is_host ? "blocks" : "serialises",
                   .object = is_host ? "the host" : "kernels of two streams",
                   .expected = expected,
                   .claim = call.claim,
                   .sources = is_host && !call.host_sources.empty() ? call.host_sources : call.sources,
                   .trial = SCANLAB_TRIAL([call, is_host](TestBed& bed) { return try_call(call, is_host, bed); }),
                   .non_blocking_streams = call.non_blocking_streams,
                   .prepare_process = call.prepare_process});
  };
  for (const auto& calls : {controls(), blocking_list(), default_stream(), copies(), stream_and_event_calls()}) {
    for (const Call& call : calls) {
      if (call.host) add(call, true, *call.host);
      if (call.streams) add(call, false, *call.streams);
    }
  }
  return all;
}

}  // namespace scanlab::implicit_sync
