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
#include "harness/implicit_sync/concurrency_report.hpp"
#include "harness/measure/provenance.hpp"

namespace scanlab::cli {

using streams::ConcurrencySettings;
using streams::SmallGrids;
using Json = nlohmann::ordered_json;

namespace {

constexpr char kNotes[] =
    "All blocks spin for the same time, and a limited number of them is resident at once: the slots. The expected\n"
    "makespan is the time of one block times the waves, ceil(streams x kernels x blocks / slots), tails included.\n"
    "Streams that share one of the CUDA_DEVICE_MAX_CONNECTIONS hardware work queues overlap only where one ends and\n"
    "the next begins. In one queue, s streams of n kernels each take s n - (s - 1) steps. Default cases: the\n"
    "staircase from 1 to 128 streams, and three small kernels in each of four streams.\n";

po::options_description concurrency_options() {
  const auto number = [](int value) { return po::value<int>()->default_value(value)->value_name("N"); };
  po::options_description options("options");
  options.add_options()                                                                         //
      ("streams", list_of("LIST"), "set the numbers of concurrent streams: 1,2,4 or 1:128:x2")  //
      ("kernels", list_of("LIST"), "set the kernels per stream")                                //
      ("blocks", list_of("LIST"), "set the blocks per kernel")                                  //
      ("threads", number(128), "set the threads per block")                                     //
      ("resident", number(1), "set the resident blocks per multiprocessor, by shared memory")   //
      ("block-us", number(1000), "set the duration of a block, in microseconds")                //
      ("repetitions", number(5), "take N repetitions per case")                                 //
      ("queues", list_of("LIST")->default_value(Words{"1", "8", "32"}, "1,8,32"),               //
       "set the hardware work queues (CUDA_DEVICE_MAX_CONNECTIONS), one process per number")    //
      ("json", text("FILE"), "write every repetition to FILE, with provenance")                 //
      ("force", "replace FILE if it exists")                                                    //
      ("help,h", "print this text");
  return options;
}

/// The different numbers of an option, each from 1 to `most`, in order.
std::vector<std::int64_t> numbers(const po::variables_map& values, const char* option, std::int64_t most) {
  std::vector<std::int64_t> all = counts_of(said(values), option);
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  for (const std::int64_t number : all) {
    if (number < 1 || number > most) {
      throw CommandError(kBadInput,
                         fmt::format("--{} {} is out of range: give numbers between 1 and {}", option, number, most));
    }
  }
  return all;
}

struct Request {
  ConcurrencySettings settings;
  std::vector<std::int64_t> connections;
  std::vector<SmallGrids> grids;  ///< empty: the staircase of this device
};

Request read_request(const po::variables_map& values) {
  constexpr std::int64_t kMaxBlocks = 1 << 16;
  Request request;
  request.settings = {.threads = option_number(values, "threads", 1, 1024),
                      .blocks_per_multiprocessor = option_number(values, "resident", 1, 32),
                      .block_seconds = 1e-6 * option_number(values, "block-us", 10, 20000),
                      .repetitions = option_number(values, "repetitions", 1, 1000)};
  request.connections = numbers(values, "queues", cuda::kMaxConnections);
  std::vector<std::int64_t> stream_counts = numbers(values, "streams", streams::kMaxStreams);
  std::vector<std::int64_t> kernel_counts = numbers(values, "kernels", streams::kMaxKernels);
  std::vector<std::int64_t> block_counts = numbers(values, "blocks", kMaxBlocks);
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
  const std::vector<std::string> own =
      renamed({arguments.begin() + (fresh ? 1 : 0), arguments.end()}, "--connections", "--queues");
  po::variables_map values;
  if (!parse_options(own, concurrency_options(), {}, streams_command("concurrency"), context, values)) {
    context.out << "\n" << kNotes;
    return kOk;
  }
  const Request request = read_request(values);
  if (fresh) {
    context.out << streams::measure_cases(request.settings, request.grids).dump() << "\n";
    return kOk;
  }
  const measure::Facts provenance = measure::measured_on("scanlab streams concurrency", context.argv);
  std::optional<WholeFile> file = output_file(values, "json");

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
