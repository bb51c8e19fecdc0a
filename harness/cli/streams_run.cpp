// scanlab streams run: times schedules over workloads and parameters, and their parts by themselves.
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <new>
#include <optional>
#include <set>
#include <tuple>

#include "harness/cli/google_flags.hpp"
#include "harness/cli/interrupt.hpp"
#include "harness/cli/job_selection.hpp"
#include "harness/cli/one_benchmark.hpp"
#include "harness/cli/progress.hpp"
#include "harness/cli/results_file.hpp"
#include "harness/cli/selection.hpp"
#include "harness/cli/streams.hpp"
#include "harness/cli/streams_sweep.hpp"
#include "harness/model/median.hpp"
#include "harness/streams/recording.hpp"
#ifdef SCANLAB_WITH_CUDA
#include "harness/cuda/device.hpp"
#include "harness/cuda/error.hpp"
#include "harness/cuda/nvml.hpp"
#include "harness/streams/cuda_executor.hpp"
#include "harness/streams/cuda_rates.hpp"
#endif

namespace scanlab::cli {

namespace po = boost::program_options;

namespace {

constexpr char kDefaultWorkloads[] = "scale";
constexpr char kDefaultItems[] = "2^26";

constexpr char kNotes[] =
    "The time is the host's, from before the first operation is issued until the device is seen to be done. Memory,\n"
    "streams, events and graphs are made before, anew for each repetition, with one replay that is not timed. Before\n"
    "each timed replay the output and all device buffers are overwritten with poison, and after it every item of the\n"
    "output is compared with what it must be, to the bit. A schedule that fails is not timed further: status 1. A\n"
    "control must fail: status 1 if no repetition of it is wrong.\n"
    "The parts are measured in the same rounds: copies each way alone (copy:h2d, copy:d2h) and while the other way is\n"
    "busy (copy:duplex_h2d, copy:duplex_d2h; pinned memory only), and the kernel of a chunk alone (kernel:ID).\n"
    "All --benchmark_* flags are taken: --benchmark_out is --out, --benchmark_repetitions is --rounds.\n";

struct RunOptions {
  int rounds = 10;      ///< at most
  double width = 0.01;  ///< no more for a case whose median is known to this part of itself, with 95 %
  double cap = std::numeric_limits<double>::infinity();  ///< seconds of wall time a case may take over all rounds
  std::uint64_t seed = 1;
};

/// A schedule and its job, timed.
struct TimedSchedule {
  enum class State { timed, skipped, failed };

  ScheduledJob chosen;
  std::string name;
  streams::Recording recording;

  State state = State::timed;
  std::string reason{};  ///< of the latest that was wrong, or why it is not timed
  bool out_of_memory = false;
  int wrong = 0;  ///< repetitions
  std::vector<double> nanoseconds{};
  double wall = 0;  ///< seconds that its repetitions took in all, made ready and verified

  bool control() const { return chosen.schedule->about.control; }
  /// Both ways over the bus.
  double bytes() const {
    const streams::WorkloadDescription& about = chosen.job.workload->about;
    return static_cast<double>(chosen.job.items) * static_cast<double>(about.item_bytes() * (about.inputs + 1u));
  }
};

/// streams/schedule:ID/workload:W/items:N/chunks:C/streams:S/memory:M/work:W/blocks:B, and /buffers:B for a schedule
/// that has fewer than chunks.
std::string name_of(const ScheduledJob& chosen, const streams::Recording& recording) {
  const streams::Job& job = chosen.job;
  const bool reuses = recording.buffers < std::min<std::int64_t>(job.chunks, job.items);
  return fmt::format("streams/schedule:{}/workload:{}/items:{}/chunks:{}/streams:{}/memory:{}/work:{}/blocks:{}{}",
                     chosen.schedule->about.id, job.workload->about.id, job.items, job.chunks, job.streams,
                     name(job.memory), job.work, job.blocks,
                     reuses ? fmt::format("/buffers:{}", recording.buffers) : "");
}

/// Each once: parameters that a schedule does not heed give no case of their own where the name does not tell them.
std::vector<TimedSchedule> timed_schedules(const std::vector<ScheduledJob>& jobs) {
  std::vector<TimedSchedule> all;
  std::set<std::string> names;
  for (const ScheduledJob& chosen : jobs) {
    TimedSchedule timed{.chosen = chosen, .recording = record(*chosen.schedule, chosen.job)};
    timed.name = name_of(chosen, timed.recording);
    if (passes_google_filter(timed.name) && names.insert(timed.name).second) all.push_back(std::move(timed));
  }
  return all;
}

std::string verdict(const TimedSchedule& timed) {
  const std::size_t repetitions = timed.nanoseconds.size();
  if (timed.control()) {
    return timed.wrong > 0 ? fmt::format("control, caught in {} of {}: {}", timed.wrong, repetitions, timed.reason)
                           : "control, NOT CAUGHT: right every time";
  }
  return timed.state == TimedSchedule::State::failed ? "FAILED: " + timed.reason : "verified";
}

/// Medians, the rate of all bytes that cross the bus, and whether the output was right.
void print_table(const std::vector<TimedSchedule>& schedules, std::ostream& out) {
  std::size_t width = 4;
  for (const TimedSchedule& timed : schedules) width = std::max(width, timed.name.size());
  fmt::print(out, "{:<{}}  {:>11}  {:>8}  {:>6}  {}\n", "case", width, "median ms", "GB/s", "rounds", "output");
  for (const TimedSchedule& timed : schedules) {
    if (timed.nanoseconds.empty()) {
      if (!timed.reason.empty()) {
        const bool failed = timed.state == TimedSchedule::State::failed;
        fmt::print(out, "{:<{}}  {}: {}\n", timed.name, width, failed ? "FAILED" : "skipped", timed.reason);
      }
      continue;
    }
    const double time = median(timed.nanoseconds);
    fmt::print(out, "{:<{}}  {:>11.3f}  {:>8.1f}  {:>6}  {}\n", timed.name, width, time / 1e6, timed.bytes() / time,
               timed.nanoseconds.size(), verdict(timed));
  }
}

#ifdef SCANLAB_WITH_CUDA

/// A copy or a kernel by itself, as an entry of its own.
struct Part {
  std::string name;
  double bytes = 0;  ///< that a copy moves; 0 of kernels
  std::function<double()> seconds;
  std::vector<double> nanoseconds{};
};

/// Times in rounds: one repetition of each part and of each schedule a round.
class StreamsSession {
 public:
  /// `file` may be null: then nothing is kept.
  StreamsSession(std::vector<TimedSchedule>& schedules, const RunOptions& options, ResultsFile* file, Context& context)
      : schedules_(schedules),
        options_(options),
        file_(file),
        context_(context),
        progress_(context.err),
        clock_(cuda::probe_device().facts.value().pci_bus_id) {}

  /// All schedules whose host arrays are the same together, since those take memory and time to fill. Ends early,
  /// everything finished kept, once Ctrl-C is pressed.
  void run() {
    const auto same_arrays = [](const TimedSchedule& a, const TimedSchedule& b) {
      const auto key = [](const streams::Job& job) {
        return std::tuple(job.workload, job.items, job.memory, job.work);
      };
      return key(a.chosen.job) == key(b.chosen.job);
    };
    std::set<const TimedSchedule*> done;
    for (const TimedSchedule& first : schedules_) {
      if (done.count(&first) != 0 || interrupted()) continue;
      std::vector<TimedSchedule*> group;
      for (TimedSchedule& each : schedules_) {
        if (same_arrays(first, each) && done.insert(&each).second) group.push_back(&each);
      }
      run_group(group);
    }
    progress_.clear();
  }

  const std::vector<Part>& parts() const { return parts_; }

 private:
  void run_group(const std::vector<TimedSchedule*>& group) {
    const streams::Job& job = group.front()->chosen.job;
    progress_.show(fmt::format("filling {} items of {}", job.items, job.workload->about.id));
    std::optional<streams::HostArrays> arrays;
    try {
      arrays.emplace(job, options_.seed);
    } catch (const std::bad_alloc&) {
      for (TimedSchedule* timed : group) {
        skip_for_memory(*timed, fmt::format("out of host memory for arrays of {} items", job.items));
        record_untimed(*timed);
      }
      return;
    }
    const std::size_t first_part = parts_.size();
    add_copies(*arrays, job);
    for (const TimedSchedule* timed : group) add_kernel(timed->chosen.job);
    for (int round = 0; round < options_.rounds; ++round) {
      for (std::size_t i = first_part; i < parts_.size(); ++i) {
        if (interrupted()) return;
        measure(parts_[i], round);
      }
      for (TimedSchedule* timed : group) {
        if (interrupted()) return;
        if (timed->state != TimedSchedule::State::timed || is_settled(*timed)) continue;
        if (round > 0 && timed->wall >= options_.cap) continue;
        const auto start = std::chrono::steady_clock::now();
        repeat(*timed, *arrays, round);
        timed->wall += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      }
    }
  }

  void add_part(Part part) {
    const auto same_name = [&](const Part& other) { return other.name == part.name; };
    if (std::ranges::none_of(parts_, same_name)) parts_.push_back(std::move(part));
  }

  /// Of at most 1 GiB: as good as more to tell the rate.
  void add_copies(const streams::HostArrays& arrays, const streams::Job& job) {
    using streams::Direction;
    const std::size_t bytes = std::min<std::size_t>(arrays.bytes(), std::size_t{1} << 30);
    if (bytes == 0) return;
    for (const bool both_ways : {false, true}) {
      if (both_ways && job.memory != streams::HostMemory::pinned) continue;
      for (const Direction direction : {Direction::in, Direction::out}) {
        add_part({.name = fmt::format("streams/copy:{}{}/bytes:{}/memory:{}", both_ways ? "duplex_" : "",
                                      direction == Direction::in ? "h2d" : "d2h", bytes, name(job.memory)),
                  .bytes = static_cast<double>(bytes),
                  .seconds = [&arrays, direction, bytes, both_ways] {
                    return streams::copy_seconds(arrays, direction, bytes, both_ways);
                  }});
      }
    }
  }

  void add_kernel(const streams::Job& job) {
    if (job.items == 0) return;
    add_part({.name = fmt::format("streams/kernel:{}/items:{}/work:{}/blocks:{}", job.workload->about.id,
                                  streams::longest_chunk(job.items, job.chunks), job.work, job.blocks),
              .seconds = [job] { return streams::kernel_seconds(job); }});
  }

  void measure(Part& part, int round) {
    progress_.show(fmt::format("round {}/{} {}", round + 1, options_.rounds, part.name));
    std::string reason;
    Run run = run_benchmark(part.name, 1, [&](benchmark::State& state) {
      try {
        for ([[maybe_unused]] auto _ : state) {
          state.SetIterationTime(part.seconds());
          read_clock(state);
        }
      } catch (const std::exception& error) {
        reason = error.what();
        state.SkipWithError(error.what());
      }
    });
    if (reason.empty()) part.nanoseconds.push_back(run.real_accumulated_time * 1e9);
    if (part.bytes > 0) run.counters["bytes"] = part.bytes;
    keep(run, round);
  }

  /// One repetition of one schedule, verified; on disk when this returns.
  void repeat(TimedSchedule& timed, streams::HostArrays& arrays, int round) {
    progress_.show(fmt::format("round {}/{} {}", round + 1, options_.rounds, timed.name));
    bool verified = false;
    Run run = run_benchmark(timed.name, 1, [&](benchmark::State& state) {
      try {
        for ([[maybe_unused]] auto _ : state) {
          streams::CudaExecutor executor(timed.recording, arrays);
          executor.replay();  // untimed: the first of anything takes longer
          executor.poison();
          const double seconds = executor.replay().seconds();
          read_clock(state);
          state.SetIterationTime(seconds);
          timed.nanoseconds.push_back(seconds * 1e9);
        }
        const std::string wrong = arrays.wrong();
        verified = wrong.empty();
        if (verified) return;
        ++timed.wrong;
        timed.reason = wrong;
        if (!timed.control()) timed.state = TimedSchedule::State::failed;
      } catch (const cuda::OutOfMemory& lack) {
        skip_for_memory(timed, lack.what());
      } catch (const std::exception& error) {
        timed.state = TimedSchedule::State::failed;
        timed.reason = error.what();
      }
      if (timed.state != TimedSchedule::State::timed) state.SkipWithError(reason_in_words(timed).c_str());
    });
    describe(run, timed, verified);
    run.counters["settled"] = is_settled(timed) ? 1 : 0;
    keep(run, round);
    if (timed.state != TimedSchedule::State::failed) return;
    progress_.clear();
    fmt::print(context_.err, "scanlab: {} failed: {}\n", timed.name, timed.reason);
  }

  /// Behind the timed part, which must not wait for it: a device that has just ended its work still has its clock.
  void read_clock(benchmark::State& state) {
    if (const double mhz = clock_.sm_mhz(); mhz > 0) state.counters["sm_clock_mhz"] = mhz;
  }

  bool is_settled(const TimedSchedule& timed) const { return median_uncertainty(timed.nanoseconds) <= options_.width; }

  static std::string reason_in_words(const TimedSchedule& timed) {
    return (timed.wrong > 0 ? "verification failed: " : "") + timed.reason;
  }

  static void skip_for_memory(TimedSchedule& timed, const std::string& reason) {
    timed.state = TimedSchedule::State::skipped;
    timed.reason = reason;
    timed.out_of_memory = true;
  }

  void record_untimed(const TimedSchedule& timed) {
    Run run = run_benchmark(timed.name, 1,
                            [&](benchmark::State& state) { state.SkipWithError(reason_in_words(timed).c_str()); });
    describe(run, timed, false);
    keep(run, 0);
  }

  static void describe(Run& run, const TimedSchedule& timed, bool verified) {
    const streams::Job& job = timed.chosen.job;
    run.counters["items"] = static_cast<double>(job.items);
    run.counters["bytes"] = timed.bytes();
    run.counters["inputs"] = job.workload->about.inputs;
    run.counters["operations"] = static_cast<double>(timed.recording.operations.size());
    run.counters["buffers"] = timed.recording.buffers;
    run.counters["verified"] = verified ? 1 : 0;
    run.counters["control"] = timed.control() ? 1 : 0;
  }

  void keep(Run& run, int round) {
    run.repetition_index = round;
    run.repetitions = options_.rounds;
    run.counters["round"] = round;
    if (file_ != nullptr) file_->append(run);
  }

  std::vector<TimedSchedule>& schedules_;
  RunOptions options_;
  ResultsFile* file_;
  Context& context_;
  Progress progress_;
  cuda::ClockReader clock_;
  std::vector<Part> parts_;
};

void print_parts(const std::vector<Part>& parts, std::ostream& out) {
  for (const Part& part : parts) {
    if (part.nanoseconds.empty()) continue;
    const double time = median(part.nanoseconds);
    fmt::print(out, "{}  {:.3f} ms{}\n", part.name, time / 1e6,
               part.bytes > 0 ? fmt::format(", {:.1f} GB/s", part.bytes / time) : "");
  }
  fmt::print(out, "\n");
}

#endif

int status_of(const std::vector<TimedSchedule>& schedules) {
  int status = kOk;
  for (const TimedSchedule& timed : schedules) {
    const bool passed_unnoticed = timed.control() && !timed.nanoseconds.empty() && timed.wrong == 0 &&
                                  timed.recording.buffers > 0;  // without items there is nothing to be wrong
    if (timed.state == TimedSchedule::State::failed || passed_unnoticed) return kFailed;
    if (timed.out_of_memory) status = kOutOfMemory;
  }
  return interrupted() ? kInterrupted : status;
}

template <class T>
std::optional<T> given(const po::variables_map& values, const char* option) {
  return values.count(option) == 0 ? std::nullopt : std::optional<T>(values[option].as<T>());
}

po::options_description run_options() {
  po::options_description options("options");
  add_job_options(options, kDefaultWorkloads, kDefaultItems);
  options.add_options()  //
      ("out", po::value<std::string>()->value_name("FILE"),
       "results: Google Benchmark's JSON, raw repetitions, with provenance")                                          //
      ("force", "replace FILE if it holds something")                                                                 //
      ("sweep", po::value<std::string>()->value_name("NAME"), sweep_help().c_str())                                   //
      ("rounds", po::value<int>()->value_name("N"), "repetitions of each case at most (default 10, or the sweep's)")  //
      ("width", po::value<double>()->value_name("PERCENT"),
       "no more for a case whose median is known to this, either way, with 95 % (default 1; 0: all)")  //
      ("cap", po::value<double>()->value_name("SECONDS"),
       "wall time a case may take over all rounds (default: no limit, or the sweep's)")                  //
      ("seed", po::value<std::uint64_t>()->value_name("N"), "of what the host arrays hold (default 1)")  //
      ("help,h", "this text");
  return options;
}

}  // namespace

int streams_run(const std::vector<std::string>& arguments, Context& context) {
  const GoogleFlags flags = take_google_flags(arguments);
  po::positional_options_description positional;
  positional.add("schedule", -1);
  po::variables_map values;
  if (!parse_options(flags.others, run_options(), positional, streams_command("run"), context, values)) {
    context.out << "\n" << kNotes;
    return kOk;
  }
  const StreamsSweep* const sweep =
      values.count("sweep") != 0 ? &find_named("sweep", streams_sweeps(), values["sweep"].as<std::string>()) : nullptr;
  if (values.count("schedule") == 0 && sweep == nullptr) {
    throw CommandError(kBadInput, "run takes a schedule, or all, as in 'scanlab streams run depth_first', or --sweep");
  }
  RunOptions options;
  if (sweep != nullptr) {
    options.rounds = sweep->rounds;
    options.cap = sweep->cap;
  }
  options.rounds = given<int>(values, "rounds").value_or(flags.rounds.value_or(options.rounds));
  options.cap = given<double>(values, "cap").value_or(options.cap);
  options.seed = given<std::uint64_t>(values, "seed").value_or(options.seed);
  if (const auto percent = given<double>(values, "width")) options.width = *percent / 100;
  if (!(options.width >= 0)) throw CommandError(kBadInput, "--width takes a percentage, 0 or more");
  if (options.rounds < 1) throw CommandError(kBadInput, "--rounds takes a number from 1 on");
  if (!(options.cap > 0)) throw CommandError(kBadInput, "--cap takes a number of seconds, more than 0");
  const std::optional<std::string> out = values.count("out") != 0 ? given<std::string>(values, "out") : flags.out;

  std::vector<TimedSchedule> schedules = timed_schedules(
      sweep != nullptr ? jobs(*sweep, values) : read_job_selection(values, kDefaultWorkloads, kDefaultItems).jobs());
  if (flags.list) {
    for (const TimedSchedule& timed : schedules) fmt::print(context.out, "{}\n", timed.name);
    return kOk;
  }
  if (schedules.empty()) {
    throw CommandError(kBadInput,
                       sweep != nullptr ? "no case of the sweep is left" : "--benchmark_filter leaves no case");
  }

  Facts provenance{{"schema", kStreamsSchema}, {"kind", "cuda"}};
  provenance.update(measured_on("scanlab streams run", context.argv));
  provenance["seed"] = std::to_string(options.seed);
  provenance["rounds"] = std::to_string(options.rounds);
  provenance["width_percent"] = fmt::format("{}", 100 * options.width);
  for (const auto& [key, value] : flags.context) {
    if (!provenance.contains(key)) provenance[key] = value;
  }
  std::optional<ResultsFile> file;
  if (out) file.emplace(*out, provenance, values.count("force") != 0 ? IfExists::replace : IfExists::refuse);

  const InterruptGuard guard;
#ifdef SCANLAB_WITH_CUDA
  StreamsSession session(schedules, options, file ? &*file : nullptr, context);
  session.run();
  print_parts(session.parts(), context.out);
#endif
  print_table(schedules, context.out);
  if (file) fmt::print(context.out, "{} entries in {}\n", file->entries(), file->path().string());
  if (interrupted()) fmt::print(context.err, "scanlab: interrupted; every finished repetition is kept\n");
  return status_of(schedules);
}

}  // namespace scanlab::cli
