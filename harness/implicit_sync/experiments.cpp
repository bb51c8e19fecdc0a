// The statements of the sources. How each is tried is device code: calls.cu and trials.cu.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>

#include "harness/implicit_sync/experiment.hpp"
#include "harness/selection/words.hpp"

namespace scanlab::implicit_sync {

namespace {

constexpr auto kNo = Expected::no;
constexpr auto kYes = Expected::yes;
constexpr auto kSilent = Expected::nothing;
constexpr std::nullopt_t kNotAsked = std::nullopt;

// The sources, page by page.
using Sources = std::vector<Source>;
const char* const kMe759 = "ME759, University of Wisconsin-Madison, lecture of 16 October 2013";
const Sources kMe759Asynchronous{{kMe759, "Asynchronous Concurrent Execution"}};
const Sources kMe759Transfers{{kMe759, "Host-Device Data Transfer Issues"}};
const Sources kMe759Overview{{kMe759, "CUDA Streams: Overview"}};
const Sources kMe759CleanUp{{kMe759, "CUDA Streams: Clean Up Phase"}};
const Sources kMe759Caveats{{kMe759, "CUDA Streams: Caveats"}};
const Sources kMe759Synchronization{{kMe759, "CUDA Streams: Synchronization Aspects"}};
const Sources kDli{{"NVIDIA DLI course C-AC-04", "Considerations for Copy/Compute Overlap"}};
const char* const kRussian = "CUDA course in Russian, part 7 (cudaStream)";
const Sources kRussianStreams{{kRussian, "cudaStream"}};
const Sources kRussianControl{{kRussian, "When control returns to the host thread"}};
const Sources kRussianQueue{{kRussian, "The only hardware queue"}};
const Sources kRussianCopies{{kRussian, "Copying and a kernel"}};
const Sources kRussianOneEngine{{kRussian, "No concurrent copies"}};
const char* const kMarkidis = "S. Markidis, Optimizing Host-Device Data Communication III";
const Sources kMarkidisHyperQ{{kMarkidis, "Hyper-Q"}};
const Sources kMarkidisEngines{{kMarkidis, "Which version performs better?"}};
const char* const kTutorial = "CUDA Programming Series, tutorial 08, Streams & Async Execution";
const Sources kTutorialDefault{{kTutorial, "The Default Stream Trap"}};
const Sources kTutorialStreams{{kTutorial, "CUDA Streams"}};
const Sources kTutorialEvents{{kTutorial, "CUDA Events"}};
const Sources kTutorialNull{{kTutorial, "The Null Stream"}};

Sources joined(std::initializer_list<Sources> parts) {
  Sources all;
  for (const Sources& each : parts) all.insert(all.end(), each.begin(), each.end());
  return all;
}

/// A call that is issued while a kernel spins, and what is said of it.
struct Call {
  std::string name;
  std::string call;
  std::optional<Expected> host;     ///< does it block the host until the kernel before it ends
  std::optional<Expected> streams;  ///< does it serialise kernels of two streams
  std::string claim;
  Sources sources;
  bool non_blocking_streams = false;
};

void add(std::vector<Experiment>& all, const std::vector<Call>& calls) {
  const auto add_one = [&](const Call& call, const char* suffix, const char* verb, const char* object,
                           Expected expected) {
    all.push_back({.name = call.name + suffix,
                   .subject = call.call,
                   .verb = verb,
                   .object = object,
                   .expected = expected,
                   .claim = call.claim,
                   .sources = call.sources,
                   .non_blocking_streams = call.non_blocking_streams});
  };
  for (const Call& call : calls) {
    if (call.host) add_one(call, ".host", "blocks", "the host", *call.host);
    if (call.streams) add_one(call, ".streams", "serialises", "kernels of two streams", *call.streams);
  }
}

const std::string kListed = "commands of two streams cannot run at once if the host issues between them ";

std::vector<Call> controls() {
  return {
      {"nothing", "nothing in between", kNotAsked, kNo,
       "commands of different streams, neither of them the default one, may run at once (a control)", kRussianStreams},
      {"device_synchronize", "cudaDeviceSynchronize", kYes, kYes,
       "halts the host until all commands before it in all streams have completed (a control)", kMe759Synchronization},
  };
}

/// Calls that must not come between two commands that are to run at once.
std::vector<Call> blocking_list() {
  return {
      {"pinned_allocation", "cudaHostAlloc (4 MiB)", kSilent, kYes, kListed + "an allocation of page-locked memory",
       kMe759Caveats},
      {"device_allocation", "cudaMalloc (64 MiB)", kSilent, kYes, kListed + "an allocation of device memory",
       kMe759Caveats},
      {"device_memset", "cudaMemset", kSilent, kYes, kListed + "a device memory set", kMe759Caveats},
      {"device_memset_async", "cudaMemsetAsync in a third stream", kSilent, kYes,
       kListed + "a device memory set (it makes no difference between the two forms)", kMe759Caveats},
      {"device_copy", "cudaMemcpy within the device", kNo, kYes,
       "such copies are asynchronous; yet " + kListed + "one of them", joined({kMe759Asynchronous, kMe759Caveats})},
      {"device_copy_async", "cudaMemcpyAsync within the device in a third stream", kNo, kYes,
       "asynchronous; yet " + kListed + "a copy within the device", joined({kMe759Asynchronous, kMe759Caveats})},
      {"default_stream_kernel", "a kernel in the default stream", kNo, kYes,
       kListed + "any command to stream 0; launches are asynchronous", kMe759Caveats},
      {"default_stream_copy_async", "cudaMemcpyAsync from pinned memory in the default stream", kNo, kYes,
       kListed + "any command to stream 0; functions named Async are asynchronous", kMe759Caveats},
      {"cache_configuration", "cudaDeviceSetCacheConfig (more L1, then more shared memory)", kSilent, kYes,
       kListed + "a switch between configurations of L1 and shared memory", kMe759Caveats},
  };
}

/// Calls of the default stream's kin, and streams that do not care.
std::vector<Call> default_stream() {
  return {
      {"default_stream_kernel_nonblocking", "a kernel in the default stream, the others being non-blocking", kNo, kNo,
       "non-blocking streams do not synchronise with the default stream", kTutorialNull, true},
      {"per_thread_default_stream_kernel", "a kernel in the per-thread default stream", kNo, kNo,
       "the default stream of a thread behaves as a regular stream", kTutorialNull},
      {"copy_nonblocking", "cudaMemcpy to the device, the streams being non-blocking", kYes, kYes,
       "before a copy that is not asynchronous, cudaDeviceSynchronize is called implicitly", kRussianControl, true},
      {"copy_64_kib_nonblocking", "cudaMemcpy to the device, 64 KiB, the streams being non-blocking", kNo, kNo,
       "copies of 64 KB or less are asynchronous; non-blocking streams do not synchronise with the default stream",
       joined({kMe759Asynchronous, kTutorialNull}), true},
  };
}

Call described(const HostCopy& copy) {
  const std::string words = std::string(copy.up ? "to the device from " : "to the host in ") +
                            (copy.pinned ? "pinned" : "pageable") + " memory, " + (copy.large ? "4 MiB" : "64 KiB");
  if (!copy.async) {
    return {copy.name(),
            "cudaMemcpy " + words,
            copy.large ? kYes : kNo,
            kYes,
            copy.large ? "cudaMemcpy returns when the transfer is complete; it is a command to stream 0"
                       : "copies of 64 KB or less are asynchronous; a command to stream 0",
            copy.large ? joined({kMe759Transfers, kTutorialDefault, kMe759Caveats})
                       : joined({kMe759Asynchronous, kMe759Caveats})};
  }
  const Expected expected = copy.pinned ? kNo : kYes;
  return {copy.name(),
          "cudaMemcpyAsync behind the kernel, " + words,
          expected,
          expected,
          copy.pinned ? "from pinned memory it returns at once, and overlaps with kernels of other streams"
                      : "without pinned memory it silently falls back to synchronous behaviour (ME759: functions named "
                        "Async are asynchronous)",
          kTutorialStreams};
}

std::vector<Call> copies() {
  std::vector<Call> all;
  for (const HostCopy& copy : host_copies()) all.push_back(described(copy));
  all.push_back({"peer_copy_async", "cudaMemcpyPeerAsync to another device, behind the kernel", kNo, kSilent,
                 "copies by functions named Async are asynchronous", kMe759Asynchronous});
  return all;
}

/// Stream and event calls, and what programs do besides.
std::vector<Call> stream_and_event_calls() {
  return {
      {"stream_query", "cudaStreamQuery", kNo, kSilent,
       "a way to know whether all commands before it in a stream have completed", kMe759Synchronization},
      {"stream_synchronize", "cudaStreamSynchronize", kYes, kNotAsked,
       "halts the host until all commands before it in this stream have completed", kMe759Synchronization},
      {"stream_wait_event", "cudaStreamWaitEvent, for the stream that waits", kNo, kYes,
       "halts what is added to this stream until the event has completed, but not the host",
       joined({kMe759Synchronization, kTutorialEvents})},
      {"stream_wait_event_elsewhere", "cudaStreamWaitEvent, for other streams", kNotAsked, kNo,
       "blocks only its stream: the host can keep issuing work to others", kTutorialEvents},
      {"event_record", "cudaEventRecord", kNo, kNo, "a lightweight marker in a stream", kTutorialEvents},
      {"event_synchronize", "cudaEventSynchronize", kYes, kNotAsked, "blocks the host until the event has been reached",
       kTutorialEvents},
      {"event_elapsed_time", "cudaEventElapsedTime of an event that has not completed", kSilent, kSilent,
       "measures the time between two events; what it does before they complete is not said", kTutorialEvents},
      {"device_free", "cudaFree (64 MiB)", kSilent, kSilent, "not said", {}},
      {"pinned_free", "cudaFreeHost (1 MiB)", kSilent, kSilent, "not said", {}},
      {"allocation_in_stream", "cudaMallocAsync (64 MiB) in a third stream", kSilent, kSilent, "not said", {}},
  };
}

// ------------------------------------------------------------------------------- statements with trials of their own

std::vector<Experiment> launches() {
  const std::string end = "the end of its kernel";
  const std::string profiled = "under a debugger or profiler all launches are synchronous";
  return {
      {"kernel_launch", "a kernel launch", "waits for", end, kNo, "kernel launches are asynchronous",
       kMe759Asynchronous},
      {.name = "launch_blocking",
       .subject = "a kernel launch with CUDA_LAUNCH_BLOCKING=1",
       .verb = "waits for",
       .object = end,
       .expected = kYes,
       .claim = "what a debugger makes of launches (the variable is its everyday form)",
       .sources = kMe759Asynchronous,
       .environment = {{"CUDA_LAUNCH_BLOCKING", "1"}},
       .fresh_process = true},
      {.name = "profiled_launch",
       .subject = "a kernel launch under a profiler that collects concurrent kernels (CUPTI)",
       .verb = "waits for",
       .object = end,
       .expected = kYes,
       .claim = profiled,
       .sources = kMe759Asynchronous,
       .fresh_process = true},
      {.name = "profiled_launch_serialised",
       .subject = "a kernel launch under a profiler that collects kernels one by one (CUPTI)",
       .verb = "waits for",
       .object = end,
       .expected = kYes,
       .claim = profiled,
       .sources = kMe759Asynchronous,
       .fresh_process = true},
  };
}

std::vector<Experiment> orders() {
  const std::string hyper_q = "since Hyper-Q the order of launches needs no care";
  const std::string queue =
      "compute capability up to 3.0: what depends on a kernel waits for the queue of blocks to "
      "empty, and holds back all launches until it starts";
  const std::string waiting_kernel = "a kernel that waits for its stream";
  const std::string waiting_copy = "a copy that waits for its stream";
  const std::string other = "a kernel of another stream";
  const auto one_connection = [&](const char* name, const std::string& waiting) {
    return Experiment{.name = name,
                      .subject = "with CUDA_DEVICE_MAX_CONNECTIONS=1, " + waiting,
                      .verb = "delays",
                      .object = other,
                      .expected = kYes,
                      .claim = queue,
                      .sources = kRussianQueue,
                      .environment = {{"CUDA_DEVICE_MAX_CONNECTIONS", "1"}},
                      .fresh_process = true};
  };
  return {
      {"stream_order", "a command", "waits for", "the end of the one before it in its stream", kYes,
       "an operation does not commence before the previous one of its stream has fully completed", kMe759Overview},
      {"copy_beside_kernel", "a kernel", "delays", "a copy of another stream and what follows it there", kNo,
       "with asyncEngineCount > 0, copies from pinned memory run beside kernels", kRussianCopies},
      {"kernel_behind_kernel", waiting_kernel, "delays", other, kNo, hyper_q, kMarkidisHyperQ},
      one_connection("kernel_behind_kernel_one_connection", waiting_kernel),
      {"copy_behind_kernel", waiting_copy, "delays", other, kNo, hyper_q, kMarkidisHyperQ},
      one_connection("copy_behind_kernel_one_connection", waiting_copy),
      {"opposite_copies", "a copy to the host that waits for its stream", "delays",
       "a copy to the device in another stream", kYes,
       "with one copy engine, a copy blocks all copies the other way that are issued after it", kRussianOneEngine},
      {"equal_copies", waiting_copy, "delays", "a copy the same way in another stream", kYes,
       "each engine runs its tasks in the order in which they were issued", kMarkidisEngines},
  };
}

std::vector<Experiment> waits() {
  return {
      {"stream_destroy", "cudaStreamDestroy", "waits for", "the commands of its stream", kYes,
       "waits for all preceding commands of the stream before it returns", kMe759CleanUp},
      {"stream_destroyed_at_once", "a stream that is destroyed at once", "completes", "what was issued to it", kYes,
       "the example destroys its streams after issuing, without synchronising", kDli},
      {"stream_synchronize_elsewhere", "cudaStreamSynchronize", "returns before",
       "the end of a kernel in another stream", kYes, "synchronises with one stream and lets the others continue",
       kMe759Synchronization},
      {"event_synchronize_between", "cudaEventSynchronize", "returns before", "the end of a kernel behind the event",
       kYes, "waits until the event has been reached, not for the stream", kTutorialEvents},
      {"stream_query_tells", "cudaStreamQuery", "tells", "a stream at work from one that has finished", kYes,
       "a way to know whether all commands before it in a stream have completed", kMe759Synchronization},
  };
}

/// Statements on what the time between two events holds besides the kernel between them.
std::vector<Experiment> event_times() {
  const std::string claim = "timing by events is unaffected by the host's noise and the cost of a launch";
  std::vector<Experiment> all;
  for (const bool busy : {false, true}) {
    const std::string time = std::string("the time between two events in ") +
                             (busy ? "a stream that is busy until all is issued" : "an idle stream");
    const std::string suffix = busy ? "_busy" : "_idle";
    all.push_back({"event_times_host_delay" + suffix, time, "includes", "0.5 ms that the host waits before the launch",
                   kNo, claim, kTutorialEvents});
    all.push_back({"event_times_launch" + suffix, time, "exceeds", "the kernel's own by 2 us or more", kNo, claim,
                   kTutorialEvents});
  }
  return all;
}

/// A kernel with a block on every multiprocessor, and one that wants most of a multiprocessor's memory to be shared.
std::vector<Experiment> carveouts() {
  const std::string everywhere = "a kernel with a block on every multiprocessor";
  return {
      {"cache_configuration_everywhere", everywhere, "delays",
       "a kernel that wants another split of L1 and shared memory", kYes,
       "commands of two streams cannot run at once if the split of L1 and shared memory is switched", kMe759Caveats},
      {"cache_configuration_same", everywhere, "delays", "a kernel that wants the same split of L1 and shared memory",
       kNo, "nothing is switched: the counterpart of the one before", kMe759Caveats},
  };
}

std::vector<Experiment> make_experiments() {
  std::vector<Experiment> all;
  for (const auto& calls : {controls(), blocking_list(), default_stream(), copies(), stream_and_event_calls()}) {
    add(all, calls);
  }
  for (const auto& more : {launches(), waits(), event_times(), orders(), carveouts()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all = make_experiments();
  return all;
}

std::string Experiment::describe_sources() const {
  if (sources.empty()) return "none of the sources speaks of it; programs do it";
  std::string all;
  for (const auto& [work, place] : sources) all += fmt::format("{}{}, {}", all.empty() ? "" : "; ", work, place);
  return all;
}

bool is_control(const Experiment& experiment) {
  constexpr std::array kControls{"nothing.streams", "device_synchronize.host", "device_synchronize.streams"};
  return std::ranges::find(kControls, experiment.name) != kControls.end();
}

std::string HostCopy::name() const {
  return std::string(async ? "copy_async" : "copy") + (up ? "_to_device_" : "_to_host_") +
         (pinned ? "pinned" : "pageable") + (large ? "_large" : "_64_kib");
}

std::vector<HostCopy> host_copies() {
  std::vector<HostCopy> all;
  for (const bool up : {true, false}) {
    for (const bool pinned : {true, false}) {
      for (const bool large : {true, false}) {
        for (const bool async : {false, true}) all.push_back({async, up, pinned, large});
      }
    }
  }
  return all;
}

std::vector<const Experiment*> select(const std::vector<std::string>& globs) {
  std::vector<const Experiment*> chosen;
  std::vector<std::string> names;
  for (const Experiment& each : experiments()) {
    names.push_back(each.name);
    const auto fits_this = [&](const std::string& glob) { return fits(glob, each.name); };
    if (globs.empty() || is_control(each) || std::ranges::any_of(globs, fits_this)) chosen.push_back(&each);
  }
  for (const std::string& glob : globs) {
    const auto fits_it = [&](const std::string& name) { return fits(glob, name); };
    if (std::ranges::none_of(names, fits_it)) unknown("experiment", glob, names);
  }
  return chosen;
}

}  // namespace scanlab::implicit_sync
