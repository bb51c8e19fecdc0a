// Calls that are issued while a kernel spins: how each is made, and what is done before and after.
#include <algorithm>

#include "harness/cuda/error.hpp"
#include "harness/implicit_sync/experiment.hpp"
#include "harness/implicit_sync/stage.hpp"

namespace scanlab::implicit_sync {

namespace {

using Action = std::function<void(Stage&)>;

constexpr std::size_t kPinnedBytes = std::size_t{1} << 20;
constexpr std::size_t kDeviceBytes = std::size_t{64} << 20;

struct Call {
  std::string name;
  Action act;
  Action prepare = nullptr;  ///< before the kernel
  Action clean = nullptr;    ///< after everything
  std::function<std::string()> prepare_process = nullptr;
};

void done(cudaError_t error) { cuda::check(error, "an experiment's call"); }

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

Trial try_call(const Call& call, bool of_host, Stage& stage) {
  stage.spin_seconds = std::clamp(4 * seconds_alone(call, stage), 2e-3, 40e-3);
  optionally(call.prepare, stage);
  stage.finish();
  const Spin first = stage.spin(stage.a());
  first.wait_until_started();
  const double seconds = host_seconds([&] { call.act(stage); });
  bool yes = first.ended();
  if (!of_host) {
    const Spin second = stage.spin(stage.b(), Stage::kShort);
    stage.finish();
    yes = second.start() >= first.end();
  }
  stage.finish();
  optionally(call.clean, stage);
  stage.clear();
  return {yes, seconds};
}

void allocate_pinned(Stage& stage) { done(cudaHostAlloc(&stage.scratch, kPinnedBytes, cudaHostAllocDefault)); }
void free_pinned(Stage& stage) { done(cudaFreeHost(stage.scratch)); }
void allocate(Stage& stage) { done(cudaMalloc(&stage.scratch, kDeviceBytes)); }
void free_device(Stage& stage) { done(cudaFree(stage.scratch)); }
void record_event(Stage& stage) { done(cudaEventRecord(stage.event.get(), stage.a())); }
Action cache_configuration(cudaFuncCache configuration) {
  return [configuration](Stage&) { done(cudaDeviceSetCacheConfig(configuration)); };
}
Action default_stream_kernel(cudaStream_t stream) {
  return [stream](Stage& stage) { stage.spin(stream, Stage::kShort); };
}

Action copy(const HostCopy& copy) {
  return [copy](Stage& stage) {
    void* const host = copy.pinned ? stage.pinned() : stage.pageable();
    void* const to = copy.up ? stage.device() : host;
    const void* const from = copy.up ? host : stage.device();
    const std::size_t bytes = copy.large ? Stage::kLarge : Stage::kSmall;
    const cudaMemcpyKind kind = copy.up ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    done(copy.async ? cudaMemcpyAsync(to, from, bytes, kind, stage.a()) : cudaMemcpy(to, from, bytes, kind));
  };
}

std::string lacks_second_device() {
  int devices = 0;
  return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 1 ? "" : "it needs a second device";
}

std::vector<Call> all_calls() {
  std::vector<Call> all{
      {"nothing", [](Stage&) {}},
      {"device_synchronize", [](Stage&) { done(cudaDeviceSynchronize()); }},
      {"pinned_allocation", allocate_pinned, nullptr, free_pinned},
      {"device_allocation", allocate, nullptr, free_device},
      {"device_memset", [](Stage& stage) { done(cudaMemset(stage.device(), 0, Stage::kLarge)); }},
      {"device_memset_async", [](Stage& stage) { done(cudaMemsetAsync(stage.device(), 0, Stage::kLarge, stage.c())); }},
      {"device_copy",
       [](Stage& stage) {
         done(cudaMemcpy(stage.device(), stage.other_device(), Stage::kLarge, cudaMemcpyDeviceToDevice));
       }},
      {"device_copy_async",
       [](Stage& stage) {
         done(
             cudaMemcpyAsync(stage.device(), stage.other_device(), Stage::kLarge, cudaMemcpyDeviceToDevice, stage.c()));
       }},
      {"default_stream_kernel", default_stream_kernel(nullptr)},
      {"default_stream_copy_async",
       [](Stage& stage) {
         done(cudaMemcpyAsync(stage.device(), stage.pinned(), Stage::kLarge, cudaMemcpyHostToDevice, nullptr));
       }},
      {"cache_configuration", cache_configuration(cudaFuncCachePreferShared),
       cache_configuration(cudaFuncCachePreferL1), cache_configuration(cudaFuncCachePreferNone)},
      {"default_stream_kernel_nonblocking", default_stream_kernel(nullptr)},
      {"per_thread_default_stream_kernel", default_stream_kernel(cudaStreamPerThread)},
      {"copy_nonblocking", copy({.async = false, .up = true, .pinned = false, .large = true})},
      {"peer_copy_async",
       [](Stage& stage) { done(cudaMemcpyPeerAsync(stage.scratch, 1, stage.device(), 0, Stage::kLarge, stage.a())); },
       [](Stage& stage) {
         done(cudaSetDevice(1));
         done(cudaMalloc(&stage.scratch, Stage::kLarge));
         done(cudaSetDevice(0));
       },
       free_device, lacks_second_device},
      {"stream_query",
       [](Stage& stage) {
         cudaStreamQuery(stage.a());
         cudaGetLastError();
       }},
      {"stream_synchronize", [](Stage& stage) { done(cudaStreamSynchronize(stage.a())); }},
      {"stream_wait_event",
       [](Stage& stage) {
         record_event(stage);
         done(cudaStreamWaitEvent(stage.b(), stage.event.get(), 0));
       }},
      {"stream_wait_event_elsewhere",
       [](Stage& stage) {
         record_event(stage);
         done(cudaStreamWaitEvent(stage.c(), stage.event.get(), 0));
       }},
      {"event_record", record_event},
      {"event_synchronize",
       [](Stage& stage) {
         record_event(stage);
         done(cudaEventSynchronize(stage.event.get()));
       }},
      {"event_elapsed_time",
       [](Stage& stage) {
         record_event(stage);
         float milliseconds = 0;
         cudaEventElapsedTime(&milliseconds, stage.other_event.get(), stage.event.get());
         cudaGetLastError();
       }},
      {"device_free", free_device, allocate},
      {"pinned_free", free_pinned, allocate_pinned},
      {"allocation_in_stream", [](Stage& stage) { done(cudaMallocAsync(&stage.scratch, kDeviceBytes, stage.c())); },
       nullptr,
       [](Stage& stage) {
         done(cudaFreeAsync(stage.scratch, stage.c()));
         stage.finish();
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
      return {[call, of_host](Stage& stage) { return try_call(call, of_host, stage); }, call.prepare_process};
    };
    all[call.name + ".host"] = trial(true);
    all[call.name + ".streams"] = trial(false);
  }
  return all;
}

}  // namespace scanlab::implicit_sync
