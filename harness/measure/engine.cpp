#include "harness/measure/engine.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <new>
#include <sstream>
#include <utility>

#include "harness/host/interrupt.hpp"
#include "harness/host/status.hpp"
#include "harness/verify/cuda_verification.hpp"

namespace scanlab::measure {

namespace {

using benchmark::BenchmarkReporter;

constexpr std::string_view kPrefix = "--benchmark_";

const char* in_environment(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char letter) { return std::toupper(letter); });
  return std::getenv(("BENCHMARK_" + name).c_str());
}

/// 1.7 keeps the reporter, later versions hand it over.
[[maybe_unused]] std::shared_ptr<BenchmarkReporter> share(BenchmarkReporter* kept) {
  return {kept, [](BenchmarkReporter*) {}};
}
[[maybe_unused]] std::shared_ptr<BenchmarkReporter> share(std::unique_ptr<BenchmarkReporter> own) { return own; }

std::shared_ptr<BenchmarkReporter> file_reporter(const std::string& format) {
  if (format == "console") return std::make_shared<benchmark::ConsoleReporter>(benchmark::ConsoleReporter::OO_None);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  if (format == "csv") return std::make_shared<benchmark::CSVReporter>();
#pragma GCC diagnostic pop
  return std::make_shared<benchmark::JSONReporter>();
}

/// Lets Google Benchmark parse words, in addition to those before.
void parse_words(std::vector<std::string> words) {
  static char program[] = "scanlab";  // Google Benchmark keeps the pointer
  std::vector<char*> argv{program};
  for (std::string& word : words) argv.push_back(word.data());
  auto count = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  benchmark::Initialize(&count, argv.data(), [] {
    refuse(
        "a --benchmark_ flag has a value that Google Benchmark does not take: formats are console, json and csv, and "
        "time units ns, us, ms and s");
  });
  if (count > 1) refuse(fmt::format("Google Benchmark does not take {}", argv[1]));
}

/// Sees whether benchmarks run, and reports nothing of them.
struct Silence : BenchmarkReporter {
  bool runs = false;
  bool ReportContext(const Context&) override { return runs = true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

}  // namespace

GoogleFlags::GoogleFlags(const std::vector<std::string>& arguments) {
  for (const std::string& word : arguments) (word.starts_with(kPrefix) ? flags_ : others_).push_back(word);
}

std::string GoogleFlags::value(const std::string& name) const {
  const std::string flag = std::string(kPrefix) + name;
  std::string last;
  if (const char* const variable = in_environment(name)) last = variable;
  for (const std::string& word : flags_) {
    if (word == flag) last = "true";
    if (word.starts_with(flag + "=")) last = word.substr(flag.size() + 1);
  }
  return last;
}

void GoogleFlags::parse(int repetitions) const {
  if (given("min_warmup_time")) {
    refuse("--benchmark_min_warmup_time would have no effect: untimed runs go before every sample; leave it out");
  }
  if (const std::string text = value("repetitions"); !text.empty() && std::strtoll(text.c_str(), nullptr, 10) < 1) {
    refuse(fmt::format("--benchmark_repetitions={}: give 1 or more", text));
  }
  if (const std::string path = value("out"); !path.empty()) {
    const bool is_new = !std::filesystem::exists(path);
    if (!std::ofstream(path, std::ios::app)) {
      refuse(fmt::format("--benchmark_out={}: the file cannot be written", path));
    }
    if (is_new) std::filesystem::remove(path);
  }
  // Defaults of ours, and those of Google Benchmark in place of what an earlier command of this process was given.
  const bool shows_medians = !given("format") && !given("report_aggregates_only");
  const std::array<std::pair<const char*, std::string>, 9> defaults{{
      {"repetitions", std::to_string(repetitions)},
      {"enable_random_interleaving", "true"},
      {"time_unit", "us"},
      {"display_aggregates_only", shows_medians ? "true" : "false"},
      {"report_aggregates_only", "false"},
      {"counters_tabular", "false"},
      {"filter", ""},
      {"list_tests", "false"},
      {"format", "console"},
  }};
  std::vector<std::string> words;
  for (const auto& [name, initially] : defaults) {
    if (in_environment(name) == nullptr) words.push_back(fmt::format("{}{}={}", kPrefix, name, initially));
  }
  words.insert(words.end(), flags_.begin(), flags_.end());
  words.emplace_back("--benchmark_out=");  // opened by the first group: a refused command leaves it as it was
  parse_words(words);
}

std::optional<double> GoogleFlags::seconds() const {
  const std::string text = value("min_time");
  if (text.empty() || text.ends_with('x')) return std::nullopt;
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) refuse(fmt::format("--benchmark_min_time: '{}' is no number of seconds", text));
  return seconds;
}

std::optional<std::int64_t> GoogleFlags::runs() const {
  const std::string text = value("min_time");
  if (!text.ends_with('x')) return std::nullopt;
  return std::max(std::strtoll(text.c_str(), nullptr, 10), 1LL);
}

/// Hands the groups of a command to a reporter of Google Benchmark, as one report. Cases have the names that they are
/// filtered by: those of Google Benchmark end in the calibrated runs, which differ from session to session.
class Engine::Report : public BenchmarkReporter {
 public:
  using Make = std::function<std::shared_ptr<BenchmarkReporter>()>;
  /// `is_file`: the file is begun anew for each group, so that those before are written again. `medians`: of each
  /// case, nothing else.
  Report(Make make, bool is_file, bool medians) : make_(std::move(make)), is_file_(is_file), medians_(medians) {}

  bool ReportContext(const Context& context) override {
    first_family_ = next_family_;
    if (!is_file_ && inner_ != nullptr) return true;
    inner_ = make_();
    inner_->SetOutputStream(&GetOutputStream());
    inner_->SetErrorStream(&GetErrorStream());
    const bool goes_on = inner_->ReportContext(context);
    for (const std::vector<Run>& runs : before_) inner_->ReportRuns(runs);
    return goes_on;
  }

  void ReportRuns(const std::vector<Run>& reported) override {
    std::vector<Run> runs = reported;
    if (is_file_ && interrupted()) {  // nothing of repetitions that were not taken
      std::erase_if(runs,
                    [](const Run& run) { return run.run_type == Run::RT_Aggregate || run.real_accumulated_time == 0; });
    }
    if (medians_) {
      std::erase_if(runs, [](const Run& run) {
        const bool is_aggregate = run.run_type == Run::RT_Aggregate;
        return is_aggregate ? run.aggregate_name != "median" : run.real_accumulated_time == 0;  // has no time
      });
    }
    if (runs.empty()) return;
    for (Run& run : runs) {
      run.family_index += first_family_;
      next_family_ = std::max(next_family_, run.family_index + 1);
      run.run_name.iterations.clear();
      run.run_name.repetitions.clear();
      run.run_name.time_type.clear();
    }
    inner_->ReportRuns(runs);
    if (is_file_) before_.push_back(std::move(runs));
  }

  void Finalize() override {
    if (is_file_) inner_->Finalize();
  }

  /// Ends the table, which has no further group.
  void end() {
    if (inner_ != nullptr) inner_->Finalize();
    GetOutputStream().flush();
  }

 private:
  Make make_;
  bool is_file_;
  bool medians_;
  std::int64_t first_family_ = 0, next_family_ = 0;  ///< of the group: each counts from 0
  std::shared_ptr<BenchmarkReporter> inner_;
  std::vector<std::vector<Run>> before_;
};

Engine::Engine(const GoogleFlags& flags, std::ostream* table, std::ostream& err, ResultsFile* file)
    : err_(err), progress_(err), file_(file), out_path_(flags.value("out")) {
  if (table != nullptr) {
    const bool medians =
        !flags.given("format") && !flags.given("report_aggregates_only") && !flags.given("display_aggregates_only");
    table_ = std::make_unique<Report>([] { return share(benchmark::CreateDefaultDisplayReporter()); }, false, medians);
    table_->SetOutputStream(table);
    table_->SetErrorStream(&err);
  }
  if (out_path_.empty()) return;
  std::error_code none;
  if (file != nullptr && std::filesystem::equivalent(out_path_, file->path(), none))
    refuse(fmt::format("--out and --benchmark_out are the same file, '{}': choose another name", out_path_));
  const std::string format = flags.value("out_format");
  out_ = std::make_unique<Report>([format] { return file_reporter(format); }, true, false);
}

Engine::~Engine() = default;

void Engine::end_table() {
  if (table_ != nullptr) table_->end();
}

void Engine::add_context(const Facts& provenance) {
  if (out_ == nullptr) return;
  for (const auto& [key, fact] : provenance.items()) {
    if (fact.is_string() && key != "date" && key != "schema") benchmark::AddCustomContext(key, fact.get<std::string>());
  }
}

bool Engine::choose(const std::vector<Timing*>& cases, std::ostream& out) {
  benchmark::ClearRegisteredBenchmarks();
  for (Timing* const each : cases) {
    each->repetitions = 0;
    benchmark::RegisterBenchmark(each->name.c_str(), [each](benchmark::State& state) {
      ++each->repetitions;
      state.SkipWithError("chosen, and not yet run");
    });
  }
  std::ostringstream complaint;
  Silence silence;
  silence.SetOutputStream(&out);
  silence.SetErrorStream(&complaint);
  const std::size_t matching = benchmark::RunSpecifiedBenchmarks(&silence);
  benchmark::ClearRegisteredBenchmarks();
  if (matching == 0) {
    const std::string sentence = complaint.str();
    refuse(fmt::format("no case is left to time: {}", sentence.substr(0, sentence.find('\n'))));
  }
  return silence.runs;
}

void Engine::run(const std::vector<EngineCase>& group) {
  benchmark::ClearRegisteredBenchmarks();
  for (const EngineCase& each : group) {
    const auto repetition = [this, &each](benchmark::State& state) {
      Sample sample;
      take(each, sample);
      // Each repetition has all its iterations, also one without a time: Google Benchmark checks that they are as many.
      for ([[maybe_unused]] const auto& run : state) state.SetIterationTime(sample.seconds);
      if (each.timing->state != Timing::State::timed) return state.SkipWithError(each.timing->reason.c_str());
      if (sample.seconds <= 0) return state.SkipWithError("interrupted");
      if (each.bytes > 0) state.SetBytesProcessed(static_cast<std::int64_t>(each.bytes) * state.iterations());
      state.SetLabel(each.label.c_str());
      for (const auto& [field, value] : sample.fields.items()) {
        if (value.is_number()) state.counters[field] = value.get<double>();
      }
    };
    const bool is_timed = each.timing->state == Timing::State::timed;
    benchmark::RegisterBenchmark(each.timing->name.c_str(), repetition)
        ->UseManualTime()
        ->Iterations(each.runs)
        ->Repetitions(is_timed ? each.timing->repetitions : 1);
  }
  Silence silence;
  BenchmarkReporter* const table = table_ != nullptr ? static_cast<BenchmarkReporter*>(table_.get()) : &silence;
  if (out_ != nullptr) parse_words({fmt::format("{}out={}", kPrefix, out_path_)});  // opens the file
  if (!group.empty()) benchmark::RunSpecifiedBenchmarks(table, out_.get(), ".");
  benchmark::ClearRegisteredBenchmarks();
  progress_.clear();
  if (lost_) std::rethrow_exception(lost_);
}

/// One sample of one case; on disk when this returns. A case that is not timed is recorded once, with its reason.
void Engine::take(const EngineCase& each, Sample& sample) {
  Timing& timing = *each.timing;
  if (lost_ || interrupted() || timing.ended) return;
  try {
    if (timing.state == Timing::State::timed) {
      progress_.show(timing.name);
      contain(timing, [&] {
        sample = each.sample(each.runs);
        if (sample.seconds <= 0) return;
        timing.nanoseconds.push_back(sample.seconds * 1e9);
        if (std::ssize(timing.nanoseconds) == timing.repetitions && each.close) each.close();
      });
      if (timing.state == Timing::State::timed && sample.seconds <= 0) return;
    }
    record(each, sample);
  } catch (const verify::DeviceLost& error) {
    lost_ = std::current_exception();
    timing.fail(error.what());
    record(each, sample);
  } catch (const CommandError&) {
    lost_ = std::current_exception();
  }
}

void Engine::contain(Timing& timing, const std::function<void()>& work) {
  const auto lack = [&](const std::string& reason) {
    timing.skip(reason);
    timing.out_of_memory = true;
  };
  const bool had_failed = timing.state == Timing::State::failed;
  try {
    work();
  } catch (const verify::DeviceLost&) {
    throw;
  } catch (const CommandError&) {
    throw;
  } catch (const LacksMemory& error) {
    lack(error.what());
  } catch (const std::bad_alloc&) {
    lack("out of host memory");
  } catch (const std::exception& error) {
    timing.fail(error.what());
  }
  if (had_failed || timing.state != Timing::State::failed) return;
  progress_.clear();
  fmt::print(err_, "scanlab: {} failed: {}\n", timing.name, timing.reason);
}

/// The fields of Google Benchmark, by which its tools read the file, and ours beside them. data/README.md has them all.
void Engine::record(const EngineCase& each, const Sample& sample) {
  Timing& timing = *each.timing;
  const bool is_timed = timing.state == Timing::State::timed;
  timing.ended = !is_timed;
  if (file_ == nullptr) return;
  const std::size_t samples = timing.nanoseconds.size();
  const std::size_t index = sample.seconds > 0 ? samples - 1 : samples;
  Facts entry{{"name", timing.name},
              {"run_name", timing.name},
              {"run_type", "iteration"},
              {"repetitions", timing.repetitions},
              {"repetition_index", index},
              {"threads", 1},
              {"iterations", is_timed ? sample.runs : 0},
              {"real_time", is_timed ? sample.seconds * 1e9 : 0.0},
              {"cpu_time", 0.0},  // the device's times are no processor's
              {"time_unit", "ns"}};
  if (!is_timed) {
    entry["error_occurred"] = true;
    entry["error_message"] = timing.reason;
  }
  entry["outcome"] = is_timed ? "timed" : timing.state == Timing::State::skipped ? "skipped" : "failed";
  if (each.describe) each.describe(entry);
  entry["round"] = index;
  entry["verified"] = timing.verified && is_timed;
  if (sample.sm_clock_mhz > 0) entry["sm_clock_mhz"] = sample.sm_clock_mhz;
  entry.update(sample.fields);
  file_->append(entry);
}

void print_untimed(const Timings& all, std::ostream& out) {
  std::map<std::string, std::pair<int, const Timing*>> reasons;
  for (const Timing* const timing : all) {
    if (timing->state == Timing::State::timed) continue;
    auto& [count, first] = reasons[timing->reason];
    if (count++ == 0) first = timing;
  }
  for (const auto& [reason, entry] : reasons) {
    const auto& [count, first] = entry;
    fmt::print(out, "{} {} case{}: {} ({}{})\n", first->state == Timing::State::failed ? "FAILED" : "skipped", count,
               count == 1 ? "" : "s", reason, count == 1 ? "" : "first ", first->name);
  }
}

int status_of(const Timings& all) {
  if (interrupted()) return kInterrupted;
  if (std::ranges::find(all, Timing::State::failed, &Timing::state) != all.end()) return kFailed;
  return std::ranges::any_of(all, &Timing::out_of_memory) ? kOutOfMemory : kOk;
}

int status_or_nothing_ran(const Timings& all, std::ostream& err) {
  const int status = status_of(all);
  if (status != kOk || std::ranges::count(all, Timing::State::skipped, &Timing::state) != std::ssize(all))
    return status;
  fmt::print(err, "scanlab: nothing was timed: {}\n", kAllSkipped);
  return kBadInput;
}

}  // namespace scanlab::measure
