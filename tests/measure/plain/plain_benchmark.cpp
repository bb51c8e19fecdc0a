// A plain program of Google Benchmark, which `scanlab bench` is held against.
#include <benchmark/benchmark.h>

static void copies(benchmark::State& state) {
  for ([[maybe_unused]] const auto& run : state) state.SetIterationTime(1e-6);
  state.SetBytesProcessed(8 * state.iterations());
}
BENCHMARK(copies)->UseManualTime()->Iterations(3);
BENCHMARK_MAIN();
