// Samples of the ways to scan data that exceed the device, by the measuring engine.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include "harness/core/operators.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/host/progress.hpp"
#include "harness/out_of_core/stream_scan.hpp"

namespace scanlab::out_of_core {

namespace {

const char* source_of(const StreamScan& asked) { return !asked.output ? "memory" : asked.input ? "file" : "generated"; }

void print(const Repetition& done, std::ostream& out) {
  fmt::print(out, "{}: {} in {:.3f} s, {:.2f} GB/s in and as much out{}\n", name(done.way), in_bytes(done.bytes),
             done.seconds, 1e-9 * done.bytes_per_second(), done.verified ? ", verified" : "");
}

std::string name_of(const StreamScan& asked, Way way) {
  const ChunkedScan& scan = asked.scan;
  const Problem& problem = scan.problem;
  return fmt::format("stream_scan/way:{}/scan:{}/type:{}/op:{}/mode:{}/items:{}/from:{}/to:{}/budget:{}/chunks:{}",
                     name(way), scan.scan->about.id, name(problem.type), name(problem.op), name(problem.mode),
                     problem.items, source_of(asked), asked.output ? "file" : "memory", asked.budget, scan.chunks);
}

/// Adds what the record says of every sample.
void describe(const StreamScan& asked, Way way, measure::Facts& entry) {
  const ChunkedScan& scan = asked.scan;
  const Problem& problem = scan.problem;
  entry["kind"] = "stream_scan";
  entry["way"] = name(way);
  entry["variant"] = scan.scan->about.id;
  entry["type"] = name(problem.type);
  entry["op"] = name(problem.op);
  entry["mode"] = name(problem.mode);
  entry["items"] = problem.items;
  entry["from"] = source_of(asked);
  entry["to"] = asked.output ? "file" : "memory";
  entry["budget_bytes"] = asked.budget;
  entry["device_bytes"] = scan.device_bytes();
  entry["chunks"] = scan.chunks;
  entry["buffers"] = scan.buffers;
  entry["io_threads"] = asked.output ? asked.io_threads : 0;
  entry["mapped"] = asked.output && asked.output_options.by == WriteBy::mapping;
}

}  // namespace

int measure_ways(const StreamScan& asked, const std::vector<Way>& ways, int repetitions, measure::Engine& engine,
                 std::ostream& out, std::ostream& err) {
  StreamScanRuns runs(asked, err);
  Way last = Way::streamed;
  std::vector<measure::Timing> timings(ways.size());
  std::vector<measure::EngineCase> cases;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    timings[i].name = name_of(asked, ways[i]);
    timings[i].repetitions = repetitions;
    const auto sample = [&, &timing = timings[i], way = ways[i]](std::int64_t) {
      const std::optional<Repetition> done = runs.run(last = way);
      if (!done) return measure::Sample{};  // interrupted
      engine.progress().clear();
      print(*done, out);
      timing.verified = done->verified;
      return measure::Sample{
          .seconds = done->seconds,
          .sm_clock_mhz = done->sm_clock_mhz,
          .fields = {{"bytes_each_way", done->bytes}, {"bytes_per_second_each_way", done->bytes_per_second()}}};
    };
    const auto say = [&, way = ways[i]](measure::Facts& entry) { describe(asked, way, entry); };
    cases.push_back({.timing = &timings[i], .sample = sample, .describe = say});
  }
  engine.run(cases);
  if (interrupted()) return kInterrupted;
  const auto failed = measure::Timing::State::failed;
  if (std::ranges::find(timings, failed, &measure::Timing::state) != timings.end()) return kFailed;
  return last == Way::streamed || runs.run(Way::streamed) ? kOk : kInterrupted;
}

}  // namespace scanlab::out_of_core
