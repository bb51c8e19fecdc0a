// A scan of host data, timed in the measurement loop: in any ways, of one input.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <optional>
#include <string>

#include "harness/host/interrupt.hpp"
#include "harness/host/status.hpp"
#include "harness/out_of_core/stream_scan.hpp"

namespace scanlab::out_of_core {

namespace {

const char* source_of(const StreamScan& asked) { return !asked.output ? "memory" : asked.input ? "file" : "generated"; }

void print(const Repetition& done, std::ostream& out) {
  const double rate = done.seconds > 0 ? static_cast<double>(done.bytes) / done.seconds : 0;
  fmt::print(out, "{}: {} in {:.3f} s, {:.2f} GB/s in and as much out{}\n", name(done.way), in_bytes(done.bytes),
             done.seconds, 1e-9 * rate, done.verified ? ", verified" : "");
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

int measure_ways(const StreamScan& asked, const std::vector<Way>& ways, const measure::LoopOptions& options,
                 measure::ResultsFile* file, std::ostream& out, std::ostream& err) {
  StreamScanRuns runs(asked, err);
  measure::Loop loop(options, file, err);
  Way last = Way::streamed;
  std::vector<measure::Timing> timings(ways.size());
  std::vector<measure::LoopCase> cases;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    timings[i].name = name_of(asked, ways[i]);
    const auto sample = [&, &timing = timings[i], way = ways[i]] {
      const std::optional<Repetition> done = runs.run(last = way);
      if (!done) return measure::Sample{};  // interrupted
      loop.progress().clear();
      print(*done, out);
      timing.verified = done->verified;
      const double rate = done->seconds > 0 ? static_cast<double>(done->bytes) / done->seconds : 0;
      return measure::Sample{.seconds = done->seconds,
                             .sm_clock_mhz = done->sm_clock_mhz,
                             .fields = {{"bytes_each_way", done->bytes}, {"bytes_per_second_each_way", rate}}};
    };
    const auto say = [&, way = ways[i]](measure::Facts& entry) { describe(asked, way, entry); };
    cases.push_back({.timing = &timings[i], .sample = sample, .describe = say});
  }
  loop.run(cases);
  loop.progress().clear();
  if (interrupted()) return kInterrupted;
  for (const measure::Timing& timing : timings) {
    if (timing.state == measure::Timing::State::failed) return kFailed;
  }
  return last == Way::streamed || runs.run(Way::streamed) ? kOk : kInterrupted;
}

}  // namespace scanlab::out_of_core
