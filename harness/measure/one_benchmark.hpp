// One repetition as Google Benchmark makes it: our own rounds decide when the next one comes.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <string>

namespace scanlab::measure {

using Run = benchmark::BenchmarkReporter::Run;

/// Runs `body`, which must not throw, once as the benchmark `name`, with its iterations fixed. It sets the time of
/// each.
Run run_benchmark(const std::string& name, std::int64_t iterations, const std::function<void(benchmark::State&)>& body);

}  // namespace scanlab::measure
