// scanlab stream-scan: a scan of host data that is larger than the device's memory, chunk by chunk.
#include <csignal>
#include <thread>

#include "harness/cli/options.hpp"
#include "harness/measure/record.hpp"
#include "harness/out_of_core/stream_scan.hpp"

namespace scanlab::cli {

using out_of_core::Way;
using out_of_core::WriteBy;

namespace {

constexpr int kHostBuffers = 6;  // in each direction, pinned

const Variant& find_scan(const std::string& id, bool cuda) {
  const Variant* const variant = Registry::instance().find(id);
  if (variant == nullptr) unknown_variant("scan", id);
  if (variant->about.kind != Kind::scan)
    refuse(fmt::format("--scan {} is not a scan: choose one of 'scanlab list'", id));
  if (!(cuda ? variant->backends.cuda : variant->backends.host))
    refuse(fmt::format("--scan {} does not run on --device {}: choose another scan or device", id,
                       cuda ? "cuda" : "host"));
  return *variant;
}

/// The ways of --compare and the scan itself.
std::vector<Way> read_ways(const OptionWords& words, const out_of_core::StreamScan& asked) {
  const std::vector<std::pair<Way, std::string_view>> known{
      {Way::duplex_copy, "duplex"}, {Way::naive, "naive"}, {Way::files, "files"}};
  const std::vector<Way> compared = values_of(words, "compare", known);
  std::vector<Way> ways;
  for (const auto& [way, word] : known) {
    if (std::ranges::find(compared, way) == compared.end()) continue;
    ways.push_back(way);
    if (way == Way::duplex_copy && !asked.cuda) refuse("--compare duplex needs a GPU: leave out --device host");
    if (way == Way::duplex_copy && asked.output) refuse("--compare duplex needs memory: leave out --out");
    if (way == Way::files && !asked.output) refuse("--compare files needs a file to write: give --out FILE");
  }
  ways.push_back(Way::streamed);  // the last: its output stays
  return ways;
}

}  // namespace

int stream_scan(const Words& arguments, Context& context) {
  out_of_core::StreamScan asked;
  asked.io_threads = std::clamp(static_cast<int>(std::thread::hardware_concurrency() / 2), 1, 8);
  Problem& problem = asked.scan.problem;
  out_of_core::OutputOptions& output = asked.output_options;
  std::optional<std::string> in, out, scan, json;
  std::optional<std::int64_t> generate;
  std::optional<std::size_t> chunk;
  OptionWords words;
  std::optional<int> repetitions;
  Options options;
  options.file("in", File::read, in, "scan this file of items")
      .count("generate", generate, "scan N random items instead: 2^32")
      .seed(asked.seed, "seed the items of --generate")
      .file("out", File::written, out, "write the result to FILE (default: keep it in memory)")
      .named("type", problem.type, "set the element type")
      .named("op", problem.op, "set the operator")
      .named("mode", problem.mode, "set the mode")
      .choice("device", asked.cuda, {{true, "cuda"}, {false, "host"}}, "scan on the GPU, or by threads of the host")
      .text("scan", "ID", scan, "select the scan of a chunk (default best; on the host cpu_sequential)")
      .bytes("budget", asked.budget, "limit the device memory: 2GiB, 300MiB, 1000000", "1GiB")
      .bytes("chunk", chunk, "set the size of a chunk (default 32MiB, less for a small budget)")
      .number("io-threads", asked.io_threads, 1, 256, "set the reading threads and the writing threads")
      .choice("write", output.by, {{WriteBy::pwrite, "pwrite"}, {WriteBy::mapping, "mapping"}},
              "write by calls, or by a mapping of the file")
      .flag("durable", output.durable, "flush each chunk to the disk before it counts as finished")
      .flag("fresh", output.discard, "start over, and discard an interrupted run")
      .force(output.replace)
      .flag("verify", asked.verify, "check integer output against the input (always done without --out)")
      .list("compare", "LIST", words, "measure in the same run: naive, duplex (without --out), files (with --out)")
      .number("repetitions", repetitions, 1, 1'000'000, "measure each way N times, interleaved (default 1)")
      .file("json", File::written, json, "write every repetition to FILE, with provenance");
  if (!options.parse(arguments, context)) return kOk;
  if (asked.cuda) require_device(context, "--device host scans without");
  if (!defined(problem.type, problem.op)) refuse(not_defined(problem.type, problem.op));
  if (in.has_value() == generate.has_value())
    refuse(fmt::format("{}: give either --in FILE or --generate N", in ? "two inputs" : "no input"));
  if (in) options.refuse_useless({"seed"}, "it chooses the items of --generate");
  if (!out)
    options.refuse_useless({"write", "durable", "fresh", "io-threads"},
                           "the result stays in memory; give --out FILE for a file");
  if (is_floating(problem.type)) options.refuse_useless({"verify"}, "output of floats is not checked");
  if (options.given("compare"))
    options.refuse_useless({"durable"}, "only streamed chunks would wait for the disk; leave out --compare");

  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows beyond what is allowed is an error like a full disk
  const InterruptGuard guard;
  if (in) asked.input.emplace(*in, asked.scan.item_bytes());
  problem.items = in ? asked.input->bytes() / static_cast<std::int64_t>(asked.scan.item_bytes()) : *generate;
  if (out) asked.output = *out;
  if (out && !asked.output->has_filename()) refuse(fmt::format("--out '{}' names no file", *out));
  asked.verify = asked.verify || !out;
  asked.measures = options.given("compare") || json || repetitions;
  output.fresh = output.discard || asked.measures;
  asked.scan.host_buffers = kHostBuffers;
  asked.scan.scan = &find_scan(scan.value_or(asked.cuda ? "best" : "cpu_sequential"), asked.cuda);
  out_of_core::choose_chunks(asked.scan, asked.budget, chunk);
  const std::vector<Way> ways = read_ways(words, asked);
  measure::Facts facts{{"schema", measure::kResultsSchema}, {"kind", asked.cuda ? "cuda" : "host"}};
  facts.update(measured(asked.cuda, context));
  facts["seed"] = std::to_string(asked.seed);
  facts["rounds"] = std::to_string(repetitions.value_or(1));
  facts["variants"] = measure::described({asked.scan.scan});
  std::optional<measure::ResultsFile> file = results_file(json, facts, output.replace);
  if (repetitions > 1) measure::GoogleFlags().parse();  // samples are interleaved; else the streamed scan is the last
  measure::Engine engine({}, nullptr, context.err, pointer(file));
  const int status = measure_ways(asked, ways, repetitions.value_or(1), engine, context.out, context.err);
  if (file) fmt::print(context.out, "{} entries in {}\n", file->entries(), file->path().string());
  return status;
}

}  // namespace scanlab::cli
