// A loop until a result has converged: the host decides after each round, after every tenth, or a node of a graph does.
#include <stdexcept>

#include "harness/cuda/buffer.hpp"
#include "harness/cuda/graph.hpp"
#include "harness/cuda/launch.cuh"
#include "harness/cuda/pinned_memory.hpp"
#include "harness/cuda/spin.cuh"
#include "harness/cuda/stream.hpp"
#include "harness/features/feature.hpp"

namespace scanlab::features {
namespace {

constexpr int kRounds = 100;

#if CUDART_VERSION >= 13000
using cuda::check;

struct Loop {
  int arrived = 0;  ///< blocks, of all rounds
  int rounds = 0;
};

/// The last block to arrive ends the round, and decides whether another one follows.
__global__ void iterate(Loop* loop, unsigned long long nanoseconds, bool decides, cudaGraphConditionalHandle handle) {
  cuda::spin_for(nanoseconds);
  if (threadIdx.x != 0) return;
  const int blocks = static_cast<int>(gridDim.x);
  if (atomicAdd(&loop->arrived, 1) % blocks != blocks - 1) return;
  const int rounds = ++loop->rounds;
  if (decides) cudaGraphSetConditional(handle, rounds < kRounds ? 1 : 0);
}

Program program(double seconds, int rounds_per_decision) {
  Program all(rounds_per_decision == 0);
  const streams::Stream stream = all.new_stream();
  for (int i = 1; i <= kRounds; ++i) {
    all.kernel(stream, 132, seconds);
    if (rounds_per_decision == 0 || i % rounds_per_decision != 0) continue;
    all.copy_out(stream, sizeof(Loop));
    all.synchronize(stream);
  }
  return all;
}

/// A graph whose one node repeats a kernel while it says so.
cudaGraphExec_t conditional_graph(cudaStream_t stream, Loop* loop, unsigned long long nanoseconds) {
  cudaGraph_t graph = nullptr;
  check(cudaGraphCreate(&graph, 0), "creating a graph");
  cudaGraphConditionalHandle handle{};
  check(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault), "creating a condition");
  cudaGraphNodeParams about{};
  about.type = cudaGraphNodeTypeConditional;
  about.conditional.handle = handle;
  about.conditional.type = cudaGraphCondTypeWhile;
  about.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
  check(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &about), "adding a conditional node");
  cudaGraph_t body = about.conditional.phGraph_out[0];
  check(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal),
        "beginning a capture");
  cuda::launch(iterate, {.blocks = cuda::multiprocessors(), .threads = 256}, stream, loop, nanoseconds, true, handle);
  check(cudaStreamEndCapture(stream, &body), "capturing in a graph");
  cudaGraphExec_t ready = nullptr;
  check(cudaGraphInstantiate(&ready, graph, 0), "instantiating a graph");
  check(cudaGraphDestroy(graph), "giving a graph back");
  return ready;
}

void measure(Bench& bench) {
  const cuda::Stream stream;
  const cuda::DeviceBuffer device(sizeof(Loop));
  const HostArray host = cuda::pinned_memory(sizeof(Loop));
  auto* const seen = reinterpret_cast<Loop*>(host.get());
  for (const int microseconds : {1, 2, 5, 10, 20, 50, 100}) {
    const unsigned long long nanoseconds = 1000ULL * static_cast<unsigned>(microseconds);
    const auto clear = [&] { check(cudaMemsetAsync(device.data(), 0, sizeof(Loop), stream.get()), "clearing"); };
    const auto iterate_once = [&] {
      cuda::launch(iterate, {.blocks = cuda::multiprocessors(), .threads = 256}, stream.get(), device.as<Loop>(),
                   nanoseconds, false, cudaGraphConditionalHandle{});
    };
    const auto by_host = [&](int rounds_per_decision) {
      clear();
      do {
        for (int i = 0; i < rounds_per_decision; ++i) iterate_once();
        check(cudaMemcpyAsync(seen, device.data(), sizeof(Loop), cudaMemcpyDeviceToHost, stream.get()), "fetching");
        stream.synchronize();
      } while (seen->rounds < kRounds);
    };
    const auto time = [&](const char* way, const std::function<void()>& run, const Program& expected) {
      bench.time(way, microseconds, run, &expected);
      check(cudaMemcpy(seen, device.data(), sizeof(Loop), cudaMemcpyDeviceToHost), "fetching the rounds");
      if (seen->rounds != kRounds) throw std::runtime_error("a loop took another number of rounds");
    };
    const double seconds = 1e-6 * microseconds;
    time(
        "the host decides", [&] { by_host(1); }, program(seconds, 1));
    time(
        "the host decides every 10th round", [&] { by_host(10); }, program(seconds, 10));
    const cuda::Owned<cudaGraphExec_t, cudaGraphExecDestroy> loop(
        conditional_graph(stream.get(), device.as<Loop>(), nanoseconds));
    time(
        "conditional node",
        [&] {
          clear();
          check(cudaGraphLaunch(loop.get(), stream.get()), "replaying a graph");
        },
        program(seconds, 0));
    const cuda::ReadyGraph rounds(cuda::Graph(stream.get(), [&] {
      clear();
      for (int i = 0; i < kRounds; ++i) iterate_once();
    }));
    time(
        "graph of 100 rounds", [&] { rounds.replay(stream.get()); }, program(seconds, 0));
  }
}
#else
void measure(Bench&) {}
#endif

}  // namespace

Feature conditional_node() {
  return {
      .about = {.id = "conditional_node",
                .title = "a loop until convergence by a conditional node of a graph",
                .times = "makespan of 100 rounds",
                .parameter = "µs per round",
                .source = "CUDA C++ Programming Guide, Conditional Graph Nodes",
                .model = "a conditional node is a graph of its rounds"},
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
