// A chain of short kernels: in a stream, with programmatic dependent launch, and both as a graph.
#include <stdexcept>

#include "harness/cuda/buffer.hpp"
#include "harness/cuda/graph.hpp"
#include "harness/cuda/launch.cuh"
#include "harness/cuda/spin.cuh"
#include "harness/cuda/stream.hpp"
#include "harness/features/feature.hpp"

namespace scanlab::features {
namespace {

constexpr int kKernels = 200;

/// Each kernel counts on from the one before, so that one that begins too early is seen.
__global__ void count(int* number, int expected, unsigned long long nanoseconds) {
  cuda::wait_for_kernels_before();
  cuda::trigger_dependent_launch();  // the next may begin to wait
  cuda::spin_for(nanoseconds);
  if (blockIdx.x == 0 && threadIdx.x == 0 && *number % kKernels == expected) *number += 1;
}

Program program(double seconds, bool captured) {
  Program all(captured);
  const streams::Stream stream = all.new_stream();
  for (int i = 0; i < kKernels; ++i) all.kernel(stream, 132, seconds);
  return all;
}

void measure(Bench& bench) {
  const cuda::Stream stream;
  const cuda::DeviceBuffer number(sizeof(int));
  for (const int microseconds : {1, 2, 5, 10, 20, 50}) {
    const auto issue = [&](bool pdl) {
      for (int i = 0; i < kKernels; ++i) {
        cuda::launch(count, {.blocks = cuda::multiprocessors(), .threads = 256, .pdl = pdl}, stream.get(),
                     number.as<int>(), i, 1000ULL * static_cast<unsigned>(microseconds));
      }
    };
    const auto time = [&](const char* way, const std::function<void()>& run, const Program* expected) {
      cuda::check(cudaMemset(number.data(), 0, sizeof(int)), "clearing a number");
      int runs = 0;
      const auto counts = [&] {
        ++runs;
        run();
      };
      bench.time(way, microseconds, counts, expected);
      int counted = 0;
      cuda::check(cudaMemcpy(&counted, number.data(), sizeof(int), cudaMemcpyDeviceToHost), "fetching a number");
      if (counted != runs * kKernels) throw std::runtime_error("a kernel did not wait for the one before");
    };
    const Program in_stream = program(1e-6 * microseconds, false), in_graph = program(1e-6 * microseconds, true);
    time(
        "stream", [&] { issue(false); }, &in_stream);
    time(
        "stream, PDL", [&] { issue(true); }, nullptr);
    for (const bool pdl : {false, true}) {
      const cuda::ReadyGraph graph(cuda::Graph(stream.get(), [&] { issue(pdl); }));
      time(
          pdl ? "graph, PDL" : "graph", [&] { graph.replay(stream.get()); }, pdl ? nullptr : &in_graph);
    }
  }
}

}  // namespace

Feature dependent_launch() {
  return {
      .about = {.id = "dependent_launch",
                .title = "programmatic dependent launch in a chain of short kernels",
                .times = "makespan of 200 kernels, each of which depends on the one before",
                .parameter = "µs per kernel",
                .source = "CUDA C++ Programming Guide, Programmatic Dependent Launch and Synchronization",
                .model = "it has no programmatic dependent launch"},
      .lacks =
          [] {
            return cuda::pdl_kernels_wait() ? std::string()
                                            : "programmatic dependent launch needs compute capability 9.0";
          },
      .measure = measure,
  };
}

}  // namespace scanlab::features
