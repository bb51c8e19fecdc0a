// scanlab stream-scan: a scan of host data that is larger than the device's memory, chunk by chunk.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <optional>
#include <thread>

#include "harness/cli/command.hpp"
#include "harness/cli/loop_options.hpp"
#include "harness/cli/selection.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/measure/provenance.hpp"
#include "harness/measure/record.hpp"
#include "harness/measure/results_file.hpp"
#include "harness/out_of_core/stream_scan.hpp"

namespace scanlab::cli {

namespace po = boost::program_options;
using out_of_core::ChunkedScan;
using out_of_core::Repetition;
using out_of_core::StreamScan;
using out_of_core::Way;

namespace {

constexpr measure::LoopOptions kOnce{.rounds = 1, .width = 0, .cap_seconds = 1e9};
constexpr int kHostBuffers = 6;  // in each direction, pinned

constexpr char kNotes[] =
    "FILE holds items and nothing else, in the machine's byte order; an item of affine is a pair, scale and shift.\n"
    "Without --out the input lies in pinned memory before, and the output after: the scan alone is timed.\n"
    "\n"
    "--out is written as OUT.partial and renamed at the end. After Ctrl-C, a crash or a full disk the same command "
    "goes\n"
    "on behind the last finished chunk, with the result of an uninterrupted run (floats: the same bits if the scan's\n"
    "are fixed; scanlab list --json says whose are). When the machine itself stops, it goes on only with --durable,\n"
    "which has each chunk on the disk before it counts, and else begins anew. A run that measures (--compare,\n"
    "--rounds, --json) always begins anew: the time of a part would pass for that of the whole.\n";

po::options_description stream_scan_options() {
  const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
  const auto text_or = [](const char* value, const char* name) {
    return po::value<std::string>()->default_value(value)->value_name(name);
  };
  po::options_description options("options");
  options.add_options()                                                                                               //
      ("in", text("FILE"), "what to scan: a file of items")                                                           //
      ("generate", text("N"), "or so many random items")                                                              //
      ("seed", po::value<std::uint64_t>()->default_value(1)->value_name("N"), "of --generate")                        //
      ("out", text("FILE"), "where to; without it, in memory")                                                        //
      ("type", text_or("i32", "T"), "of the elements: i8 i16 i32 i64 f16 f32 f64")                                    //
      ("op", text_or("plus", "OP"), "plus max min affine")                                                            //
      ("mode", text_or("inclusive", "MODE"), "inclusive or exclusive")                                                //
      ("device", text_or("cuda", "D"), "cuda, or host: threads instead of a device")                                  //
      ("scan", text("ID"), "what scans a chunk (default best; on the host cpu_sequential)")                           //
      ("budget", text_or("1GiB", "BYTES"), "device memory to use: 2GiB, 300MiB, 1000000")                             //
      ("chunk", text("BYTES"), "of a chunk (default 32MiB, less if the budget asks for it)")                          //
      ("io-threads", po::value<int>()->value_name("N"), "that read, and that write (default: half the cores, to 8)")  //
      ("write", text_or("pwrite", "HOW"), "pwrite, or mapping: copies into the page cache by many threads at once")   //
      ("durable", "each chunk is on the disk before it counts as done")                                               //
      ("fresh", "begin anew, whatever an interrupted run left")                                                       //
      ("force", "replace what exists: --out, --json")                                                                 //
      ("verify", "compare the output of integers with the input; always done in memory")                              //
      ("compare", po::value<std::vector<std::string>>()->composing()->value_name("LIST"),
       "measure in the same run: naive (read, copy, scan, copy, write, unpinned); duplex (copies alone; in memory); "
       "files "
       "(reading and writing alone, by the same threads; with --out)")  //
      ("json", text("FILE"), "every repetition, with provenance")       //
      ("help,h", "this text");
  add_loop_options(options, kOnce);
  return options;
}

template <class E>
E parse_named(const po::variables_map& values, const char* option) {
  const std::string word = values[option].as<std::string>();
  if (const auto value = parse<E>(word)) return *value;
  std::vector<std::string> known;
  for (const auto& [value, text] : named_values<E>()) known.emplace_back(text);
  unknown(option, word, known);
}

/// The option's word, one of `known`.
std::string parse_word(const po::variables_map& values, const char* option, const std::vector<std::string>& known) {
  std::string word = values[option].as<std::string>();
  if (std::ranges::find(known, word) == known.end()) unknown(option, word, known);
  return word;
}

const Variant& read_scan(const po::variables_map& values, bool cuda) {
  const std::string id = values.count("scan") != 0 ? values["scan"].as<std::string>()
                         : cuda                    ? "best"
                                                   : "cpu_sequential";
  const Variant* const variant = Registry::instance().find(id);
  if (variant == nullptr) unknown_variant("scan", id);
  if (variant->about.kind != Kind::scan) throw CommandError(kBadInput, fmt::format("--scan {} is no scan", id));
  if (!(cuda ? variant->machines.cuda : variant->machines.host)) {
    throw CommandError(kBadInput, fmt::format("--scan {} does not run on --device {}", id, cuda ? "cuda" : "host"));
  }
  return *variant;
}

void read_input(const po::variables_map& values, StreamScan& asked) {
  if (values.count("in") + values.count("generate") != 1) {
    throw CommandError(kBadInput, "say what to scan: either --in FILE or --generate N");
  }
  Problem& problem = asked.scan.problem;
  if (values.count("in") != 0) {
    asked.input.emplace(values["in"].as<std::string>(), asked.scan.item_bytes());
    problem.items = asked.input->bytes() / static_cast<std::int64_t>(asked.scan.item_bytes());
    return;
  }
  const std::vector<std::int64_t> counts = parse_items(values["generate"].as<std::string>(), "--generate");
  if (counts.size() != 1) throw CommandError(kBadInput, "--generate takes one number of items");
  problem.items = counts.front();
  asked.seed = values["seed"].as<std::uint64_t>();
}

void read_output(const po::variables_map& values, StreamScan& asked) {
  const bool mapping = parse_word(values, "write", {"pwrite", "mapping"}) == "mapping";
  asked.output_options = {.replace = values.count("force") != 0,
                          .fresh = values.count("fresh") != 0 || asked.measures,
                          .durable = values.count("durable") != 0,
                          .by = mapping ? out_of_core::WriteBy::mapping : out_of_core::WriteBy::pwrite};
  asked.verify = values.count("verify") != 0 || values.count("out") == 0;
  if (values.count("out") == 0) return;
  asked.output = values["out"].as<std::string>();
  const std::string path = asked.output->string();
  if (!asked.output->has_filename()) throw CommandError(kBadInput, fmt::format("--out '{}' names no file", path));
  if (asked.input && (asked.input->is(path) || asked.input->is(path + ".partial"))) {
    throw CommandError(kBadInput, fmt::format("--in and --out are the same file, '{}': the input would be overwritten "
                                              "while it is read; choose another --out",
                                              path));
  }
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
  ways.push_back(Way::streamed);  // the last: its output stays
  const auto compares = [&](Way way) { return std::ranges::find(ways, way) != ways.end(); };
  if (compares(Way::duplex_copy) && (!asked.cuda || asked.output)) {
    throw CommandError(kBadInput, "--compare duplex is of a CUDA device, and in memory: leave out --out");
  }
  if (compares(Way::files) && !asked.output) {
    throw CommandError(kBadInput, "--compare files is of reading and writing a file: say which with --out");
  }
  return ways;
}

StreamScan read_request(const po::variables_map& values, std::size_t budget) {
  StreamScan asked;
  ChunkedScan& scan = asked.scan;
  scan.problem.type = parse_named<ElementType>(values, "type");
  scan.problem.op = parse_named<Operator>(values, "op");
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
  std::optional<std::size_t> chunk;
  if (values.count("chunk") != 0) chunk = parse_bytes(values["chunk"].as<std::string>(), "--chunk");
  out_of_core::choose_chunks(scan, budget, chunk);
  return asked;
}

const char* source_of(const StreamScan& asked) { return !asked.output ? "memory" : asked.input ? "file" : "generated"; }

void print(const Repetition& done, std::ostream& out) {
  const double rate = done.seconds > 0 ? static_cast<double>(done.bytes) / done.seconds : 0;
  fmt::print(out, "{}: {} in {:.3f} s, {:.2f} GB/s in and as much out{}\n", name(done.way),
             out_of_core::in_bytes(done.bytes), done.seconds, 1e-9 * rate, done.verified ? ", verified" : "");
}

std::string name_of(const StreamScan& asked, std::size_t budget, Way way) {
  const ChunkedScan& scan = asked.scan;
  const Problem& problem = scan.problem;
  return fmt::format("stream_scan/way:{}/scan:{}/type:{}/op:{}/mode:{}/items:{}/from:{}/to:{}/budget:{}/chunks:{}",
                     name(way), scan.scan->about.id, name(problem.type), name(problem.op), name(problem.mode),
                     problem.items, source_of(asked), asked.output ? "file" : "memory", budget, scan.chunks);
}

/// Adds what the record says of every sample.
void describe(const StreamScan& asked, std::size_t budget, Way way, measure::Facts& entry) {
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
  entry["budget_bytes"] = budget;
  entry["device_bytes"] = scan.device_bytes();
  entry["chunks"] = scan.chunks;
  entry["buffers"] = scan.buffers;
  entry["io_threads"] = asked.output ? asked.io_threads : 0;
  entry["mapped"] = asked.output && asked.output_options.by == out_of_core::WriteBy::mapping;
}

/// In the measurement loop. The output that stays is that of the scan as it is done.
int measure_all(const StreamScan& asked, std::size_t budget, const std::vector<Way>& ways,
                const measure::LoopOptions& options, measure::ResultsFile* file, Context& context) {
  out_of_core::StreamScanRuns runs(asked, context.err);
  measure::Loop loop(options, file, context.err);
  Way last = Way::streamed;
  std::vector<measure::Timing> timings(ways.size());
  std::vector<measure::LoopCase> cases;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    timings[i].name = name_of(asked, budget, ways[i]);
    const auto sample = [&, &timing = timings[i], way = ways[i]] {
      const std::optional<Repetition> done = runs.run(last = way);
      if (!done) return measure::Sample{};  // interrupted
      loop.progress().clear();
      print(*done, context.out);
      timing.verified = done->verified;
      const double rate = done->seconds > 0 ? static_cast<double>(done->bytes) / done->seconds : 0;
      return measure::Sample{.seconds = done->seconds,
                             .fields = {{"bytes_each_way", done->bytes}, {"bytes_per_second_each_way", rate}}};
    };
    const auto say = [&, way = ways[i]](measure::Facts& entry) { describe(asked, budget, way, entry); };
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

measure::Facts provenance(const StreamScan& asked, const measure::LoopOptions& options, const Context& context) {
  measure::Facts facts{{"schema", measure::kResultsSchema}, {"kind", asked.cuda ? "cuda" : "host"}};
  if (asked.cuda) {
    facts.update(measure::measured_on("scanlab stream-scan", context.argv));
  } else {
    facts.update(measure::host_facts());
    facts.update(measure::build_facts());
    facts["date"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    facts["argv"] = fmt::format("{}", fmt::join(context.argv, " "));
  }
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
  const std::size_t budget = parse_bytes(values["budget"].as<std::string>(), "--budget");
  const StreamScan asked = read_request(values, budget);
  const measure::LoopOptions options = read_loop_options(values, {}, kOnce);
  std::optional<measure::ResultsFile> file;
  if (values.count("json") != 0) {
    file.emplace(values["json"].as<std::string>(), provenance(asked, options, context),
                 values.count("force") != 0 ? measure::IfExists::replace : measure::IfExists::refuse);
  }
  return measure_all(asked, budget, read_ways(values, asked), options, file ? &*file : nullptr, context);
}

}  // namespace scanlab::cli
