// Calls that are issued while a kernel spins: how each is made, and what is done before and after.
#include <algorithm>

#include "harness/cuda/error.hpp"
#include "harness/implicit_sync/experiment.hpp"
#include "harness/implicit_sync/test_bed.hpp"

namespace scanlab::implicit_sync {

namespace {

using Action = std::function<void(TestBed&)>;

constexpr std::size_t kPinnedBytes = std::size_t{4} << 20;
constexpr std::size_t kDeviceBytes = std::size_t{64} << 20;

struct Call {
  std::string name;
  Action act;
  Action prepare = nullptr;  ///< before the kernel
  Action clean = nullptr;    ///< after everything
  std::function<std::string()> prepare_process = nullptr;
};

void done(cudaError_t error) { cuda::check(error, "an experiment's call"); }

void optionally(const Action& action, TestBed& bed) {
  if (action) action(bed);
}

/// How long the call takes on an idle device; a spin must outlast that, or its end would not mean a wait.
double seconds_alone(const Call& call, TestBed& bed) {
  optionally(call.prepare, bed);
  bed.finish();
  const double seconds = host_seconds([&] { call.act(bed); });
  bed.finish();
  optionally(call.clean, bed);
  bed.clear();
  return seconds;
}

Trial try_call(const Call& call, bool of_host, TestBed& bed) {
  bed.spin_seconds = std::clamp(4 * seconds_alone(call, bed), 2e-3, 40e-3);
  optionally(call.prepare, bed);
  bed.finish();
  const Spin first = bed.spin(bed.a());
  first.wait_until_started();
  const double seconds = host_seconds([&] { call.act(bed); });
  bool yes = first.ended();
  if (!of_host) {
    const Spin second = bed.spin(bed.b(), TestBed::kShort);
    bed.finish();
    yes = second.start() >= first.end();
  }
  bed.finish();
  optionally(call.clean, bed);
  bed.clear();
  return {yes, seconds};
}

void allocate_pinned(TestBed& bed) { done(cudaHostAlloc(&bed.scratch, kPinnedBytes, cudaHostAllocDefault)); }
void free_pinned(TestBed& bed) { done(cudaFreeHost(bed.scratch)); }
void allocate(TestBed& bed) { done(cudaMalloc(&bed.scratch, kDeviceBytes)); }
void free_device(TestBed& bed) { done(cudaFree(bed.scratch)); }
void record_event(TestBed& bed) { done(cudaEventRecord(bed.event.get(), bed.a())); }
Action cache_configuration(cudaFuncCache configuration) {
  return [configuration](TestBed&) { done(cudaDeviceSetCacheConfig(configuration)); };
}
Action default_stream_kernel(cudaStream_t stream) {
  return [stream](TestBed& bed) { bed.spin(stream, TestBed::kShort); };
}

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

std::vector<Call> all_calls() {
  std::vector<Call> all{
      {"nothing", [](TestBed&) {}},
      {"device_synchronize", [](TestBed&) { done(cudaDeviceSynchronize()); }},
      // Never freed: the runtime keeps freed memory, and would give it again without allocating any.
      {"pinned_allocation", allocate_pinned},
      {"device_allocation", allocate, nullptr, free_device},
      {"device_memset", [](TestBed& bed) { done(cudaMemset(bed.device(), 0, TestBed::kLarge)); }},
      {"device_memset_async", [](TestBed& bed) { done(cudaMemsetAsync(bed.device(), 0, TestBed::kLarge, bed.c())); }},
      {"device_copy",
       [](TestBed& bed) {
         done(cudaMemcpy(bed.device(), bed.other_device(), TestBed::kLarge, cudaMemcpyDeviceToDevice));
       }},
      {"device_copy_async",
       [](TestBed& bed) {
         done(cudaMemcpyAsync(bed.device(), bed.other_device(), TestBed::kLarge, cudaMemcpyDeviceToDevice, bed.c()));
       }},
      {"default_stream_kernel", default_stream_kernel(nullptr)},
      {"default_stream_copy_async",
       [](TestBed& bed) {
         done(cudaMemcpyAsync(bed.device(), bed.pinned(), TestBed::kLarge, cudaMemcpyHostToDevice, nullptr));
       }},
      {"cache_configuration", cache_configuration(cudaFuncCachePreferShared),
       cache_configuration(cudaFuncCachePreferL1), cache_configuration(cudaFuncCachePreferNone)},
      {"default_stream_kernel_nonblocking", default_stream_kernel(nullptr)},
      {"per_thread_default_stream_kernel", default_stream_kernel(cudaStreamPerThread)},
      {"copy_nonblocking", copy({.async = false, .up = true, .pinned = false, .large = true})},
      {"copy_64_kib_nonblocking", copy({.async = false, .up = true, .pinned = false, .large = false})},
      {"peer_copy_async",
       [](TestBed& bed) { done(cudaMemcpyPeerAsync(bed.scratch, 1, bed.device(), 0, TestBed::kLarge, bed.a())); },
       [](TestBed& bed) {
         done(cudaSetDevice(1));
         done(cudaMalloc(&bed.scratch, TestBed::kLarge));
         done(cudaSetDevice(0));
       },
       free_device, lacks_second_device},
      {"stream_query",
       [](TestBed& bed) {
         cudaStreamQuery(bed.a());
         cudaGetLastError();
       }},
      {"stream_synchronize", [](TestBed& bed) { done(cudaStreamSynchronize(bed.a())); }},
      {"stream_wait_event",
       [](TestBed& bed) {
         record_event(bed);
         done(cudaStreamWaitEvent(bed.b(), bed.event.get(), 0));
       }},
      {"stream_wait_event_elsewhere",
       [](TestBed& bed) {
         record_event(bed);
         done(cudaStreamWaitEvent(bed.c(), bed.event.get(), 0));
       }},
      {"event_record", record_event},
      {"event_synchronize",
       [](TestBed& bed) {
         record_event(bed);
         done(cudaEventSynchronize(bed.event.get()));
       }},
      {"event_elapsed_time",
       [](TestBed& bed) {
         record_event(bed);
         float milliseconds = 0;
         cudaEventElapsedTime(&milliseconds, bed.other_event.get(), bed.event.get());
         cudaGetLastError();
       }},
      {"device_free", free_device, allocate},
      {"pinned_free", free_pinned, allocate_pinned},
      {"allocation_in_stream", [](TestBed& bed) { done(cudaMallocAsync(&bed.scratch, kDeviceBytes, bed.c())); },
       nullptr,
       [](TestBed& bed) {
         done(cudaFreeAsync(bed.scratch, bed.c()));
         bed.finish();
       }},
  };
  for (const HostCopy& each : host_copies()) all.push_back({each.name(), copy(each)});
  return all;
}

}  // namespace

DeviceExperiments calls() {
  DeviceExperiments all;
  for (const Call& call : all_calls()) {
    const auto trial = [&](bool of_host) -> DeviceExperiment {
      return {[call, of_host](TestBed& bed) { return try_call(call, of_host, bed); }, call.prepare_process};
    };
    all[call.name + ".host"] = trial(true);
    all[call.name + ".streams"] = trial(false);
  }
  return all;
}

}  // namespace scanlab::implicit_sync
