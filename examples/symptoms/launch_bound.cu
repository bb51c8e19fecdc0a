// Short kernels, each done before the host issues the next.
#include <chrono>

#include "symptom.cuh"

namespace {

/// Takes as long as a framework does on the host for each launch.
void prepare(int microseconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds);
  while (std::chrono::steady_clock::now() < until) {
  }
}

void run(Run& run) {
  const int kernels = run.size(500, 2500);
  const int steps = run.number(1, 200);
  const int microseconds = run.number(2, 8);
  constexpr std::size_t kItems = 1024;
  Item* const items = device_items(kItems);
  const cudaStream_t stream = new_stream();
  const auto issue = [&] {
    for (int i = 0; i < kernels; ++i) {
      prepare(microseconds);
      advance<<<4, 256, 0, stream>>>(items, kItems, steps);
    }
  };

  if (run.slow) {
    run.time(issue);
  } else {
    const cudaGraphExec_t graph = captured(stream, issue);
    run.time([&] { check(cudaGraphLaunch(graph, stream)); });
  }

  run.verify(items, kItems, advanced(0, run.runs() * kernels * steps));
}

const Registered kSymptom{"launch_bound",
                          {.symptom = "the device is idle between short kernels",
                           .cause = "work too small for its launch",
                           .cure = "one graph, or larger kernels",
                           .run = run}};

}  // namespace
