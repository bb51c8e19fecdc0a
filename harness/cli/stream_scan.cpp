// scanlab stream-scan: a scan of host data that is larger than the device's memory, chunk by chunk.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <thread>

#include "harness/cli/options.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/measure/provenance.hpp"
#include "harness/measure/record.hpp"
#include "harness/out_of_core/stream_scan.hpp"

namespace scanlab::cli {

using out_of_core::StreamScan;
using out_of_core::Way;

namespace {

constexpr measure::LoopOptions kOnce{.rounds = 1, .width = 0, .cap_seconds = 1e9};
constexpr int kHostBuffers = 6;  // in each direction, pinned

struct StreamScanOptions {
  std::optional<std::string> in, out, scan, json;
  std::optional<std::int64_t> generate;
  std::uint64_t seed = 1;
  std::optional<ElementType> type = ElementType::i32;
  std::optional<Operator> op = Operator::plus;
  std::optional<Mode> mode = Mode::inclusive;
  std::string device = "cuda", write = "pwrite";
  std::size_t budget = 0;
  std::optional<std::size_t> chunk;
  int io_threads = std::clamp(static_cast<int>(std::thread::hardware_concurrency() / 2), 1, 8);
  bool durable = false, fresh = false, force = false, verify = false;
  OptionWords words;
  LoopWords loop;
  Options options;

  StreamScanOptions() {
    options.file("in", File::read, in, "scan this file of items")
        .count("generate", generate, "scan N random items instead: 2^32")
        .seed(seed, "seed the items of --generate")
        .file("out", File::written, out, "write the result to FILE (default: keep it in memory)")
        .named("type", type, "set the element type")
        .named("op", op, "set the operator")
        .named("mode", mode, "set the mode")
        .choice("device", device, {"cuda", "host"}, "scan on the GPU, or by threads of the host")
        .text("scan", "ID", scan, "select the scan of a chunk (default best; on the host cpu_sequential)")
        .bytes("budget", budget, "1GiB", "limit the device memory: 2GiB, 300MiB, 1000000")
        .bytes("chunk", chunk, "set the size of a chunk (default 32MiB, less for a small budget)")
        .number("io-threads", io_threads, 1, 256, "set the reading threads and the writing threads")
        .choice("write", write, {"pwrite", "mapping"}, "write by calls, or by a mapping of the file")
        .flag("durable", durable, "flush each chunk to the disk before it counts as finished")
        .flag("fresh", fresh, "start over, and discard an interrupted run")
        .force(force)
        .flag("verify", verify, "check integer output against the input (always done without --out)")
        .list("compare", "LIST", words, "measure in the same run: naive, duplex (without --out), files (with --out)")
        .file("json", File::written, json, "write every repetition to FILE, with provenance");
    loop.add_to(options, kOnce);
  }
};

const Variant& find_scan(const std::optional<std::string>& named, bool cuda) {
  const std::string id = named.value_or(cuda ? "best" : "cpu_sequential");
  const Variant* const variant = Registry::instance().find(id);
  if (variant == nullptr) unknown_variant("scan", id);
  if (variant->about.kind != Kind::scan)
    refuse(fmt::format("--scan {} is not a scan: choose one of 'scanlab list'", id));
  if (!(cuda ? variant->machines.cuda : variant->machines.host)) {
    refuse(fmt::format("--scan {} does not run on --device {}: choose another scan or device", id,
                       cuda ? "cuda" : "host"));
  }
  return *variant;
}

void read_input(const StreamScanOptions& options, StreamScan& asked) {
  if (options.in.has_value() == options.generate.has_value())
    refuse(fmt::format("{}: give either --in FILE or --generate N", options.in ? "two inputs" : "no input"));
  Problem& problem = asked.scan.problem;
  if (options.in) {
    options.options.refuse_useless({"seed"}, "it chooses the items of --generate");
    asked.input.emplace(*options.in, asked.scan.item_bytes());
    problem.items = asked.input->bytes() / static_cast<std::int64_t>(asked.scan.item_bytes());
  } else {
    problem.items = *options.generate;
    asked.seed = options.seed;
  }
}

void read_output(const StreamScanOptions& options, StreamScan& asked) {
  asked.output_options = {
      .replace = options.force,
      .discard = options.fresh,
      .fresh = options.fresh || asked.measures,
      .durable = options.durable,
      .by = options.write == "mapping" ? out_of_core::WriteBy::mapping : out_of_core::WriteBy::pwrite};
  asked.verify = options.verify || !options.out;
  if (!options.out) {
    options.options.refuse_useless({"write", "durable", "fresh", "io-threads"},
                                   "the result stays in memory; give --out FILE for a file");
    return;
  }
  asked.output = *options.out;
  if (!asked.output->has_filename()) refuse(fmt::format("--out '{}' names no file", *options.out));
}

std::vector<Way> read_ways(const StreamScanOptions& options, const StreamScan& asked) {
  static const std::vector<std::pair<Way, std::string_view>> known{
      {Way::duplex_copy, "duplex"}, {Way::naive, "naive"}, {Way::files, "files"}};
  const std::vector<Way> compared = values_of(options.words, "compare", known);
  std::vector<Way> ways;
  const auto compares = [&](Way way) { return std::ranges::find(compared, way) != compared.end(); };
  for (const auto& [way, word] : known) {
    if (compares(way)) ways.push_back(way);
  }
  if (!ways.empty())
    options.options.refuse_useless({"durable"}, "only streamed chunks would wait for the disk; leave out --compare");
  ways.push_back(Way::streamed);  // the last: its output stays
  if (compares(Way::duplex_copy) && (!asked.cuda || asked.output))
    refuse(asked.cuda ? "--compare duplex needs memory: leave out --out"
                      : "--compare duplex needs a GPU: leave out --device host");
  if (compares(Way::files) && !asked.output) refuse("--compare files needs a file to write: give --out FILE");
  return ways;
}

StreamScan read_request(const StreamScanOptions& options) {
  StreamScan asked;
  asked.budget = options.budget;
  out_of_core::ChunkedScan& scan = asked.scan;
  scan.problem.type = *options.type;
  scan.problem.op = *options.op;
  scan.problem.mode = *options.mode;
  if (!defined(*options.type, *options.op)) refuse(not_defined(*options.type, *options.op));
  scan.host_buffers = kHostBuffers;
  asked.cuda = options.device == "cuda";
  asked.measures = options.words.contains("compare") || options.json || options.loop.rounds;
  read_input(options, asked);
  read_output(options, asked);
  asked.io_threads = options.io_threads;
  scan.scan = &find_scan(options.scan, asked.cuda);
  if (is_floating(scan.problem.type)) options.options.refuse_useless({"verify"}, "output of floats is not checked");
  out_of_core::choose_chunks(scan, asked.budget, options.chunk);
  return asked;
}

measure::Facts provenance(const StreamScan& asked, const measure::LoopOptions& options, const Context& context) {
  measure::Facts facts{{"schema", measure::kResultsSchema}, {"kind", asked.cuda ? "cuda" : "host"}};
  facts.update(asked.cuda ? measure::measured_on("scanlab stream-scan", context.argv)
                          : measure::measured_on_host(context.argv));
  facts["seed"] = std::to_string(asked.seed);
  add_loop_facts(options, facts);
  facts["variants"] = measure::described({asked.scan.scan});
  return facts;
}

}  // namespace

int stream_scan(const std::vector<std::string>& arguments, Context& context) {
  StreamScanOptions options;
  if (!options.options.parse(arguments, context)) return kOk;
  std::string refusal;
  if (options.device == "cuda" && !measure::device_facts(refusal)) {
    throw CommandError(kNoDevice, fmt::format("scanlab stream-scan needs a CUDA device, and there is none: {}; "
                                              "--device host scans without",
                                              refusal));
  }
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows beyond what is allowed is an error like a full disk
  const InterruptGuard guard;
  const StreamScan asked = read_request(options);
  if (!options.loop.rounds)
    options.options.refuse_useless({"width", "cap"}, "there is one repetition; give --rounds N for more");
  const measure::LoopOptions loop = options.loop.over(kOnce);
  std::optional<measure::ResultsFile> file =
      results_file(options.json, provenance(asked, loop, context), options.force);
  const int status = measure_ways(asked, read_ways(options, asked), loop, pointer(file), context.out, context.err);
  if (file) fmt::print(context.out, "{} entries in {}\n", file->entries(), file->path().string());
  return status;
}

}  // namespace scanlab::cli
