// Device memory between canaries, and what kernels of verification share.
#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "harness/core/variant.hpp"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/error.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/verify/guard.hpp"

namespace scanlab::verify {

inline constexpr int kThreads = 256;
inline constexpr std::int64_t kMaxBlocks = 4096;  // enough to fill any device; each thread strides over the rest

inline unsigned blocks_for(std::int64_t items) {
  return static_cast<unsigned>(std::clamp<std::int64_t>(ceil_div(items, kThreads), 1, kMaxBlocks));
}

__device__ inline std::int64_t first_index() { return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ inline std::int64_t stride() { return std::int64_t{gridDim.x} * blockDim.x; }

namespace {  // kernels belong to the file that launches them, and so does what launches them

/// Fills `words` 32-bit words.
__global__ void fill_words(std::uint32_t* to, std::int64_t words, std::uint32_t pattern) {
  for (std::int64_t i = first_index(); i < words; i += stride()) to[i] = pattern;
}

/// Lets the next kernel start, waits, and then fills the words by one block: writes that came too soon are overwritten.
__global__ void fill_words_late(std::uint32_t* to, std::int64_t words, std::uint32_t pattern) {
  constexpr long long kCycles = 100'000;  // some 50 us
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
  const long long begin = clock64();
  while (clock64() - begin < kCycles) {
  }
  for (std::int64_t i = threadIdx.x; i < words; i += blockDim.x) to[i] = pattern;
}

/// Writes the canaries before `data` and from its byte `bytes` on. One block of kGuardBytes threads.
__global__ void write_canaries(unsigned char* data, std::size_t bytes, std::uint32_t pattern) {
  const unsigned char byte = pattern_byte(pattern, threadIdx.x);
  (data - kGuardBytes)[threadIdx.x] = byte;
  (data + bytes)[threadIdx.x] = byte;
}

template <class T>
T copy_to_host(const T* device, const cuda::Stream& stream) {
  T host;
  cuda::check(cudaMemcpyAsync(&host, device, sizeof host, cudaMemcpyDeviceToHost, stream.get()), "reading a result");
  stream.synchronize();
  return host;
}

/// Device memory with a canary right before and after it, aligned to kGuardBytes but for a shift.
class GuardedDeviceBuffer {
 public:
  GuardedDeviceBuffer(Guarded role, std::size_t bytes, std::size_t shift_bytes = 0)
      : role_(role), bytes_(bytes), shift_(shift_bytes), memory_(size_for(bytes + shift_bytes)) {}

  /// Bytes on the device for a buffer of `bytes`; whole words, so that poison can be written by words.
  static std::size_t size_for(std::size_t bytes) { return (bytes + 3) / 4 * 4 + 2 * kGuardBytes; }

  unsigned char* data() const { return memory_.as<unsigned char>() + kGuardBytes + shift_; }
  void poison(cudaStream_t stream) const {
    const auto words = static_cast<std::int64_t>(memory_.bytes() / 4);
    fill_words<<<blocks_for(words), kThreads, 0, stream>>>(memory_.as<std::uint32_t>(), words, kPoison);
    cuda::check(cudaGetLastError(), "poisoning a buffer");
    guard(stream);
  }
  /// The beginning again, late: a scan whose kernel is launched early must wait for the kernels before it.
  void poison_late(cudaStream_t stream) const {
    constexpr std::size_t kMostWords = 16 * 1024;
    const std::size_t before = (4 - shift_ % 4) % 4;  // up to a whole word
    const std::size_t words = bytes_ < before ? 0 : std::min((bytes_ - before) / 4, kMostWords);
    fill_words_late<<<1, kThreads, 0, stream>>>(reinterpret_cast<std::uint32_t*>(data() + before),
                                                static_cast<std::int64_t>(words), kPoison);
    cuda::check(cudaGetLastError(), "poisoning a buffer late");
  }
  void guard(cudaStream_t stream) const {
    write_canaries<<<1, kGuardBytes, 0, stream>>>(data(), bytes_, canary(role_));
    cuda::check(cudaGetLastError(), "writing canaries");
  }

  /// Empty, or a sentence.
  std::string damage(const cuda::Stream& stream) const {
    using Guard = std::array<unsigned char, kGuardBytes>;
    const Guard before = copy_to_host(reinterpret_cast<const Guard*>(data() - kGuardBytes), stream);
    const Guard behind = copy_to_host(reinterpret_cast<const Guard*>(data() + bytes_), stream);
    return verify::damage(role_, before.data(), behind.data());
  }

 private:
  Guarded role_;
  std::size_t bytes_;
  std::size_t shift_;
  cuda::DeviceBuffer memory_;
};

}  // namespace

inline std::size_t item_bytes_of(const Problem& problem) { return item_bytes(problem.type, problem.op); }

}  // namespace scanlab::verify
