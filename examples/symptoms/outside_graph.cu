// One step is not in the graph: the host waits for a first graph, issues the step, waits again, and launches the rest.
#include "symptom.cuh"

namespace {

void run(Run& run) {
  const int before = run.number(2, 8);
  const int after = run.number(2, 8);
  const int replays = run.size(20, 60);
  const int steps = run.number(500, 3000);
  const bool copies = run.choice(2) == 0;  // the step outside is a synchronous copy, or a kernel in another stream
  constexpr std::size_t kItems = 8192;
  Item* const items = device_items(kItems);
  Item* const seen = pinned_items(kItems);
  const cudaStream_t stream = new_stream();
  const cudaStream_t other = new_stream();
  const auto kernels = [&](int number) {
    for (int i = 0; i < number; ++i) advance<<<32, 256, 0, stream>>>(items, kItems, steps);
  };
  const auto kernel_in_other = [&] { advance<<<32, 256, 0, other>>>(items, kItems, 1); };

  if (run.slow) {
    const cudaGraphExec_t first = captured(stream, [&] { kernels(before); });
    const cudaGraphExec_t second = captured(stream, [&] { kernels(after); });
    run.time([&] {
      for (int i = 0; i < replays; ++i) {
        check(cudaGraphLaunch(first, stream));
        check(cudaStreamSynchronize(stream));
        if (copies) check(cudaMemcpy(seen, items, kItems * sizeof(Item), cudaMemcpyDeviceToHost));
        if (!copies) kernel_in_other();
        check(cudaStreamSynchronize(other));
        check(cudaGraphLaunch(second, stream));
      }
    });
  } else {
    const cudaGraphExec_t whole = captured(stream, [&] {
      kernels(before);
      wait_for(stream, other);
      if (copies) check(cudaMemcpyAsync(seen, items, kItems * sizeof(Item), cudaMemcpyDeviceToHost, other));
      if (!copies) kernel_in_other();
      wait_for(other, stream);
      kernels(after);
    });
    run.time([&] {
      for (int i = 0; i < replays; ++i) check(cudaGraphLaunch(whole, stream));
    });
  }

  const int all = run.runs() * replays * ((before + after) * steps + (copies ? 0 : 1));
  run.verify(items, kItems, advanced(0, all));
  run.verify(seen, kItems, copies ? advanced(0, all - after * steps) : 0);
}

const Registered kSymptom{"outside_graph",
                          {.symptom = "each replay of a graph waits for the host",
                           .cause = "work outside the graph",
                           .cure = "capture the step, too: its stream forks from the capture by an event, and joins it",
                           .run = run}};

}  // namespace
