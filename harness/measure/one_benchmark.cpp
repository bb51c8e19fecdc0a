#include "harness/measure/one_benchmark.hpp"

#include <utility>
#include <vector>

namespace scanlab::measure {

namespace {

/// Keeps the runs it is told of, less the suffixes that name what we fixed.
class Keeper : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (Run run : runs) {
      run.run_name.iterations.clear();
      run.run_name.repetitions.clear();
      run.run_name.time_type.clear();
      kept.push_back(std::move(run));
    }
  }
  std::vector<Run> kept;
};

}  // namespace

Run run_benchmark(const std::string& name, std::int64_t iterations,
                  const std::function<void(benchmark::State&)>& body) {
  benchmark::ClearRegisteredBenchmarks();
  benchmark::RegisterBenchmark(name.c_str(), [&](benchmark::State& state) { body(state); })
      ->Iterations(iterations)
      ->Repetitions(1)  // rounds are ours: BENCHMARK_REPETITIONS in the environment must not multiply them
      ->UseManualTime()
      ->Unit(benchmark::kNanosecond);
  Keeper keeper;
  benchmark::RunSpecifiedBenchmarks(&keeper, ".");
  benchmark::ClearRegisteredBenchmarks();
  return keeper.kept.at(0);
}

}  // namespace scanlab::measure
