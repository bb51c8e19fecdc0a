// scanlab stream-scan: a scan of host data that is larger than the device's memory, chunk by chunk.
#include <benchmark/benchmark.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <ctime>
#include <mutex>
#include <optional>
#include <thread>

#include "harness/cli/command.hpp"
#include "harness/cli/selection.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/host/parallel.hpp"
#include "harness/host/progress.hpp"
#include "harness/measure/provenance.hpp"
#include "harness/measure/results_file.hpp"
#include "harness/out_of_core/chunk_files.hpp"
#include "harness/out_of_core/chunk_threads.hpp"
#include "harness/out_of_core/out_of_core_scan.hpp"
#include "harness/verify/input.hpp"
#ifdef SCANLAB_WITH_CUDA
#include "harness/cuda/error.hpp"
#endif

namespace scanlab::cli {

namespace po = boost::program_options;
namespace fs = std::filesystem;
using streams::Chunk;
using streams::OutOfCoreScan;
using streams::ReadPiece;
using Json = nlohmann::ordered_json;

namespace {

constexpr char kSchedule[] = "double_buffered";
constexpr std::size_t kUsualChunk = std::size_t{32} << 20;  // bytes: long beside the gap between two copies
constexpr std::size_t kLeastChunk = std::size_t{4} << 10;
constexpr int kMostBuffers = 4;  // with two, a late host stops the device; four are never all waited for
constexpr int kHostBuffers = 6;  // in each direction, pinned
constexpr std::int64_t kMostChunks = 1 << 18;

constexpr char kNotes[] =
    "FILE holds items and nothing else, in the machine's byte order; an item of affine is a pair, scale and shift.\n"
    "Without --out the input lies in pinned memory before, and the output after: the scan alone is timed.\n"
    "\n"
    "--out is written as OUT.partial and renamed at the end. After Ctrl-C, a crash or a full disk the same command "
    "goes\n"
    "on behind the last finished chunk, with the result of an uninterrupted run (floats: the same bits if the scan's\n"
    "are fixed; scanlab list --json says whose are). When the machine itself stops, it goes on only with --durable,\n"
    "which has each chunk on the disk before it counts, and else begins anew. A run that measures (--compare,\n"
    "--repetitions, --json) always begins anew: the time of a part would pass for that of the whole.\n";

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
      ("repetitions", po::value<int>()->default_value(1)->value_name("N"), "to measure")                              //
      ("compare", po::value<std::vector<std::string>>()->composing()->value_name("LIST"),
       "measure in the same run: naive (read, copy, scan, copy, write, unpinned); duplex (copies alone; in memory); "
       "files "
       "(reading and writing alone, by the same threads; with --out)")  //
      ("json", text("FILE"), "every repetition, with provenance")       //
      ("help,h", "this text");
  return options;
}

std::string in_bytes(std::size_t bytes) {
  if (bytes >= std::size_t{10} << 30) return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1u << 30));
  if (bytes >= std::size_t{10} << 20) return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1u << 20));
  return fmt::format("{} bytes", bytes);
}

template <class E>
E parse_named(const po::variables_map& values, const char* option) {
  const std::string word = values[option].as<std::string>();
  if (const auto value = parse<E>(word)) return *value;
  std::vector<std::string> known;
  for (const auto& [value, text] : named_values<E>()) known.emplace_back(text);
  unknown(option, word, known);
}

struct Request {
  OutOfCoreScan scan;
  bool cuda = true;
  std::optional<streams::InputFile> input;  ///< else generated
  std::uint64_t seed = 1;
  std::optional<fs::path> output;  ///< else in memory
  streams::OutputOptions output_options;
  std::size_t budget = 0;
  int io_threads = 1;
  int repetitions = 1;
  bool measures = false;  ///< the times are kept or compared: they must be of the whole
  bool verify = false;
  bool naive = false;
  bool duplex = false;
  bool files = false;

  std::size_t bytes() const { return static_cast<std::size_t>(scan.problem.items) * scan.item_bytes(); }
};

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

void refuse_impossible(const OutOfCoreScan& scan) {
  for (const std::int64_t items : {scan.chunk_items(), scan.chunk_items() - 1}) {
    if (items < 1) continue;
    const Plan plan = scan.bind(items).plan;
    if (!plan.possible()) {
      throw CommandError(
          kBadInput, fmt::format("{} cannot scan a chunk of {} items: {}", scan.scan->about.id, items, plan.refusal));
    }
  }
}

void cut(OutOfCoreScan& scan, std::size_t chunk_bytes) {
  const auto items = static_cast<std::int64_t>(chunk_bytes / scan.item_bytes());
  if (items < 1) {
    throw CommandError(kBadInput, fmt::format("--chunk {}: an item has {} bytes", chunk_bytes, scan.item_bytes()));
  }
  const std::int64_t chunks = std::max<std::int64_t>(1, ceil_div(scan.problem.items, items));
  if (chunks > kMostChunks) {
    throw CommandError(kBadInput, fmt::format("{} chunks of {} are more than {}: choose a larger --chunk", chunks,
                                              in_bytes(chunk_bytes), kMostChunks));
  }
  scan.chunks = static_cast<int>(chunks);
  refuse_impossible(scan);
}

/// Chooses chunks and buffers that the budget allows.
void fit(OutOfCoreScan& scan, std::size_t budget, std::optional<std::size_t> chunk_bytes) {
  std::size_t chunk = chunk_bytes.value_or(kUsualChunk);
  cut(scan, chunk);
  scan.buffers = streams::buffers_within(scan, budget, kMostBuffers);
  while (!chunk_bytes && scan.buffers < kMostBuffers && chunk > kLeastChunk &&
         ceil_div(scan.problem.items, static_cast<std::int64_t>(chunk / 2 / scan.item_bytes())) <= kMostChunks) {
    chunk /= 2;
    cut(scan, chunk);
    scan.buffers = streams::buffers_within(scan, budget, kMostBuffers);
  }
  if (scan.buffers >= 2) return;
  scan.buffers = 2;
  throw CommandError(
      kBadInput,
      fmt::format("--budget {}: two chunks of {}, each with an input and an output, and what {} needs are {} "
                  "bytes; give at least that{}",
                  budget, in_bytes(static_cast<std::size_t>(scan.chunk_items()) * scan.item_bytes()),
                  scan.scan->about.id, scan.device_bytes(), chunk_bytes ? ", or a smaller --chunk" : ""));
}

int read_count(const po::variables_map& values, const char* option, int most) {
  const int number = values[option].as<int>();
  if (number < 1 || number > most) {
    throw CommandError(kBadInput, fmt::format("--{} {}: between 1 and {} is possible", option, number, most));
  }
  return number;
}

Request read_request(const po::variables_map& values) {
  Request request;
  OutOfCoreScan& scan = request.scan;
  scan.problem.type = parse_named<ElementType>(values, "type");
  scan.problem.op = parse_named<Operator>(values, "op");
  scan.problem.mode = parse_named<Mode>(values, "mode");
  scan.host_buffers = kHostBuffers;

  const std::string device = values["device"].as<std::string>();
  if (device != "cuda" && device != "host") unknown("device", device, {"cuda", "host"});
  request.cuda = device == "cuda";
  if (values.count("in") + values.count("generate") != 1) {
    throw CommandError(kBadInput, "say what to scan: either --in FILE or --generate N");
  }
  if (values.count("in") != 0) {
    request.input.emplace(values["in"].as<std::string>(), scan.item_bytes());
    scan.problem.items = request.input->bytes() / static_cast<std::int64_t>(scan.item_bytes());
  } else {
    const std::vector<std::int64_t> counts = parse_items(values["generate"].as<std::string>(), "--generate");
    if (counts.size() != 1) throw CommandError(kBadInput, "--generate takes one number of items");
    scan.problem.items = counts.front();
    request.seed = values["seed"].as<std::uint64_t>();
  }
  if (values.count("out") != 0) {
    request.output = values["out"].as<std::string>();
    if (!request.output->has_filename()) {
      throw CommandError(kBadInput, fmt::format("--out '{}' names no file", request.output->string()));
    }
    if (request.input &&
        (request.input->is(*request.output) || request.input->is(request.output->string() + ".partial"))) {
      throw CommandError(kBadInput,
                         fmt::format("--in and --out are the same file, '{}': the input would be overwritten "
                                     "while it is read; choose another --out",
                                     request.output->string()));
    }
  }
  request.measures = values.count("compare") + values.count("json") != 0 || !values["repetitions"].defaulted();
  const std::string by = values["write"].as<std::string>();
  if (by != "pwrite" && by != "mapping") unknown("write", by, {"pwrite", "mapping"});
  request.output_options = {.replace = values.count("force") != 0,
                            .fresh = values.count("fresh") != 0 || request.measures,
                            .durable = values.count("durable") != 0,
                            .by = by == "mapping" ? streams::WriteBy::mapping : streams::WriteBy::pwrite};
  const int half_the_cores = static_cast<int>(std::thread::hardware_concurrency() / 2);
  request.io_threads =
      values.count("io-threads") != 0 ? read_count(values, "io-threads", 256) : std::clamp(half_the_cores, 1, 8);
  request.repetitions = read_count(values, "repetitions", 1000);
  request.verify = values.count("verify") != 0 || !request.output;
  for (const std::string& word : option_words(values, "compare")) {
    if (word != "naive" && word != "duplex" && word != "files") {
      unknown("comparison", word, {"naive", "duplex", "files"});
    }
    (word == "naive" ? request.naive : word == "duplex" ? request.duplex : request.files) = true;
  }
  if (request.duplex && (!request.cuda || request.output)) {
    throw CommandError(kBadInput, "--compare duplex is of a CUDA device, and in memory: leave out --out");
  }
  if (request.files && !request.output) {
    throw CommandError(kBadInput, "--compare files is of reading and writing a file: say which with --out");
  }
  request.budget = parse_bytes(values["budget"].as<std::string>(), "--budget");
  scan.scan = &read_scan(values, request.cuda);
  std::optional<std::size_t> chunk;
  if (values.count("chunk") != 0) chunk = parse_bytes(values["chunk"].as<std::string>(), "--chunk");
  fit(scan, request.budget, chunk);
  return request;
}

// ------------------------------------------------------------------------------------------------- verification

/// Whether the output is right, by integers alone: each of its items is the one before and an item of the input.
bool is_scan(const Problem& problem, const ReadPiece& read_in, const ReadPiece& read_out) {
  constexpr std::int64_t kAtOnce = 1 << 18;
  std::atomic<bool> right = true;
  with_monoid(problem.type, problem.op, [&]<class Op>(Op op) {
    using Item = typename Op::Item;
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(Item));
    const bool inclusive = problem.mode == Mode::inclusive;
    parallel_ranges(ceil_div(problem.items, kAtOnce), 1, [&](std::int64_t begin, std::int64_t end) {
      std::vector<Item> in(kAtOnce + 1);
      std::vector<Item> out(kAtOnce + 1);
      try {
        for (std::int64_t piece = begin; piece < end; ++piece) {
          const std::int64_t first = piece * kAtOnce;
          const std::int64_t before = first > 0 ? 1 : 0;  // with the item before, to go on from
          const std::int64_t items = std::min(kAtOnce, problem.items - first) + before;
          const auto bytes = static_cast<std::size_t>(items * kBytes);
          read_in((first - before) * kBytes, reinterpret_cast<std::byte*>(in.data()), bytes);
          read_out((first - before) * kBytes, reinterpret_cast<std::byte*>(out.data()), bytes);
          if (first == 0 && !(out[0] == (inclusive ? in[0] : Op::identity()))) right = false;
          for (std::size_t i = 1; i < static_cast<std::size_t>(items); ++i) {
            if (!(out[i] == op(out[i - 1], inclusive ? in[i] : in[i - 1]))) right = false;
          }
        }
      } catch (const std::exception&) {  // an output that cannot be read back is not right
        right = false;
      }
    });
  });
  return right;
}

/// Throws CommandError if the output is wrong; false if it cannot be told.
bool verified(const Request& request, const ReadPiece& read_in, const ReadPiece& read_out) {
  if (!request.verify || is_floating(request.scan.problem.type)) return false;
  if (!is_scan(request.scan.problem, read_in, read_out)) {
    throw CommandError(kFailed,
                       fmt::format("the output of {} is not the scan of its input", request.scan.scan->about.id));
  }
  return true;
}

// ------------------------------------------------------------------------------------------------------ one scan

HostArray fast_memory([[maybe_unused]] const Request& request, std::size_t bytes) {
#ifdef SCANLAB_WITH_CUDA
  if (request.cuda) return pinned_memory(bytes);
#endif
  return pageable_memory(bytes);
}

std::unique_ptr<streams::ScanDevice> make_device([[maybe_unused]] const Request& request, const OutOfCoreScan& scan,
                                                 const streams::Recording& recording) {
#ifdef SCANLAB_WITH_CUDA
  if (request.cuda) return streams::cuda_scan_device(scan, recording);
#endif
  return streams::host_scan_device(scan, recording);
}

streams::Recording record(const OutOfCoreScan& scan) {
  const streams::Schedule* const schedule = streams::ScheduleRegistry::instance().find(kSchedule);
  if (schedule == nullptr) throw std::logic_error(fmt::format("there is no schedule {}", kSchedule));
  return streams::record(scan, *schedule);
}

/// Any part of the input, by bytes from its start.
ReadPiece reader(const Request& request) {
  if (request.input) {
    return [&input = *request.input](std::int64_t place, std::byte* to, std::size_t bytes) {
      input.read(place, to, bytes);
    };
  }
  const Problem& problem = request.scan.problem;
  return with_monoid(problem.type, problem.op, [&]<class Op>(Op) -> ReadPiece {
    return [seed = request.seed, n = problem.items](std::int64_t place, std::byte* to, std::size_t bytes) {
      using Item = typename Op::Item;
      const std::int64_t first = place / static_cast<std::int64_t>(sizeof(Item));
      auto* const items = reinterpret_cast<Item*>(to);
      for (std::size_t i = 0; i < bytes / sizeof(Item); ++i) {
        items[i] = verify::input_item<Op>(verify::InputKind::random, seed, first + static_cast<std::int64_t>(i), n);
      }
    };
  });
}

Json asked(const Request& request) {
  const OutOfCoreScan& scan = request.scan;
  const Json input =
      request.input ? request.input->identity() : Json{{"generate", scan.problem.items}, {"seed", request.seed}};
  return {{"input", input},
          {"type", name(scan.problem.type)},
          {"op", name(scan.problem.op)},
          {"mode", name(scan.problem.mode)},
          {"scan", scan.scan->about.id},
          {"chunks", scan.chunks}};
}

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Asked before each chunk: shows how far it is, once that says something, and whether to go on.
class Pace {
 public:
  /// `ahead`: so many chunks before the one asked about may still be on their way.
  Pace(const OutOfCoreScan& scan, int ahead, Progress& progress) : scan_(scan), ahead_(ahead), progress_(progress) {}

  bool operator()(const Chunk& chunk) {
    constexpr double kSecondsToTell = 1;  // before, buffers fill and no rate means anything
    const double seconds = seconds_since(start_);
    const int done = chunk.index - ahead_;
    if (done > 0 && seconds >= kSecondsToTell) {
      const double bytes = static_cast<double>(done) * static_cast<double>(scan_.chunk_items()) *
                           static_cast<double>(scan_.item_bytes());
      const double left = seconds / done * (scan_.chunks - scan_.first_chunk - done);
      progress_.show(fmt::format("chunk {} of {}, {:.2f} GB/s in and out, {} left", scan_.first_chunk + done,
                                 scan_.chunks, 1e-9 * bytes / seconds, in_words(left)));
    }
    return !interrupted();
  }

 private:
  const OutOfCoreScan& scan_;
  int ahead_;
  Progress& progress_;
  Clock::time_point start_ = Clock::now();
};

/// How chunks pass from file to file.
enum class Way {
  naive,     ///< one step after another
  files,     ///< read and written as when streamed, but not scanned: what is written is of no use
  streamed,  ///< all at once
};

std::string_view name(Way way) { return way == Way::naive ? "naive" : way == Way::files ? "files" : "streamed"; }

/// A scan that went through, or as far as Ctrl-C let it.
struct Done {
  bool whole = true;
  double seconds = 0;
  std::size_t bytes = 0;  ///< that were read, and written, by this run
  bool verified = false;
};

/// The bytes of the first chunks.
std::int64_t bytes_before(OutOfCoreScan scan, int chunks) {
  scan.first_chunk = chunks;
  return scan.first_item() * static_cast<std::int64_t>(scan.item_bytes());
}

std::string kept(const Request& request, const streams::ResumableOutput& output) {
  return fmt::format("{} of {} chunks are kept in '{}': the same command{} goes on from there", output.chunks_done(),
                     request.scan.chunks, output.partial().string(),
                     request.measures ? " without --compare, --repetitions and --json" : "");
}

/// To a file. Throws CommandError: what went wrong, and what is kept.
Done scan_to_file(const Request& request, Way way, Context& context, Progress& progress) {
  OutOfCoreScan scan = request.scan;
  streams::ResumableOutput output(*request.output, static_cast<std::int64_t>(request.bytes()), asked(request),
                                  request.output_options);
  if (!output.begun_anew().empty()) {
    fmt::print(context.err, "scanlab: begins anew: {}\n", output.begun_anew());
  }
  scan.first_chunk = output.chunks_done();
  scan.carry = output.carry();
  if (scan.first_chunk > 0) {
    fmt::print(context.err, "scanlab: goes on behind chunk {} of {}\n", scan.first_chunk, scan.chunks);
  }
  const std::int64_t base = bytes_before(scan, scan.first_chunk);
  const ReadPiece read_any = reader(request);
  const ReadPiece read = [&](std::int64_t place, std::byte* to, std::size_t bytes) {
    read_any(base + place, to, bytes);
  };
  const streams::WritePiece write = [&](std::int64_t place, const std::byte* from, std::size_t bytes) {
    output.write(base + place, from, bytes);
  };
  Done done;
  int written = 0;  // chunks, by this run
  try {
    if (scan.first_chunk < scan.chunks) {
      const streams::Recording recording = record(scan);
      const std::unique_ptr<streams::ScanDevice> device =
          way == Way::files ? streams::no_scan_device(scan) : make_device(request, scan, recording);
      const auto memory = [&](std::size_t bytes) { return fast_memory(request, bytes); };
      const auto place = [&](const Chunk& chunk) { return chunk.first * static_cast<std::int64_t>(scan.item_bytes()); };
      const auto size = [&](const Chunk& chunk) { return static_cast<std::size_t>(chunk.items) * scan.item_bytes(); };
      if (way == Way::naive) {
        const auto start = Clock::now();
        streams::scan_one_by_one(
            recording, *device, scan.item_bytes(),
            [&](const Chunk& chunk, std::byte* to) { read(place(chunk), to, size(chunk)); },
            [&](const Chunk& chunk, const std::byte* from) {
              write(place(chunk), from, size(chunk));
              written = chunk.index + 1;
            },
            Pace(scan, 0, progress));
        done.seconds = seconds_since(start);
      } else {
        streams::WriteBehind sink(*device, scan, memory, request.io_threads, write,
                                  [&](int chunks, std::span<const std::byte> carry) {
                                    written = chunks;
                                    if (way == Way::files) return;  // nothing to go on from
                                    const int all = scan.first_chunk + chunks;
                                    output.chunks_written(all, bytes_before(scan, all), carry);
                                  });
        streams::ReadAhead source(*device, scan, memory, request.io_threads, read);
        const auto start = Clock::now();  // pinned buffers are there, and nothing is read yet
        streams::replay(recording, *device, source, sink, Pace(scan, scan.host_buffers, progress));
        done.seconds = seconds_since(start);
      }
    }
    progress.clear();
    if (request.input) request.input->check_unchanged();
    const int reached = scan.first_chunk + written;
    done.bytes = static_cast<std::size_t>(bytes_before(scan, reached) - base);
    if (request.bytes() > 0 && reached < scan.chunks) {  // Ctrl-C
      fmt::print(context.err, "scanlab: interrupted; {}\n",
                 output.chunks_done() > 0 ? kept(request, output) : "nothing of this scan is kept");
      done.whole = false;
      return done;
    }
    if (request.verify && way != Way::files) {
      const streams::InputFile result(output.partial(), scan.item_bytes());
      done.verified = verified(request, read_any, [&](std::int64_t place, std::byte* to, std::size_t bytes) {
        result.read(place, to, bytes);
      });
    }
    output.finish();
  } catch (const CommandError&) {  // it is wrong
    output.discard();
    throw;
  } catch (const streams::InputChanged& error) {
    progress.clear();
    output.discard();
    throw CommandError(kBadInput, error.what());
  } catch (const streams::FileError& error) {
    progress.clear();
    throw CommandError(kBadInput, output.chunks_done() > 0 ? fmt::format("{}; {}", error.what(), kept(request, output))
                                                           : error.what());
  }
  return done;
}

// -------------------------------------------------------------------------------------------------- measurement

/// Prints repetitions, and keeps them in a file.
class Report {
 public:
  Report(const Request& request, measure::ResultsFile* file, std::ostream& out)
      : request_(request), file_(file), out_(out) {}

  void add(const std::string& what, int repetition, const Done& done, bool verified) {
    const double rate = done.seconds > 0 ? static_cast<double>(done.bytes) / done.seconds : 0;
    fmt::print(out_, "{}: {} in {:.3f} s, {:.2f} GB/s in and as much out{}\n", what, in_bytes(done.bytes), done.seconds,
               1e-9 * rate, verified ? ", verified" : "");
    if (file_ != nullptr) keep(what, repetition, done, verified);
  }

 private:
  void keep(const std::string& what, int repetition, const Done& done, bool verified) {
    const OutOfCoreScan& scan = request_.scan;
    benchmark::BenchmarkReporter::Run run;
    run.run_name.function_name =
        fmt::format("stream_scan/way:{}/scan:{}/type:{}/op:{}/mode:{}/items:{}/from:{}/to:{}/budget:{}/chunks:{}", what,
                    scan.scan->about.id, name(scan.problem.type), name(scan.problem.op), name(scan.problem.mode),
                    scan.problem.items,
                    !request_.output ? "memory"
                    : request_.input ? "file"
                                     : "generated",
                    request_.output ? "file" : "memory", request_.budget, scan.chunks);
    run.run_type = benchmark::BenchmarkReporter::Run::RT_Iteration;
    run.family_index = 0;
    run.per_family_instance_index = 0;
    run.iterations = 1;
    run.threads = 1;
    run.repetition_index = repetition;
    run.repetitions = request_.repetitions;
    run.time_unit = benchmark::kNanosecond;
    run.real_accumulated_time = done.seconds;
    run.cpu_accumulated_time = done.seconds;
    run.counters["bytes_each_way"] = static_cast<double>(done.bytes);
    run.counters["bytes_per_second_each_way"] = done.seconds > 0 ? static_cast<double>(done.bytes) / done.seconds : 0;
    run.counters["device_bytes"] = static_cast<double>(scan.device_bytes());
    run.counters["buffers"] = scan.buffers;
    run.counters["io_threads"] = request_.output ? request_.io_threads : 0;
    run.counters["mapped"] = request_.output && request_.output_options.by == streams::WriteBy::mapping ? 1 : 0;
    run.counters["verified"] = verified ? 1 : 0;
    file_->append(run);
  }

  const Request& request_;
  measure::ResultsFile* file_;
  std::ostream& out_;
};

int to_files(Request& request, Report& report, Context& context) {
  Progress progress(context.err);
  for (int repetition = 0; repetition < request.repetitions; ++repetition) {
    for (const Way way : {Way::naive, Way::files, Way::streamed}) {  // so that what stays is of the last
      if ((way == Way::naive && !request.naive) || (way == Way::files && !request.files)) continue;
      const Done done = scan_to_file(request, way, context, progress);
      if (!done.whole) return kInterrupted;
      report.add(std::string(name(way)), repetition, done, done.verified);
      const bool last = way == Way::streamed && repetition + 1 == request.repetitions;
      if (!last) fs::remove(*request.output);  // ours; its pages are given back before the next is timed
    }
  }
  return kOk;
}

int in_memory(const Request& request, Report& report, Context& context) {
  const OutOfCoreScan& scan = request.scan;
  const std::size_t bytes = request.bytes();
  constexpr std::byte kPoison{0xA5};
  constexpr std::int64_t kAtOnce = 1 << 21;
  Progress progress(context.err);
  const HostArray in = fast_memory(request, bytes);
  const HostArray out = fast_memory(request, bytes);
  const auto for_all = [&](const auto& body) {
    std::exception_ptr failure;
    std::mutex mutex;
    parallel_ranges(ceil_div(static_cast<std::int64_t>(bytes), kAtOnce), 1, [&](std::int64_t begin, std::int64_t end) {
      try {
        const auto first = static_cast<std::size_t>(begin * kAtOnce);
        if (first < bytes) {
          body(first, std::min(static_cast<std::size_t>(end * kAtOnce), bytes) - first);
        }
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
      }
    });
    if (failure) std::rethrow_exception(failure);
  };
  const auto memory_reader = [](const std::byte* items) {
    return [items](std::int64_t place, std::byte* to, std::size_t size) { std::copy_n(items + place, size, to); };
  };
  const ReadPiece read = reader(request);
  for_all([&](std::size_t first, std::size_t size) { read(static_cast<std::int64_t>(first), in.get() + first, size); });
  if (request.input) request.input->check_unchanged();

  const streams::Recording recording = record(scan);
  for (int repetition = 0; repetition < request.repetitions; ++repetition) {
    for (const char* const what : {"duplex_copy", "naive", "streamed"}) {
      const bool naive = what == std::string_view("naive");
      const bool duplex = what == std::string_view("duplex_copy");
      if ((naive && !request.naive) || (duplex && !request.duplex)) continue;
      for_all([&](std::size_t first, std::size_t size) { std::fill_n(out.get() + first, size, kPoison); });
      Done done{.bytes = bytes};
      if (duplex) {
#ifdef SCANLAB_WITH_CUDA
        done.seconds = streams::duplex_copy_seconds(in.get(), out.get(), bytes,
                                                    static_cast<std::size_t>(scan.chunk_items()) * scan.item_bytes());
        report.add(what, repetition, done, false);
#endif
        continue;
      }
      const std::unique_ptr<streams::ScanDevice> device = make_device(request, scan, recording);
      const auto start = Clock::now();
      if (naive) {
        const auto at = [&](const Chunk& chunk) { return static_cast<std::size_t>(chunk.first) * scan.item_bytes(); };
        const auto size = [&](const Chunk& chunk) { return static_cast<std::size_t>(chunk.items) * scan.item_bytes(); };
        streams::scan_one_by_one(
            recording, *device, scan.item_bytes(),
            [&](const Chunk& chunk, std::byte* to) { std::copy_n(in.get() + at(chunk), size(chunk), to); },
            [&](const Chunk& chunk, const std::byte* from) { std::copy_n(from, size(chunk), out.get() + at(chunk)); },
            Pace(scan, 0, progress));
      } else {
        streams::MemorySource source(in.get(), scan.item_bytes());
        streams::MemorySink sink(*device, out.get(), scan);
        streams::replay(recording, *device, source, sink, Pace(scan, scan.host_buffers, progress));
      }
      done.seconds = seconds_since(start);
      progress.clear();
      if (interrupted()) {
        fmt::print(context.err, "scanlab: interrupted; every finished repetition is kept\n");
        return kInterrupted;
      }
      report.add(what, repetition, done, verified(request, memory_reader(in.get()), memory_reader(out.get())));
    }
  }
  return kOk;
}

measure::Facts provenance(const Request& request, const Context& context) {
  measure::Facts facts{{"schema", measure::kResultsSchema}, {"kind", request.cuda ? "cuda" : "host"}};
  if (request.cuda) {
    facts.update(measure::measured_on("scanlab stream-scan", context.argv));
  } else {
    facts.update(measure::host_facts());
    facts.update(measure::build_facts());
    facts["date"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    facts["argv"] = fmt::format("{}", fmt::join(context.argv, " "));
  }
  facts["seed"] = std::to_string(request.seed);
  return facts;
}

}  // namespace

int stream_scan(const std::vector<std::string>& arguments, Context& context) {
  po::variables_map values;
  if (!parse_options(arguments, stream_scan_options(), {}, command("stream-scan"), context, values)) {
    context.out << "\n" << kNotes;
    return kOk;
  }
  if (values["device"].as<std::string>() == "cuda") {
    std::string why_not;
    if (!measure::device_facts(why_not)) {
      throw CommandError(kNoDevice, fmt::format("scanlab stream-scan needs a CUDA device, and there is none: {}; "
                                                "--device host scans without",
                                                why_not));
    }
  }
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows beyond what is allowed is an error like a full disk
  const InterruptGuard guard;
  try {
    Request request = read_request(values);
    std::optional<measure::ResultsFile> file;
    if (values.count("json") != 0) {
      file.emplace(values["json"].as<std::string>(), provenance(request, context),
                   values.count("force") != 0 ? measure::IfExists::replace : measure::IfExists::refuse);
    }
    Report report(request, file ? &*file : nullptr, context.out);
    return request.output ? to_files(request, report, context) : in_memory(request, report, context);
  } catch (const streams::FileError& error) {
    throw CommandError(kBadInput, error.what());
#ifdef SCANLAB_WITH_CUDA
  } catch (const cuda::OutOfMemory& error) {
    throw CommandError(kBadInput, fmt::format("{}; give a smaller --budget", error.what()));
#endif
  } catch (const std::bad_alloc&) {
    throw CommandError(kBadInput, "there is not enough host memory: give --out FILE, or a smaller --chunk");
  }
}

}  // namespace scanlab::cli
