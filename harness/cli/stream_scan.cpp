// scanlab stream-scan: a scan of host data that is larger than the device's memory, chunk by chunk.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <thread>

#include "harness/cli/command.hpp"
#include "harness/cli/options.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/measure/provenance.hpp"
#include "harness/measure/record.hpp"
#include "harness/out_of_core/stream_scan_session.hpp"

namespace scanlab::cli {

using out_of_core::StreamScan;
using out_of_core::Way;

namespace {

constexpr measure::LoopOptions kOnce{.rounds = 1, .width = 0, .cap_seconds = 1e9};
constexpr int kHostBuffers = 6;  // in each direction, pinned

constexpr char kNotes[] =
    "FILE holds items and nothing else, in the host's byte order; an item of affine is a pair, scale and shift.\n"
    "Without --out, input and output lie in pinned memory, and the scan alone is timed.\n"
    "\n"
    "The output is OUT.partial until it is whole. After Ctrl-C, a crash or a full disk the same command resumes "
    "behind\n"
    "the last finished chunk, with the result of an uninterrupted run. A crash in the first chunk needs --fresh.\n"
    "Floating-point results then have the same bits\n"
    "if the scan is bitwise reproducible (scanlab list --json). After a restart of the host it resumes with "
    "--durable,\n"
    "and starts over without. A run that measures (--compare, --rounds, --json) always starts over, and each "
    "repetition\n"
    "removes the output of the one before.\n";

po::options_description stream_scan_options() {
  po::options_description options("options");
  options.add_options()                                                                                        //
      ("in", text("FILE"), "scan this file of items")                                                          //
      ("generate", text("N"), "scan N random items instead: 2^32")                                             //
      ("seed", po::value<std::uint64_t>()->default_value(1)->value_name("N"), "seed the items of --generate")  //
      ("out", text("FILE"), "write the result to FILE (default: keep it in memory)")                           //
      ("type", text("T")->default_value("i32"), "set the element type: i8, i16, i32, i64, f16, f32, f64")      //
      ("op", text("OP")->default_value("plus"), ("set the operator: " + all_names<Operator>()).c_str())        //
      ("mode", text("MODE")->default_value("inclusive"), "set the mode: inclusive, exclusive")                 //
      ("device", text("D")->default_value("cuda"), "select cuda, or host: threads instead of a GPU")           //
      ("scan", text("ID"), "select the scan of a chunk by id (default best; on the host cpu_sequential)")      //
      ("budget", text("BYTES")->default_value("1GiB"), "limit the device memory: 2GiB, 300MiB, 1000000")       //
      ("chunk", text("BYTES"), "set the size of a chunk (default 32MiB, less for a small budget)")             //
      ("io-threads", po::value<int>()->value_name("N"),
       "set the reading threads and the writing threads (default: half the cores, at most 8)")  //
      ("write", text("HOW")->default_value("pwrite"),
       "write by pwrite, or by mapping: many threads copy into the page cache")         //
      ("durable", "flush each chunk to the disk before it counts as finished")          //
      ("fresh", "start over, and discard an interrupted run")                           //
      ("force", "replace the files of --out and --json if they exist")                  //
      ("verify", "check integer output against the input (always done without --out)")  //
      ("compare", list_of("LIST"),
       "measure in the same run: naive (one synchronous loop on pageable memory), duplex (copies alone, without "
       "--out), "
       "files (file access alone, with --out)")                                  //
      ("json", text("FILE"), "write every repetition to FILE, with provenance")  //
      ("help,h", "print this text");
  add_loop_options(options, kOnce);
  return options;
}

const Variant& read_scan(const po::variables_map& values, bool cuda) {
  const std::string id = values.count("scan") != 0 ? values["scan"].as<std::string>()
                         : cuda                    ? "best"
                                                   : "cpu_sequential";
  const Variant* const variant = Registry::instance().find(id);
  if (variant == nullptr) unknown_variant("scan", id);
  if (variant->about.kind != Kind::scan)
    throw CommandError(kBadInput, fmt::format("--scan {} is not a scan: choose one of 'scanlab list'", id));
  if (!(cuda ? variant->machines.cuda : variant->machines.host)) {
    throw CommandError(kBadInput, fmt::format("--scan {} does not run on --device {}: choose another scan or device",
                                              id, cuda ? "cuda" : "host"));
  }
  return *variant;
}

void read_input(const po::variables_map& values, StreamScan& asked) {
  if (values.count("in") + values.count("generate") != 1) {
    throw CommandError(kBadInput, fmt::format("{}: give either --in FILE or --generate N",
                                              values.count("in") != 0 ? "two inputs" : "no input"));
  }
  Problem& problem = asked.scan.problem;
  if (values.count("in") != 0) {
    refuse_options(values, {"seed"}, "it chooses the items of --generate");
    asked.input.emplace(values["in"].as<std::string>(), asked.scan.item_bytes());
    problem.items = asked.input->bytes() / static_cast<std::int64_t>(asked.scan.item_bytes());
    return;
  }
  const std::vector<std::int64_t> counts = parse_items(values["generate"].as<std::string>(), "--generate");
  if (counts.size() != 1) throw CommandError(kBadInput, "--generate takes one number of items, as in --generate 2^32");
  problem.items = counts.front();
  asked.seed = values["seed"].as<std::uint64_t>();
}

void read_output(const po::variables_map& values, StreamScan& asked) {
  const bool mapping = parse_word(values, "write", {"pwrite", "mapping"}) == "mapping";
  asked.output_options = {.replace = values.count("force") != 0,
                          .discard = values.count("fresh") != 0,
                          .fresh = values.count("fresh") != 0 || asked.measures,
                          .durable = values.count("durable") != 0,
                          .by = mapping ? out_of_core::WriteBy::mapping : out_of_core::WriteBy::pwrite};
  asked.verify = values.count("verify") != 0 || values.count("out") == 0;
  if (values.count("out") == 0) {
    refuse_options(values, {"write", "durable", "fresh", "io-threads"},
                   "the result stays in memory; give --out FILE for a file");
    return;
  }
  asked.output = values["out"].as<std::string>();
  const std::string path = asked.output->string();
  if (!asked.output->has_filename()) throw CommandError(kBadInput, fmt::format("--out '{}' names no file", path));
}

std::vector<Way> read_ways(const po::variables_map& values, const StreamScan& asked) {
  const std::vector<std::string> words = option_words(values, "compare");
  for (const std::string& word : words) {
    if (word != "naive" && word != "duplex" && word != "files") {
      unknown("comparison", word, {"naive", "duplex", "files"});
    }
  }
  std::vector<Way> ways;
  for (const auto& [word, way] :
       {std::pair{"duplex", Way::duplex_copy}, {"naive", Way::naive}, {"files", Way::files}}) {
    if (std::ranges::find(words, word) != words.end()) ways.push_back(way);
  }
  if (!ways.empty())
    refuse_options(values, {"durable"}, "only streamed chunks would wait for the disk; leave out --compare");
  ways.push_back(Way::streamed);  // the last: its output stays
  const auto compares = [&](Way way) { return std::ranges::find(ways, way) != ways.end(); };
  if (compares(Way::duplex_copy) && (!asked.cuda || asked.output)) {
    throw CommandError(kBadInput, asked.cuda ? "--compare duplex needs memory: leave out --out"
                                             : "--compare duplex needs a GPU: leave out --device host");
  }
  if (compares(Way::files) && !asked.output) {
    throw CommandError(kBadInput, "--compare files needs a file to write: give --out FILE");
  }
  return ways;
}

StreamScan read_request(const po::variables_map& values) {
  StreamScan asked;
  asked.budget = parse_bytes(values["budget"].as<std::string>(), "--budget");
  out_of_core::ChunkedScan& scan = asked.scan;
  scan.problem.type = parse_named<ElementType>(values, "type");
  scan.problem.op = parse_named<Operator>(values, "op");
  if (!defined(scan.problem.type, scan.problem.op)) {
    throw CommandError(kBadInput, not_defined(scan.problem.type, scan.problem.op));
  }
  scan.problem.mode = parse_named<Mode>(values, "mode");
  scan.host_buffers = kHostBuffers;
  asked.cuda = parse_word(values, "device", {"cuda", "host"}) == "cuda";
  asked.measures = values.count("compare") + values.count("json") + values.count("rounds") != 0;
  read_input(values, asked);
  read_output(values, asked);
  const int half_the_cores = static_cast<int>(std::thread::hardware_concurrency() / 2);
  asked.io_threads =
      values.count("io-threads") != 0 ? option_number(values, "io-threads", 1, 256) : std::clamp(half_the_cores, 1, 8);
  scan.scan = &read_scan(values, asked.cuda);
  if (is_floating(scan.problem.type)) refuse_options(values, {"verify"}, "output of floats is not checked");
  std::optional<std::size_t> chunk;
  if (values.count("chunk") != 0) chunk = parse_bytes(values["chunk"].as<std::string>(), "--chunk");
  out_of_core::choose_chunks(scan, asked.budget, chunk);
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
  po::variables_map values;
  if (!parse_options(renamed(arguments, "--repetitions", "--rounds"), stream_scan_options(), {}, command("stream-scan"),
                     context, values)) {
    context.out << "\n" << kNotes;
    return kOk;
  }
  std::string why_not;
  if (values["device"].as<std::string>() == "cuda" && !measure::device_facts(why_not)) {
    throw CommandError(kNoDevice, fmt::format("scanlab stream-scan needs a CUDA device, and there is none: {}; "
                                              "--device host scans without",
                                              why_not));
  }
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows beyond what is allowed is an error like a full disk
  const InterruptGuard guard;
  const StreamScan asked = read_request(values);
  if (values.count("rounds") == 0) {
    refuse_options(values, {"width", "cap"}, "there is one repetition; give --rounds N for more");
  }
  const measure::LoopOptions options = read_loop_options(values, {}, kOnce);
  std::optional<measure::ResultsFile> file =
      results_file(given<std::string>(values, "json"), provenance(asked, options, context), values);
  const int status =
      measure_ways(asked, read_ways(values, asked), options, file ? &*file : nullptr, context.out, context.err);
  if (file) fmt::print(context.out, "{} entries in {}\n", file->entries(), file->path().string());
  return status;
}

}  // namespace scanlab::cli
