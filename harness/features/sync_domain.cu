// A kernel that fences beside one that writes to the host's memory all the while. A fence may wait for the other
// kernel's writes as well; a memory synchronization domain of their own is for writes that it need not wait for.
#include <stdexcept>
#include <string>

#include "harness/cuda/buffer.hpp"
#include "harness/cuda/launch.cuh"
#include "harness/cuda/pinned_memory.hpp"
#include "harness/cuda/spin.cuh"
#include "harness/cuda/stream.hpp"
#include "harness/features/feature.hpp"

namespace scanlab::features {
namespace {

using cuda::check;

constexpr int kFences = 50;  // of a block, one behind the other
constexpr std::size_t kSent = std::size_t{64} << 20;
constexpr unsigned long long kLimit = 100'000'000;  // nanoseconds: nothing hangs

/// Writes to the host's memory until `stop` is set.
__global__ void send(uint4* host, std::size_t n, volatile int* stop) {
  const unsigned long long begin = cuda::global_nanoseconds();
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  while (*stop == 0 && cuda::global_nanoseconds() - begin < kLimit) {
    host[i % n] = {static_cast<unsigned>(i), 0, 0, 0};
    i += threads;
  }
}

/// Each thread writes a word and fences, so many times.
__global__ void fence(int* words, int fences, bool system) {
  int* const word = words + std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (int i = 0; i < fences; ++i) {
    *word += 1;
    if (system) {
      __threadfence_system();
    } else {
      __threadfence();
    }
  }
}

__global__ void set(int* stop) { *stop = 1; }

void measure(Bench& bench) {
  const cuda::Stream sending, fencing;
  const HostArray host = cuda::pinned_memory(kSent);
  constexpr int kBlocks = 64, kThreads = 256;
  const cuda::DeviceBuffer words(kBlocks * kThreads * sizeof(int)), stop(sizeof(int));
  const cuda::Event begin, end;

  const auto run = [&](int senders, bool apart, bool system) {
    check(cudaMemset(stop.data(), 0, sizeof(int)), "clearing a flag");
    check(cudaMemset(words.data(), 0, words.bytes()), "clearing words");
    check(cudaDeviceSynchronize(), "waiting for the device");
    if (senders > 0) {
      cudaLaunchAttribute attribute{};
      attribute.id = cudaLaunchAttributeMemSyncDomain;
      attribute.val.memSyncDomain = apart ? cudaLaunchMemSyncDomainRemote : cudaLaunchMemSyncDomainDefault;
      cudaLaunchConfig_t config{};
      config.gridDim = static_cast<unsigned>(senders);
      config.blockDim = 512;
      config.stream = sending.get();
      config.attrs = &attribute;
      config.numAttrs = 1;
      check(cudaLaunchKernelEx(&config, send, reinterpret_cast<uint4*>(host.get()), kSent / sizeof(uint4),
                               stop.as<volatile int>()),
            "launching a kernel");
    }
    begin.record(fencing.get());
    cuda::launch(fence, {.blocks = kBlocks, .threads = kThreads}, fencing.get(), words.as<int>(), kFences, system);
    end.record(fencing.get());
    cuda::launch(set, {.blocks = 1, .threads = 1}, fencing.get(), stop.as<int>());
    check(cudaDeviceSynchronize(), "running kernels");
    int counted = 0;
    check(cudaMemcpy(&counted, words.data(), sizeof(int), cudaMemcpyDeviceToHost), "fetching a word");
    if (counted != kFences) throw std::runtime_error("a kernel counted wrong");
    return cuda::seconds_between(begin, end);
  };
  for (const int senders : {1, 2, 4, 8, 16, 32}) {
    for (const bool system : {true, false}) {
      const std::string fences = system ? "system fences, " : "device fences, ";
      bench.take(fences + "one domain", senders, [&] { return run(senders, false, system); });
      bench.take(fences + "writes in the remote domain", senders, [&] { return run(senders, true, system); });
      bench.take(fences + "no writes", senders, [&] { return run(0, false, system); });
    }
  }
}

}  // namespace

Feature sync_domain() {
  return {
      .about = {.id = "sync_domain",
                .title = "a memory synchronization domain for a kernel that writes to the host",
                .times = "time of a kernel of 50 fences a thread",
                .parameter = "blocks that write to the host",
                .source = "CUDA C++ Programming Guide, Memory Synchronization Domains",
                .model = "it knows no fences"},
      .lacks =
          [] {
            return cuda::device_attribute(cudaDevAttrMemSyncDomainCount) > 1
                       ? std::string()
                       : "the device has one memory synchronization domain";
          },
      .measure = measure,
  };
}

}  // namespace scanlab::features
