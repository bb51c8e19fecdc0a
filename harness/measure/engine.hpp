// The measuring engine: Google Benchmark. It parses its flags, chooses among the cases, repeats and interleaves them at
// random, and reports. A repetition is a sample, timed by hand: by CUDA events, or by the host's clock.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "harness/host/progress.hpp"
#include "harness/measure/timing.hpp"
#include "harness/results/provenance.hpp"
#include "harness/results/results_file.hpp"

namespace scanlab::measure {

/// The flags of Google Benchmark among the words of a command line.
class GoogleFlags {
 public:
  GoogleFlags() = default;
  explicit GoogleFlags(const std::vector<std::string>& arguments);

  /// The words that are no flags of Google Benchmark.
  const std::vector<std::string>& others() const { return others_; }

  /// The value of --benchmark_NAME, else of the environment's BENCHMARK_NAME; empty if neither is given.
  std::string value(const std::string& name) const;
  bool given(const std::string& name) const { return !value(name).empty(); }

  /// Lets Google Benchmark parse the flags, for this process. `repetitions`: unless --benchmark_repetitions is given.
  /// Throws CommandError (status 2) for a flag that it does not take, and for a --benchmark_out that cannot be written.
  void parse(int repetitions = kRepetitions) const;

  /// --benchmark_min_time: timed seconds per sample ("0.2", "0.2s"), or runs per sample ("100x").
  std::optional<double> seconds() const;
  std::optional<std::int64_t> runs() const;

 private:
  std::vector<std::string> others_;
  std::vector<std::string> flags_;
};

/// For the notes of the commands that take them.
inline constexpr char kGoogleFlagsNote[] =
    "Google Benchmark times the cases, and parses its flags: --benchmark_filter, --benchmark_list_tests,\n"
    "--benchmark_repetitions, --benchmark_out, --benchmark_out_format, --benchmark_context and the others.\n";

struct Sample {
  double seconds = 0;              ///< of one run; 0: Ctrl-C came before
  std::int64_t runs = 1;           ///< `seconds` is their mean
  double sm_clock_mhz = 0;         ///< while it ran; 0: not known
  Facts fields = Facts::object();  ///< of this sample alone, as the record has them
};

/// A case, as the engine registers it. An exception of `sample` or `close` becomes the state of the case; a lost device
/// (verify::DeviceLost) ends the measurement.
struct EngineCase {
  Timing* timing = nullptr;
  std::int64_t runs = 1;  ///< per sample: Google Benchmark calls them iterations
  double bytes = 0;       ///< that a run moves, for bytes_per_second; 0: none
  std::string label{};    ///< for the table
  std::function<Sample(std::int64_t runs)> sample{};
  std::function<void()> close{};           ///< if given: after the last sample, to verify what it left; sets `verified`
  std::function<void(Facts&)> describe{};  ///< adds the fields of the case to an entry of the record
};

class Engine {
 public:
  /// `table`: where Google Benchmark shows its results; null: nowhere. Each sample is kept in `file`, unless it is
  /// null, before the next is taken. Throws CommandError (status 2) if that is the file of --benchmark_out.
  Engine(const GoogleFlags& flags, std::ostream* table, std::ostream& err, ResultsFile* file = nullptr);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Adds facts to the context of --benchmark_out.
  void add_context(const Facts& provenance);

  /// Lets Google Benchmark choose among cases by --benchmark_filter: sets the repetitions of each, 0 for one that is
  /// left out. False: it printed the names to `out` instead, for --benchmark_list_tests. Throws CommandError (status 2)
  /// if no case is chosen.
  static bool choose(const std::vector<Timing*>& cases, std::ostream& out);

  /// Takes all samples of a group of cases, interleaved. A case that is skipped or has failed is recorded with its
  /// reason. Ends early, everything finished kept, once Ctrl-C is pressed. Throws verify::DeviceLost, and CommandError
  /// if the disk does not take a sample.
  void run(const std::vector<EngineCase>& group);

  /// Ends the table: no group follows.
  void end_table();

  /// Calls `work` for a case; what it throws becomes the state of the case.
  void contain(Timing& timing, const std::function<void()>& work);

  Progress& progress() { return progress_; }

 private:
  class Report;
  void take(const EngineCase& each, Sample& sample);
  void record(const EngineCase& each, const Sample& sample);

  std::ostream& err_;
  Progress progress_;
  ResultsFile* file_;
  std::unique_ptr<Report> table_;
  std::string out_path_;         ///< of --benchmark_out; empty: none
  std::unique_ptr<Report> out_;  ///< of --benchmark_out
  std::exception_ptr lost_;      ///< the device, or the disk: no further sample is taken
};

/// Erases the cases that Google Benchmark does not choose, and sets the repetitions of the others. False: their names
/// were printed instead.
template <class Timed>
bool choose_cases(std::vector<Timed>& cases, std::ostream& out) {
  std::vector<Timing*> all;
  for (Timed& each : cases) all.push_back(&each);
  if (!Engine::choose(all, out)) return false;
  std::erase_if(cases, [](const Timed& each) { return each.repetitions == 0; });
  return true;
}

}  // namespace scanlab::measure
