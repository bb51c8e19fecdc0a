// Many small copies from pieces of pinned memory: one call each, one call for all, or packed into one copy.
#include <cstring>
#include <stdexcept>
#include <vector>

#include "harness/cuda/buffer.hpp"
#include "harness/cuda/launch.cuh"
#include "harness/cuda/pinned_memory.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/features/feature.hpp"

namespace scanlab::features {
namespace {

using cuda::check;

constexpr int kCopies = 1024;

Program program(std::int64_t bytes, int copies, bool one_call) {
  Program all(one_call);
  const streams::Stream stream = all.new_stream();
  for (int i = 0; i < copies; ++i) all.copy_in(stream, bytes);
  return all;
}

#if CUDART_VERSION >= 13000
void measure(Bench& bench) {
  constexpr std::size_t kLargest = std::size_t{256} << 10;
  const HostArray host = cuda::pinned_memory(2 * kCopies * kLargest);
  const cuda::DeviceBuffer device(2 * kCopies * kLargest);
  auto* const words = reinterpret_cast<std::uint32_t*>(host.get());
  for (std::size_t i = 0; i < 2 * kCopies * kLargest / 4; ++i) words[i] = static_cast<std::uint32_t>(i);
  const cuda::Stream stream;

  for (std::size_t bytes = 64; bytes <= kLargest; bytes *= 4) {
    std::vector<void*> to;
    std::vector<const void*> from;
    for (std::size_t i = 0; i < kCopies; ++i) {  // every second piece
      to.push_back(device.as<std::byte>() + 2 * i * bytes);
      from.push_back(host.get() + 2 * i * bytes);
    }
    const std::vector<std::size_t> sizes(kCopies, bytes);
    const auto time = [&](const char* way, const std::function<void()>& issue, const Program& expected) {
      check(cudaMemset(device.data(), 0, device.bytes()), "clearing memory");
      bench.time(way, static_cast<double>(bytes), issue, &expected);
      std::vector<std::byte> last(bytes);
      check(cudaMemcpy(last.data(), to.back(), bytes, cudaMemcpyDeviceToHost), "fetching a piece");
      if (std::memcmp(last.data(), from.back(), bytes) != 0) throw std::runtime_error("a piece was not copied");
    };
    const auto size = static_cast<std::int64_t>(bytes);
    time(
        "a call each",
        [&] {
          for (std::size_t i = 0; i < kCopies; ++i)
            check(cudaMemcpyAsync(to[i], from[i], bytes, cudaMemcpyHostToDevice, stream.get()), "copying a piece");
        },
        program(size, kCopies, false));
    time(
        "cudaMemcpyBatchAsync",
        [&] {
          std::size_t first = 0;  // the copy from which on they have these attributes
          cudaMemcpyAttributes attributes{};
          attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
          check(
              cudaMemcpyBatchAsync(to.data(), from.data(), sizes.data(), kCopies, &attributes, &first, 1, stream.get()),
              "copying a batch");
        },
        program(size, kCopies, true));
    time(
        "cudaMemcpy2DAsync",
        [&] {
          check(cudaMemcpy2DAsync(to[0], 2 * bytes, from[0], 2 * bytes, bytes, kCopies, cudaMemcpyHostToDevice,
                                  stream.get()),
                "copying pieces of one distance");
        },
        program(size * kCopies, 1, false));
    time(
        "one copy with the gaps",
        [&] {
          check(cudaMemcpyAsync(to[0], from[0], 2 * bytes * kCopies, cudaMemcpyHostToDevice, stream.get()), "copying");
        },
        program(2 * size * kCopies, 1, false));
  }
}
#else
void measure(Bench&) {}
#endif

}  // namespace

Feature batched_copies() {
  return {
      .about = {.id = "batched_copies",
                .title = "cudaMemcpyBatchAsync for many small copies to the device",
                .times = "makespan of 1024 copies in one stream",
                .parameter = "bytes per copy",
                .source = "CUDA Runtime API, cudaMemcpyBatchAsync",
                .model = "a batch is a graph of its copies; strided pieces are one copy"},
      .lacks = []() -> std::string {
#if CUDART_VERSION >= 13000
        return {};
#else
        return "this program was built with a toolkit before CUDA 13.0";
#endif
      },
      .measure = measure,
  };
}

}  // namespace scanlab::features
