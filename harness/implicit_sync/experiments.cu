// The table of experiments: what the sources say of each call, and how to try it. Claims are read without CUDA too;
// actions need it.
#include "harness/implicit_sync/caveats.hpp"

#if defined(__CUDACC__)
#include <algorithm>
#include <optional>
#include <utility>

#include "harness/cuda/error.hpp"
#include "harness/implicit_sync/stage.hpp"
#include "harness/replay/activity.hpp"

/// An action of the table, which a build without CUDA leaves out: there the claims can be read, but not tried.
#define ON_DEVICE(...) __VA_ARGS__
#else
#define ON_DEVICE(...) nullptr
#endif

namespace scanlab::streams {

namespace {

// The sources, page by page.
const std::string kMe759 = "ME759, University of Wisconsin-Madison, lecture of 16 October 2013, ";
const std::string kMe759Asynchronous = kMe759 + "Asynchronous Concurrent Execution";
const std::string kMe759Transfers = kMe759 + "Host-Device Data Transfer Issues";
const std::string kMe759Overview = kMe759 + "CUDA Streams: Overview";
const std::string kMe759CleanUp = kMe759 + "CUDA Streams: Clean Up Phase";
const std::string kMe759Caveats = kMe759 + "CUDA Streams: Caveats";
const std::string kMe759Synchronization = kMe759 + "CUDA Streams: Synchronization Aspects";
const std::string kDli = "NVIDIA DLI course C-AC-04, Considerations for Copy/Compute Overlap";
const std::string kRussian = "CUDA course in Russian, part 7 (cudaStream), ";
const std::string kRussianControl = kRussian + "When control returns to the host thread";
const std::string kRussianQueue = kRussian + "The only hardware queue";
const std::string kMarkidis = "S. Markidis, Optimizing Host-Device Data Communication III";
const std::string kTutorial = "CUDA Programming Series, tutorial 08, Streams & Async Execution, ";
const std::string kTutorialDefault = kTutorial + "The Default Stream Trap";
const std::string kTutorialStreams = kTutorial + "CUDA Streams";
const std::string kTutorialEvents = kTutorial + "CUDA Events";
const std::string kTutorialNull = kTutorial + "The Null Stream";
const std::string kUnnamed = "none of the sources names it; it is here because programs do it";

using Action = std::function<void(Stage&)>;

enum class Ask { host, streams, both };

/// A call that is issued while a kernel spins in stream a.
struct Call {
  std::string name;
  std::string call;  ///< in words
  Ask ask = Ask::both;
  Said host = Said::nothing;     ///< does it hold up the host
  Said streams = Said::nothing;  ///< does it hold up stream b
  std::string claim;
  std::string source;
  Action act;
  Action prepare = nullptr;  ///< before the kernel
  Action clean = nullptr;    ///< after everything
  bool non_blocking_streams = false;
  std::function<std::string()> prepare_process = nullptr;
};

#if defined(__CUDACC__)
using cuda::check;

void done(cudaError_t error) { check(error, "an experiment's call"); }

void optionally(const Action& action, Stage& stage) {
  if (action) action(stage);
}

/// How long the call takes on an idle device; a spin must outlast that, or its end would not mean a wait.
double seconds_alone(const Call& call, Stage& stage) {
  optionally(call.prepare, stage);
  stage.finish();
  const double seconds = host_seconds([&] { call.act(stage); });
  stage.finish();
  optionally(call.clean, stage);
  stage.clear();
  return seconds;
}

double spin_seconds_for(double seconds_alone) { return std::clamp(4 * seconds_alone, 2e-3, 40e-3); }

enum class Held { host, stream };

Trial try_call(const Call& call, Held held, Stage& stage) {
  stage.spin_seconds = spin_seconds_for(seconds_alone(call, stage));
  optionally(call.prepare, stage);
  stage.finish();
  const Spin first = stage.spin(stage.a());
  first.wait_until_started();
  const double seconds = host_seconds([&] { call.act(stage); });
  const bool ended = first.ended();
  bool waited = false;
  if (held == Held::stream) {
    const Spin second = stage.spin(stage.b(), Stage::kShort);
    stage.finish();
    waited = second.start() >= first.end();
  }
  stage.finish();
  optionally(call.clean, stage);
  stage.clear();
  return {held == Held::host ? ended : waited, seconds};
}
#endif

void add(std::vector<Experiment>& all, const Call& call) {
  const auto entry = [&](const char* suffix, const std::string& question, Said said) {
    Experiment experiment;
    experiment.name = call.name + suffix;
    experiment.question = question;
    experiment.said = said;
    experiment.claim = call.claim;
    experiment.source = call.source;
    experiment.non_blocking_streams = call.non_blocking_streams;
    experiment.prepare_process = call.prepare_process;
    return experiment;
  };
  if (call.ask != Ask::streams) {
    all.push_back(entry(".host", "does " + call.call + " hold up the host until the kernel before it ends", call.host));
#if defined(__CUDACC__)
    all.back().trial = [call](Stage& stage) { return try_call(call, Held::host, stage); };
#endif
  }
  if (call.ask != Ask::host) {
    all.push_back(entry(".streams", "does " + call.call + " keep kernels of two streams apart", call.streams));
#if defined(__CUDACC__)
    all.back().trial = [call](Stage& stage) { return try_call(call, Held::stream, stage); };
#endif
  }
}

// ---------------------------------------------------------------------------------------------- controls, and the list

void add_controls(std::vector<Experiment>& all) {
  add(all, {.name = "nothing",
            .call = "nothing in between",
            .ask = Ask::streams,
            .streams = Said::no,
            .claim = "commands of different streams, neither of them the default one, may run at once (a control)",
            .source = kRussian + "cudaStream",
            .act = ON_DEVICE([](Stage&) {})});
  add(all, {.name = "device_synchronize",
            .call = "cudaDeviceSynchronize",
            .host = Said::yes,
            .streams = Said::yes,
            .claim = "halts the host until all commands before it in all streams have completed (a control)",
            .source = kMe759Synchronization,
            .act = ON_DEVICE([](Stage&) { done(cudaDeviceSynchronize()); })});
}

/// What must not come between two commands that are to run at once.
void add_blocking_list(std::vector<Experiment>& all) {
  const std::string listed = "commands of two streams cannot run at once if the host issues between them ";
  add(all, {.name = "pinned_allocation",
            .call = "cudaHostAlloc (1 MiB)",
            .streams = Said::yes,
            .claim = listed + "an allocation of page-locked memory",
            .source = kMe759Caveats,
            .act = ON_DEVICE([](Stage& stage) { done(cudaHostAlloc(&stage.scratch, 1 << 20, cudaHostAllocDefault)); }),
            .clean = ON_DEVICE([](Stage& stage) { done(cudaFreeHost(stage.scratch)); })});
  add(all, {.name = "device_allocation",
            .call = "cudaMalloc (64 MiB)",
            .streams = Said::yes,
            .claim = listed + "an allocation of device memory",
            .source = kMe759Caveats,
            .act = ON_DEVICE([](Stage& stage) { done(cudaMalloc(&stage.scratch, 64 << 20)); }),
            .clean = ON_DEVICE([](Stage& stage) { done(cudaFree(stage.scratch)); })});
  add(all, {.name = "device_memset",
            .call = "cudaMemset",
            .streams = Said::yes,
            .claim = listed + "a device memory set",
            .source = kMe759Caveats,
            .act = ON_DEVICE([](Stage& stage) { done(cudaMemset(stage.device(), 0, Stage::kLarge)); })});
  add(all,
      {.name = "device_memset_async",
       .call = "cudaMemsetAsync in a third stream",
       .streams = Said::yes,
       .claim = listed + "a device memory set (it makes no difference between the two forms)",
       .source = kMe759Caveats,
       .act = ON_DEVICE([](Stage& stage) { done(cudaMemsetAsync(stage.device(), 0, Stage::kLarge, stage.c())); })});
  add(all, {.name = "device_copy",
            .call = "cudaMemcpy within the device",
            .host = Said::no,
            .streams = Said::yes,
            .claim = "such copies are asynchronous; yet " + listed + "one of them",
            .source = kMe759Asynchronous + "; " + kMe759Caveats,
            .act = ON_DEVICE([](Stage& stage) {
              done(cudaMemcpy(stage.device(), stage.other_device(), Stage::kLarge, cudaMemcpyDeviceToDevice));
            })});
  add(all, {.name = "device_copy_async",
            .call = "cudaMemcpyAsync within the device in a third stream",
            .host = Said::no,
            .streams = Said::yes,
            .claim = "asynchronous; yet " + listed + "a copy within the device",
            .source = kMe759Asynchronous + "; " + kMe759Caveats,
            .act = ON_DEVICE([](Stage& stage) {
              done(cudaMemcpyAsync(stage.device(), stage.other_device(), Stage::kLarge, cudaMemcpyDeviceToDevice,
                                   stage.c()));
            })});
  add(all, {.name = "default_stream_kernel",
            .call = "a kernel in the default stream",
            .host = Said::no,
            .streams = Said::yes,
            .claim = listed + "any command to stream 0; launches are asynchronous",
            .source = kMe759Caveats,
            .act = ON_DEVICE([](Stage& stage) { stage.spin(nullptr, Stage::kShort); })});
  add(all, {.name = "default_stream_copy_async",
            .call = "cudaMemcpyAsync from pinned memory in the default stream",
            .host = Said::no,
            .streams = Said::yes,
            .claim = listed + "any command to stream 0; functions named Async are asynchronous",
            .source = kMe759Caveats,
            .act = ON_DEVICE([](Stage& stage) {
              done(cudaMemcpyAsync(stage.device(), stage.pinned(), Stage::kLarge, cudaMemcpyHostToDevice, nullptr));
            })});
  add(all, {.name = "cache_configuration",
            .call = "cudaDeviceSetCacheConfig (more L1, then more shared memory)",
            .streams = Said::yes,
            .claim = listed + "a switch between configurations of L1 and shared memory",
            .source = kMe759Caveats,
            .act = ON_DEVICE([](Stage&) { done(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared)); }),
            .prepare = ON_DEVICE([](Stage&) { done(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1)); }),
            .clean = ON_DEVICE([](Stage&) { done(cudaDeviceSetCacheConfig(cudaFuncCachePreferNone)); })});
}

/// Calls of the default stream's kin, and streams that do not care.
void add_default_stream(std::vector<Experiment>& all) {
  add(all, {.name = "default_stream_kernel_nonblocking",
            .call = "a kernel in the default stream, the others being non-blocking,",
            .host = Said::no,
            .streams = Said::no,
            .claim = "non-blocking streams do not synchronise with the default stream",
            .source = kTutorialNull,
            .act = ON_DEVICE([](Stage& stage) { stage.spin(nullptr, Stage::kShort); }),
            .non_blocking_streams = true});
  add(all, {.name = "per_thread_default_stream_kernel",
            .call = "a kernel in the per-thread default stream",
            .host = Said::no,
            .streams = Said::no,
            .claim = "the default stream of a thread behaves as a regular stream",
            .source = kTutorialNull,
            .act = ON_DEVICE([](Stage& stage) { stage.spin(cudaStreamPerThread, Stage::kShort); })});
  add(all, {.name = "copy_nonblocking",
            .call = "cudaMemcpy to the device, the streams being non-blocking,",
            .host = Said::yes,
            .streams = Said::yes,
            .claim = "before a copy that is not asynchronous, cudaDeviceSynchronize is called implicitly",
            .source = kRussianControl,
            .act = ON_DEVICE([](Stage& stage) {
              done(cudaMemcpy(stage.device(), stage.pageable(), Stage::kLarge, cudaMemcpyHostToDevice));
            }),
            .non_blocking_streams = true});
}

/// Copies between host and device: which way, from which memory, how large, by which call.
void add_host_copies(std::vector<Experiment>& all) {
  for (const bool up : {true, false}) {
    for (const bool pinned : {true, false}) {
      for (const bool large : {true, false}) {
        const std::string way = up ? "to_device" : "to_host";
        const std::string memory = pinned ? "pinned" : "pageable";
        const std::string size = large ? "large" : "64_kib";
        const std::string words =
            (up ? "to the device from " : "to the host in ") + memory + " memory, " + (large ? "4 MiB," : "64 KiB,");
        add(all,
            {.name = "copy_" + way + "_" + memory + "_" + size,
             .call = "cudaMemcpy " + words,
             .host = large ? Said::yes : Said::no,
             .streams = Said::yes,
             .claim = large ? "cudaMemcpy returns when the transfer is complete; it is a command to stream 0"
                            : "copies of 64 KB or less are asynchronous; a command to stream 0",
             .source = (large ? kMe759Transfers + "; " + kTutorialDefault : kMe759Asynchronous) + "; " + kMe759Caveats,
             .act = ON_DEVICE([=](Stage& stage) {
               void* const host = pinned ? stage.pinned() : stage.pageable();
               const std::size_t bytes = large ? Stage::kLarge : Stage::kSmall;
               done(up ? cudaMemcpy(stage.device(), host, bytes, cudaMemcpyHostToDevice)
                       : cudaMemcpy(host, stage.device(), bytes, cudaMemcpyDeviceToHost));
             })});
        add(all, {.name = "copy_async_" + way + "_" + memory + "_" + size,
                  .call = "cudaMemcpyAsync behind the kernel, " + words,
                  .host = pinned ? Said::no : Said::yes,
                  .streams = pinned ? Said::no : Said::yes,
                  .claim = pinned ? "from pinned memory it returns at once, and overlaps with kernels of other streams"
                                  : "without pinned memory it silently falls back to synchronous behaviour (ME759: "
                                    "functions named Async "
                                    "are asynchronous)",
                  .source = kTutorialStreams,
                  .act = ON_DEVICE([=](Stage& stage) {
                    void* const host = pinned ? stage.pinned() : stage.pageable();
                    const std::size_t bytes = large ? Stage::kLarge : Stage::kSmall;
                    done(up ? cudaMemcpyAsync(stage.device(), host, bytes, cudaMemcpyHostToDevice, stage.a())
                            : cudaMemcpyAsync(host, stage.device(), bytes, cudaMemcpyDeviceToHost, stage.a()));
                  })});
      }
    }
  }
  add(all, {.name = "peer_copy_async",
            .call = "cudaMemcpyPeerAsync to another device, behind the kernel,",
            .host = Said::no,
            .streams = Said::nothing,
            .claim = "copies by functions named Async are asynchronous",
            .source = kMe759Asynchronous,
            .act = ON_DEVICE([](Stage& stage) {
              done(cudaMemcpyPeerAsync(stage.scratch, 1, stage.device(), 0, Stage::kLarge, stage.a()));
            }),
            .prepare = ON_DEVICE([](Stage& stage) {
              done(cudaSetDevice(1));
              done(cudaMalloc(&stage.scratch, Stage::kLarge));
              done(cudaSetDevice(0));
            }),
            .clean = ON_DEVICE([](Stage& stage) { done(cudaFree(stage.scratch)); }),
            .prepare_process = ON_DEVICE([] {
              int devices = 0;
              return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 1 ? std::string()
                                                                                : "it needs a second device";
            })});
}

/// Stream and event calls, and what programs do besides.
void add_stream_and_event_calls(std::vector<Experiment>& all) {
  add(all, {.name = "stream_query",
            .call = "cudaStreamQuery",
            .host = Said::no,
            .streams = Said::nothing,
            .claim = "a way to know whether all commands before it in a stream have completed",
            .source = kMe759Synchronization,
            .act = ON_DEVICE([](Stage& stage) {
              cudaStreamQuery(stage.a());
              cudaGetLastError();
            })});
  add(all, {.name = "stream_synchronize",
            .call = "cudaStreamSynchronize",
            .ask = Ask::host,
            .host = Said::yes,
            .claim = "halts the host until all commands before it in this stream have completed",
            .source = kMe759Synchronization,
            .act = ON_DEVICE([](Stage& stage) { done(cudaStreamSynchronize(stage.a())); })});
  add(all, {.name = "stream_wait_event",
            .call = "cudaStreamWaitEvent, for the stream that waits,",
            .host = Said::no,
            .streams = Said::yes,
            .claim = "halts what is added to this stream until the event has completed, but not the host",
            .source = kMe759Synchronization + "; " + kTutorialEvents,
            .act = ON_DEVICE([](Stage& stage) {
              done(cudaEventRecord(stage.event.get(), stage.a()));
              done(cudaStreamWaitEvent(stage.b(), stage.event.get(), 0));
            })});
  add(all, {.name = "stream_wait_event_elsewhere",
            .call = "cudaStreamWaitEvent, for other streams,",
            .ask = Ask::streams,
            .streams = Said::no,
            .claim = "blocks only its stream: the host can keep issuing work to others",
            .source = kTutorialEvents,
            .act = ON_DEVICE([](Stage& stage) {
              done(cudaEventRecord(stage.event.get(), stage.a()));
              done(cudaStreamWaitEvent(stage.c(), stage.event.get(), 0));
            })});
  add(all, {.name = "event_record",
            .call = "cudaEventRecord",
            .host = Said::no,
            .streams = Said::no,
            .claim = "a lightweight marker in a stream",
            .source = kTutorialEvents,
            .act = ON_DEVICE([](Stage& stage) { done(cudaEventRecord(stage.event.get(), stage.a())); })});
  add(all, {.name = "event_synchronize",
            .call = "cudaEventSynchronize",
            .ask = Ask::host,
            .host = Said::yes,
            .claim = "blocks the host until the event has been reached",
            .source = kTutorialEvents,
            .act = ON_DEVICE([](Stage& stage) {
              done(cudaEventRecord(stage.event.get(), stage.a()));
              done(cudaEventSynchronize(stage.event.get()));
            })});
  add(all, {.name = "event_elapsed_time",
            .call = "cudaEventElapsedTime of an event that has not completed",
            .claim = "measures the time between two events; what it does before they complete is not said",
            .source = kTutorialEvents,
            .act = ON_DEVICE([](Stage& stage) {
              done(cudaEventRecord(stage.event.get(), stage.a()));
              float milliseconds = 0;
              cudaEventElapsedTime(&milliseconds, stage.other_event.get(), stage.event.get());
              cudaGetLastError();
            })});
  add(all, {.name = "device_free",
            .call = "cudaFree (64 MiB)",
            .claim = "not said",
            .source = kUnnamed,
            .act = ON_DEVICE([](Stage& stage) { done(cudaFree(stage.scratch)); }),
            .prepare = ON_DEVICE([](Stage& stage) { done(cudaMalloc(&stage.scratch, 64 << 20)); })});
  add(all,
      {.name = "pinned_free",
       .call = "cudaFreeHost (1 MiB)",
       .claim = "not said",
       .source = kUnnamed,
       .act = ON_DEVICE([](Stage& stage) { done(cudaFreeHost(stage.scratch)); }),
       .prepare = ON_DEVICE([](Stage& stage) { done(cudaHostAlloc(&stage.scratch, 1 << 20, cudaHostAllocDefault)); })});
  add(all, {.name = "allocation_in_stream",
            .call = "cudaMallocAsync (64 MiB) in a third stream",
            .claim = "not said",
            .source = kUnnamed,
            .act = ON_DEVICE([](Stage& stage) { done(cudaMallocAsync(&stage.scratch, 64 << 20, stage.c())); }),
            .clean = ON_DEVICE([](Stage& stage) {
              done(cudaFreeAsync(stage.scratch, stage.c()));
              stage.finish();
            })});
}

// ------------------------------------------------------------------------------- questions with trials of their own

void add_launches(std::vector<Experiment>& all) {
  const auto launch = ON_DEVICE([](Stage& stage) {
    std::optional<Spin> spin;
    const double seconds = host_seconds([&] { spin = stage.spin(stage.a()); });
    const Trial trial{spin->ended(), seconds};
    stage.clear();
    return trial;
  });
  all.push_back({.name = "kernel_launch",
                 .question = "does a launch return only when its kernel has ended",
                 .said = Said::no,
                 .claim = "kernel launches are asynchronous",
                 .source = kMe759Asynchronous,
                 .trial = launch});
  all.push_back({.name = "launch_blocking",
                 .question = "the same with CUDA_LAUNCH_BLOCKING=1",
                 .said = Said::yes,
                 .claim = "what a debugger makes of launches (the variable is its everyday form)",
                 .source = kMe759Asynchronous,
                 .trial = launch,
                 .environment = {{"CUDA_LAUNCH_BLOCKING", "1"}},
                 .fresh_process = true});
  all.push_back({.name = "profiled_launch",
                 .question = "the same while a profiler collects kernels (CUPTI, concurrent kernels)",
                 .said = Said::yes,
                 .claim = "under a debugger or profiler all launches are synchronous",
                 .source = kMe759Asynchronous,
                 .trial = launch,
                 .prepare_process = ON_DEVICE([] { return collect_kernels(Collection::concurrent); }),
                 .fresh_process = true});
  all.push_back({.name = "profiled_launch_serialised",
                 .question = "the same while a profiler collects kernels one by one (CUPTI, serialised kernels)",
                 .said = Said::yes,
                 .claim = "under a debugger or profiler all launches are synchronous",
                 .source = kMe759Asynchronous,
                 .trial = launch,
                 .prepare_process = ON_DEVICE([] { return collect_kernels(Collection::serialised); }),
                 .fresh_process = true});
}

void add_orders(std::vector<Experiment>& all) {
  all.push_back({.name = "stream_order",
                 .question = "does a command start only when the one before it in its stream has ended",
                 .said = Said::yes,
                 .claim = "an operation does not commence before the previous one of its stream has fully completed",
                 .source = kMe759Overview,
                 .trial = ON_DEVICE([](Stage& stage) {
                   const Spin first = stage.spin(stage.a());
                   const Spin second = stage.spin(stage.a(), Stage::kShort);
                   stage.finish();
                   const Trial trial{second.start() >= first.end(), seconds_from(first.end(), second.start())};
                   stage.clear();
                   return trial;
                 })});
  const auto add_held = [&all](const std::string& name, const std::string& question, Said said,
                               const std::string& claim, const std::string& source,
                               [[maybe_unused]] const Action& behind, [[maybe_unused]] const Action& in_b,
                               bool one_connection) {
    Experiment experiment;
    experiment.name = name;
    experiment.question = question;
    experiment.said = said;
    experiment.claim = claim;
    experiment.source = source;
    if (one_connection) {
      experiment.environment = {{"CUDA_DEVICE_MAX_CONNECTIONS", "1"}};
      experiment.fresh_process = true;
    }
    experiment.trial = ON_DEVICE([=](Stage& stage) {
      const Spin first = stage.spin(stage.a());
      first.wait_until_started();
      behind(stage);
      in_b(stage);
      const Spin second = stage.spin(stage.b(), Stage::kShort);
      stage.finish();
      const Trial trial{second.start() >= first.end(), seconds_from(first.start(), second.start())};
      stage.clear();
      return trial;
    });
    all.push_back(std::move(experiment));
  };
  const Action kernel_behind = ON_DEVICE([](Stage& stage) { stage.spin(stage.a(), Stage::kShort); });
  const Action nothing = ON_DEVICE([](Stage&) {});
  const Action up_behind = ON_DEVICE([](Stage& stage) {
    done(cudaMemcpyAsync(stage.device(), stage.pinned(), Stage::kLarge, cudaMemcpyHostToDevice, stage.a()));
  });
  const Action down_behind = ON_DEVICE([](Stage& stage) {
    done(cudaMemcpyAsync(stage.pinned(), stage.device(), Stage::kLarge, cudaMemcpyDeviceToHost, stage.a()));
  });
  const Action up_in_b = ON_DEVICE([](Stage& stage) {
    done(cudaMemcpyAsync(stage.other_device(), stage.pinned(), Stage::kLarge, cudaMemcpyHostToDevice, stage.b()));
  });
  const std::string queue =
      "compute capability up to 3.0: what depends on a kernel waits for the queue of blocks to "
      "empty, and holds back all launches until it starts";
  const std::string connection = " with CUDA_DEVICE_MAX_CONNECTIONS=1";
  const std::string kernel_question = "does a kernel that waits for its stream hold back a kernel of another stream";
  const std::string copy_question = "does a copy that waits for its stream hold back a kernel of another stream";
  add_held("copy_beside_kernel", "does a kernel hold up a copy of another stream, and what follows it there", Said::no,
           "with asyncEngineCount > 0, copies from pinned memory run beside kernels", kRussian + "Copying and a kernel",
           nothing, up_in_b, false);
  add_held("kernel_behind_kernel", kernel_question, Said::no, "since Hyper-Q the order of launches needs no care",
           kMarkidis + ", Hyper-Q", kernel_behind, nothing, false);
  add_held("kernel_behind_kernel_one_connection", kernel_question + connection, Said::yes, queue, kRussianQueue,
           kernel_behind, nothing, true);
  add_held("copy_behind_kernel", copy_question, Said::no, "since Hyper-Q the order of launches needs no care",
           kMarkidis + ", Hyper-Q", down_behind, nothing, false);
  add_held("copy_behind_kernel_one_connection", copy_question + connection, Said::yes, queue, kRussianQueue,
           down_behind, nothing, true);
  add_held("opposite_copies",
           "does a copy to the host that waits for its stream hold back a copy to the device elsewhere", Said::yes,
           "with one copy engine, a copy blocks all copies the other way that are issued after it",
           kRussian + "No concurrent copies", down_behind, up_in_b, false);
  add_held("equal_copies", "does a copy that waits for its stream hold back a copy of another stream, the same way",
           Said::yes, "each engine runs its tasks in the order in which they were issued", kMarkidis, up_behind,
           up_in_b, false);
}

void add_destruction(std::vector<Experiment>& all) {
  [[maybe_unused]] const auto destroy = ON_DEVICE([](Stage& stage) {
    cudaStream_t stream{};
    done(cudaStreamCreate(&stream));
    const Spin spin = stage.spin(stream);
    spin.wait_until_started();
    const double seconds = host_seconds([&] { done(cudaStreamDestroy(stream)); });
    return std::make_pair(spin, Trial{spin.ended(), seconds});
  });
  all.push_back({.name = "stream_destroy",
                 .question = "does cudaStreamDestroy wait for the commands of its stream",
                 .said = Said::yes,
                 .claim = "waits for all preceding commands of the stream before it returns",
                 .source = kMe759CleanUp,
                 .trial = ON_DEVICE([=](Stage& stage) {
                   const Trial trial = destroy(stage).second;
                   stage.clear();
                   return trial;
                 })});
  all.push_back({.name = "stream_destroyed_at_once",
                 .question = "does what was issued to a stream complete though the stream is destroyed at once",
                 .said = Said::yes,
                 .claim = "the example destroys its streams after issuing, without synchronising",
                 .source = kDli,
                 .trial = ON_DEVICE([=](Stage& stage) {
                   const Spin spin = destroy(stage).first;
                   stage.finish();
                   const Trial trial{spin.ended(), 0};
                   stage.clear();
                   return trial;
                 })});
}

void add_waits(std::vector<Experiment>& all) {
  all.push_back({.name = "stream_synchronize_elsewhere",
                 .question = "does a kernel in another stream still run when cudaStreamSynchronize returns",
                 .said = Said::yes,
                 .claim = "synchronises with one stream and lets the others continue",
                 .source = kMe759Synchronization,
                 .trial = ON_DEVICE([](Stage& stage) {
                   const Spin other = stage.spin(stage.b(), 3 * stage.spin_seconds);
                   const Spin own = stage.spin(stage.a());
                   own.wait_until_started();
                   const double seconds = host_seconds([&] { done(cudaStreamSynchronize(stage.a())); });
                   const Trial trial{own.ended() && !other.ended(), seconds};
                   stage.clear();
                   return trial;
                 })});
  all.push_back({.name = "event_synchronize_between",
                 .question = "does a kernel behind the event still run when cudaEventSynchronize returns",
                 .said = Said::yes,
                 .claim = "waits until the event has been reached, not for the stream",
                 .source = kTutorialEvents,
                 .trial = ON_DEVICE([](Stage& stage) {
                   stage.spin(stage.a());
                   done(cudaEventRecord(stage.event.get(), stage.a()));
                   const Spin behind = stage.spin(stage.a());
                   const double seconds = host_seconds([&] { done(cudaEventSynchronize(stage.event.get())); });
                   const Trial trial{!behind.ended(), seconds};
                   stage.clear();
                   return trial;
                 })});
  all.push_back({.name = "stream_query_tells",
                 .question = "does cudaStreamQuery tell a stream at work from one that has finished",
                 .said = Said::yes,
                 .claim = "a way to know whether all commands before it in a stream have completed",
                 .source = kMe759Synchronization,
                 .trial = ON_DEVICE([](Stage& stage) {
                   const Spin spin = stage.spin(stage.a());
                   spin.wait_until_started();
                   const bool busy = cudaStreamQuery(stage.a()) == cudaErrorNotReady;
                   cudaGetLastError();
                   stage.finish();
                   const bool idle = cudaStreamQuery(stage.a()) == cudaSuccess;
                   stage.clear();
                   return Trial{busy && idle, 0};
                 })});
}

/// What the time between two events holds besides the kernel between them.
void add_event_times(std::vector<Experiment>& all) {
  // The stream is idle when the first event is recorded, or busy with another kernel until all is issued.
  [[maybe_unused]] const auto surplus = []([[maybe_unused]] double host_delay, [[maybe_unused]] bool busy) {
    return ON_DEVICE([=](Stage& stage) {
      if (busy) stage.spin(stage.a());
      done(cudaEventRecord(stage.event.get(), stage.a()));
      host_wait(host_delay);
      const Spin kernel = stage.spin(stage.a(), 1e-3);
      done(cudaEventRecord(stage.other_event.get(), stage.a()));
      stage.finish();
      const double seconds =
          cuda::seconds_between(stage.event, stage.other_event) - seconds_from(kernel.start(), kernel.end());
      stage.clear();
      return seconds;
    });
  };
  const std::string claim = "timing by events is unaffected by the host's noise and the cost of a launch";
  [[maybe_unused]] constexpr double kDelay = 500e-6;
  [[maybe_unused]] constexpr double kLaunch = 2e-6;
  for (const bool busy : {false, true}) {
    const std::string where = busy ? "a stream that is busy until all is issued" : "an idle stream";
    const std::string suffix = busy ? "_busy" : "_idle";
    [[maybe_unused]] const auto delayed = surplus(kDelay, busy);
    [[maybe_unused]] const auto at_once = surplus(0, busy);
    all.push_back({.name = "event_times_host_delay" + suffix,
                   .question = "do event times in " + where + " hold 0.5 ms that the host dawdles before the launch",
                   .said = Said::no,
                   .claim = claim,
                   .source = kTutorialEvents,
                   .trial = ON_DEVICE([=](Stage& stage) {
                     const double seconds = delayed(stage);
                     return Trial{seconds > kDelay / 2, seconds};
                   })});
    all.push_back({.name = "event_times_launch" + suffix,
                   .question = "do event times in " + where + " exceed the kernel's own by 2 us or more",
                   .said = Said::no,
                   .claim = claim,
                   .source = kTutorialEvents,
                   .trial = ON_DEVICE([=](Stage& stage) {
                     const double seconds = at_once(stage);
                     return Trial{seconds > kLaunch, seconds};
                   })});
  }
}

/// A kernel with a block on every multiprocessor, and one that wants most of a multiprocessor's memory to be shared.
void add_carveouts(std::vector<Experiment>& all) {
  const auto beside = []([[maybe_unused]] bool same) {
    return ON_DEVICE([=](Stage& stage) {
      const Spin first = stage.spin_with(same ? Carveout::most_shared : Carveout::least_shared, stage.multiprocessors(),
                                         0, stage.a(), stage.spin_seconds);
      first.wait_until_started();
      const Spin second =
          stage.spin_with(Carveout::most_shared, 1, stage.most_shared_bytes() / 2, stage.b(), Stage::kShort);
      stage.finish();
      const Trial trial{second.start() >= first.end(), seconds_from(first.start(), second.start())};
      stage.clear();
      return trial;
    });
  };
  all.push_back({.name = "cache_configuration_everywhere",
                 .question = "does a kernel that wants another split of L1 and shared memory wait, when every "
                             "multiprocessor has a block of the first one",
                 .said = Said::yes,
                 .claim = "commands of two streams cannot run at once if the split of L1 and shared memory is switched",
                 .source = kMe759Caveats,
                 .trial = beside(false)});
  all.push_back({.name = "cache_configuration_same",
                 .question = "does it wait if the first one has the same split",
                 .said = Said::no,
                 .claim = "nothing is switched: the counterpart of the one before",
                 .source = kMe759Caveats,
                 .trial = beside(true)});
}

std::vector<Experiment> make_experiments() {
  std::vector<Experiment> all;
  add_controls(all);
  add_blocking_list(all);
  add_default_stream(all);
  add_host_copies(all);
  add_launches(all);
  add_stream_and_event_calls(all);
  add_destruction(all);
  add_waits(all);
  add_event_times(all);
  add_orders(all);
  add_carveouts(all);
  return all;
}

}  // namespace

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all = make_experiments();
  return all;
}

#if defined(__CUDACC__)
Trials run_experiment(const Experiment& experiment, int trials) {
  Trials result;
  if (experiment.prepare_process) result.why_not = experiment.prepare_process();
  if (!result.why_not.empty()) return result;
  Stage stage(experiment.non_blocking_streams ? StreamKind::non_blocking : StreamKind::blocking);
  experiment.trial(stage);  // what is loaded or allocated at first use is no part of an answer
  for (int i = 0; i < trials; ++i) {
    const Trial trial = experiment.trial(stage);
    result.yes += trial.yes ? 1 : 0;
    result.seconds.push_back(trial.seconds);
  }
  return result;
}
#endif

}  // namespace scanlab::streams
