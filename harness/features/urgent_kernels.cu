// Urgent kernels of few blocks, as a communication library launches them, beside a kernel whose blocks wait for room:
// in streams of one priority, in a stream of the highest, and in a green context that has some multiprocessors to
// itself.
#include <cuda.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/cuda/buffer.hpp"
#include "harness/cuda/launch.cuh"
#include "harness/cuda/spin.cuh"
#include "harness/cuda/stream.hpp"
#include "harness/features/feature.hpp"
#include "harness/host/clock.hpp"

namespace scanlab::features {
namespace {

using cuda::check;

constexpr int kWaves = 20;  // of the long kernel
constexpr int kUrgent = 10;
constexpr int kUrgentBlocks = 8;
constexpr double kUrgentSeconds = 20e-6;
constexpr unsigned kApart = 8;  // multiprocessors of the green context for urgent kernels

__global__ void spin(unsigned* blocks, unsigned long long nanoseconds) {
  cuda::spin_for(nanoseconds);
  if (threadIdx.x == 0) atomicAdd(blocks, 1U);
}

/// A function of the driver of CUDA 12.5, the first with streams of green contexts; null if it is missing.
template <class Function>
Function* since_12_5(const char* name) {
  void* function = nullptr;
#if CUDART_VERSION >= 12050
  cudaDriverEntryPointQueryResult result{};
  cudaGetDriverEntryPointByVersion(name, &function, 12050, cudaEnableDefault, &result);
#endif
  return reinterpret_cast<Function*>(function);
}

/// Two green contexts, which share the multiprocessors between them.
class GreenContexts {
 public:
  GreenContexts() {
    CUdevResource all{}, first{}, rest{};
    unsigned groups = 1;
    call("cuDeviceGetDevResource", &cuDeviceGetDevResource, 0, &all, CU_DEV_RESOURCE_TYPE_SM);
    call("cuDevSmResourceSplitByCount", &cuDevSmResourceSplitByCount, &first, &groups, &all, &rest, 0U, kApart);
    multiprocessors = {static_cast<int>(first.sm.smCount), static_cast<int>(rest.sm.smCount)};
    urgent = new_stream(first, contexts_[0]);
    other = new_stream(rest, contexts_[1]);
  }
  ~GreenContexts() {
    cudaStreamDestroy(urgent);
    cudaStreamDestroy(other);
    for (CUgreenCtx context : contexts_) since_12_5<decltype(cuGreenCtxDestroy)>("cuGreenCtxDestroy")(context);
  }
  GreenContexts(const GreenContexts&) = delete;
  GreenContexts& operator=(const GreenContexts&) = delete;

  std::vector<int> multiprocessors;  ///< of each
  cudaStream_t urgent = nullptr, other = nullptr;

 private:
  template <class Function, class... Arguments>
  static void call(const char* name, Function*, Arguments... arguments) {
    auto* const function = since_12_5<Function>(name);
    if (function == nullptr || function(arguments...) != CUDA_SUCCESS)
      throw std::runtime_error(std::string(name) + " failed");
  }
  static cudaStream_t new_stream(CUdevResource& resource, CUgreenCtx& context) {
    CUdevResourceDesc description = nullptr;
    call("cuDevResourceGenerateDesc", &cuDevResourceGenerateDesc, &description, &resource, 1U);
    call("cuGreenCtxCreate", &cuGreenCtxCreate, &context, description, 0,
         static_cast<unsigned>(CU_GREEN_CTX_DEFAULT_STREAM));
    CUstream stream = nullptr;
    call("cuGreenCtxStreamCreate", &cuGreenCtxStreamCreate, &stream, context,
         static_cast<unsigned>(CU_STREAM_NON_BLOCKING), 0);
    return stream;
  }

  CUgreenCtx contexts_[2]{};
};

cudaStream_t with_priority(int priority) {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority), "creating a stream");
  return stream;
}

/// The same for the engine model.
struct Modelled {
  Modelled(int priority, const std::vector<int>& partitions, std::int64_t long_blocks, double seconds)
      : all(false, partitions),
        long_stream(all.new_stream(0, partitions.empty() ? 0 : 1)),
        urgent(all.new_stream(priority, 0)) {
    all.kernel(long_stream, long_blocks, seconds);
    for (int i = 0; i < kUrgent; ++i) all.kernel(urgent, kUrgentBlocks, kUrgentSeconds);
  }
  Program all;
  streams::Stream long_stream, urgent;
};

/// whole: times all kernels, else the urgent ones.
void measure(Bench& bench, bool whole) {
  const cuda::DeviceBuffer blocks(2 * sizeof(unsigned));
  const GreenContexts green;
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "asking for priorities");
  const cuda::Owned<cudaStream_t, cudaStreamDestroy> ordinary(with_priority(0)), same(with_priority(0)),
      high(with_priority(greatest));
  const int long_blocks = kWaves * 2 * cuda::multiprocessors();

  const auto run = [&](cudaStream_t long_stream, cudaStream_t urgent, int microseconds) {
    check(cudaMemset(blocks.data(), 0, blocks.bytes()), "clearing numbers");
    check(cudaDeviceSynchronize(), "waiting for the device");
    const auto from = Clock::now();
    cuda::launch(spin, {.blocks = long_blocks, .threads = 1024}, long_stream, blocks.as<unsigned>(),
                 1000ULL * static_cast<unsigned>(microseconds));
    const auto issued = Clock::now();
    for (int i = 0; i < kUrgent; ++i) {
      cuda::launch(spin, {.blocks = kUrgentBlocks, .threads = 1024}, urgent, blocks.as<unsigned>() + 1,
                   static_cast<unsigned long long>(1e9 * kUrgentSeconds));
    }
    check(cudaStreamSynchronize(urgent), "waiting for urgent kernels");
    const double of_urgent = std::chrono::duration<double>(Clock::now() - issued).count();
    check(cudaDeviceSynchronize(), "running kernels");
    const double all = std::chrono::duration<double>(Clock::now() - from).count();
    unsigned ran[2];
    check(cudaMemcpy(ran, blocks.data(), sizeof ran, cudaMemcpyDeviceToHost), "fetching numbers");
    if (ran[0] != static_cast<unsigned>(long_blocks) || ran[1] != kUrgent * kUrgentBlocks)
      throw std::runtime_error("some blocks did not run");
    return whole ? all : of_urgent;
  };
  for (const int microseconds : {10, 20, 50, 100, 200, 500, 1000}) {
    const auto time = [&](const char* way, cudaStream_t long_stream, cudaStream_t urgent, const Modelled& expected) {
      bench.take(
          way, microseconds, [&] { return run(long_stream, urgent, microseconds); },
          [&](const simulator::DeviceProfile& device) {
            return whole ? expected.all.seconds(device) : expected.all.seconds(device, expected.urgent);
          });
    };
    const double seconds = 1e-6 * microseconds;
    time("one priority", ordinary.get(), same.get(), {0, {}, long_blocks, seconds});
    time("highest priority", ordinary.get(), high.get(), {greatest, {}, long_blocks, seconds});
    time("green context of 8 multiprocessors", green.other, green.urgent,
         {0, green.multiprocessors, long_blocks, seconds});
  }
}

std::string lacks() {
  if (since_12_5<decltype(cuGreenCtxStreamCreate)>("cuGreenCtxStreamCreate") == nullptr)
    return "the driver has no green contexts: they need one of CUDA 12.5";
  return cuda::multiprocessors() > 2 * static_cast<int>(kApart) ? std::string() : "the device has few multiprocessors";
}

FeatureDescription about(const char* id, const char* times) {
  return {.id = id,
          .title = "priorities and green contexts for urgent kernels beside a long one",
          .times = times,
          .parameter = "µs per block of the long kernel",
          .source = "CUDA C++ Programming Guide, Stream Priorities; CUDA Driver API, Green Contexts",
          .model = "priorities, and a partition of the multiprocessors for a green context"};
}

}  // namespace

Feature urgent_kernels() {
  return {about("urgent_kernels",
                "from the launch of ten urgent kernels of 20 µs, behind the long one, until the host sees them done"),
          lacks, [](Bench& bench) { measure(bench, false); }};
}

Feature urgent_makespan() {
  return {about("urgent_makespan", "makespan of the long kernel and ten urgent ones"), lacks,
          [](Bench& bench) { measure(bench, true); }};
}

}  // namespace scanlab::features
