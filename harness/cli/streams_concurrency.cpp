// scanlab streams concurrency: small grids side by side, against the formula, with 1, 8 and 32 hardware queues.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <optional>

#include "harness/cli/options.hpp"
#include "harness/cli/streams.hpp"
#include "harness/cuda/hardware_queues.hpp"
#include "harness/host/fresh_process.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/host/progress.hpp"
#include "harness/implicit_sync/concurrency.hpp"
#include "harness/measure/provenance.hpp"

namespace scanlab::cli {

using streams::ConcurrencySettings;
using streams::SmallGrids;
using Json = nlohmann::ordered_json;

namespace {

struct ConcurrencyOptions {
  OptionWords words;
  int threads = 128, resident = 1, block_us = 1000, repetitions = 5;
  std::optional<std::string> json;
  bool force = false;
  Options options;

  ConcurrencyOptions() {
    options.list("streams", "LIST", words, "set the numbers of concurrent streams: 1,2,4 or 1:128:x2")
        .list("kernels", "LIST", words, "set the kernels per stream")
        .list("blocks", "LIST", words, "set the blocks per kernel")
        .number("threads", threads, 1, 1024, "set the threads per block")
        .number("resident", resident, 1, 32, "set the resident blocks per multiprocessor, by shared memory")
        .number("block-us", block_us, 10, 20000, "set the duration of a block, in microseconds")
        .number("repetitions", repetitions, 1, 1000, "take N repetitions per case")
        .list("queues", "LIST", words, "set the hardware work queues, one process per number (default 1,8,32)")
        .file("json", File::written, json, "write every repetition to FILE, with provenance")
        .force(force);
  }
};

/// The different numbers of an option, each from 1 to `most`, in order.
std::vector<std::int64_t> numbers(const OptionWords& words, const char* option, std::int64_t most) {
  std::vector<std::int64_t> all = counts_of(words, option);
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  for (const std::int64_t number : all) {
    if (number < 1 || number > most)
      refuse(fmt::format("--{} {} is out of range: give numbers between 1 and {}", option, number, most));
  }
  return all;
}

struct Request {
  ConcurrencySettings settings;
  std::vector<std::int64_t> connections;
  std::vector<SmallGrids> grids;  ///< empty: the staircase of this device
};

Request read_request(const ConcurrencyOptions& asked) {
  constexpr std::int64_t kMaxBlocks = 1 << 16;
  OptionWords words = asked.words;
  words.try_emplace("queues", Words{"1", "8", "32"});
  Request request;
  request.settings = {.threads = asked.threads,
                      .blocks_per_multiprocessor = asked.resident,
                      .block_seconds = 1e-6 * asked.block_us,
                      .repetitions = asked.repetitions};
  request.connections = numbers(words, "queues", cuda::kMaxConnections);
  std::vector<std::int64_t> stream_counts = numbers(words, "streams", streams::kMaxStreams);
  std::vector<std::int64_t> kernel_counts = numbers(words, "kernels", streams::kMaxKernels);
  std::vector<std::int64_t> block_counts = numbers(words, "blocks", kMaxBlocks);
  if (stream_counts.empty() && kernel_counts.empty() && block_counts.empty()) return request;
  for (auto* counts : {&stream_counts, &kernel_counts, &block_counts}) {
    if (counts->empty()) *counts = {1};
  }
  request.grids = streams::every_grid(stream_counts, kernel_counts, block_counts);
  return request;
}

}  // namespace

int streams_concurrency(const std::vector<std::string>& arguments, Context& context) {
  const bool fresh = !arguments.empty() && arguments[0] == kInFreshProcess;
  const Words own(arguments.begin() + (fresh ? 1 : 0), arguments.end());
  ConcurrencyOptions asked;
  if (!asked.options.parse(own, context)) return kOk;
  const Request request = read_request(asked);
  if (fresh) {
    context.out << streams::measure_cases(request.settings, request.grids).dump() << "\n";
    return kOk;
  }
  const measure::Facts provenance = measure::measured_on("scanlab streams concurrency", context.argv);
  std::optional<WholeFile> file = output_file(asked.json, asked.force);

  Words again{"streams", "concurrency", kInFreshProcess};
  again.insert(again.end(), own.begin(), own.end());

  const InterruptGuard guard;
  Json cases = Json::array();
  {
    Progress progress(context.err);
    for (const std::int64_t connections : request.connections) {
      progress.show(fmt::format("with {} hardware work queues", connections));
      const Json measured = streams::measure_cases_with(connections, again);
      if (interrupted()) break;
      cases.insert(cases.end(), measured.begin(), measured.end());
    }
  }
  if (interrupted()) {
    fmt::print(context.err, "scanlab: interrupted; nothing is written\n");
    return kInterrupted;
  }
  streams::print(cases, request.connections, context.out);
  if (file) {
    const Json document{{"schema", streams::kConcurrencySchema}, {"context", provenance}, {"cases", cases}};
    file->write(document.dump(1) + "\n");
    fmt::print(context.out, "\n{} cases in {}\n", cases.size(), file->path().string());
  }
  return kOk;
}

}  // namespace scanlab::cli
