// Named sweeps of scans and schedules, from data/experiments.toml: lists of selections that together make the figures.
// A scan is timed in columns, each a state of the cache with a way to launch.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/core/variant.hpp"
#include "harness/schedule/schedule.hpp"
#include "harness/selection/words.hpp"

namespace scanlab {

/// The content of the device's cache when a timed run starts.
enum class Cache {
  cold,  ///< nothing of the run's data: an L2 flush goes before every run
  warm,  ///< the data that the run before left, of the same case
};

inline constexpr std::array kCacheNames{std::pair{Cache::cold, std::string_view("cold")},
                                        std::pair{Cache::warm, std::string_view("warm")}};

constexpr std::string_view name(Cache cache) { return kCacheNames[cache == Cache::cold ? 0 : 1].second; }

/// How timed runs reach the device.
enum class Launch {
  stream,    ///< each enqueued by the host
  graph,     ///< all captured in a CUDA graph, which is replayed
  batch,     ///< enqueued by the host behind a kernel that waits for the last of them: the host's time does not show
  pipeline,  ///< as stream, each between a kernel that writes its input and one that reads its output, timed with them
};

inline constexpr std::array kLaunchNames{
    std::pair{Launch::stream, std::string_view("stream")}, std::pair{Launch::graph, std::string_view("graph")},
    std::pair{Launch::batch, std::string_view("batch")}, std::pair{Launch::pipeline, std::string_view("pipeline")}};

constexpr std::string_view name(Launch launch) { return kLaunchNames[static_cast<std::size_t>(launch)].second; }

/// Host code is timed by the host's clock, warm.
inline bool is_host_code(const Variant& variant) { return variant.backends.host && !variant.backends.cuda; }

/// One selection of a sweep. What a variant is not compiled for is left out.
struct ScanSweepPart {
  /// general: on the device, those that are compiled for every element type. Scans of the literature that are there to
  /// be explained are not.
  enum class Who { device, general, host } who = Who::device;
  OptionWords words;  ///< a selection, as on the command line: {"items", {"2^8:2^30:x2"}}
  std::vector<Cache> caches;
  std::vector<Launch> launches;
  Words vary{};  ///< parameters: only variants that have one, once with each of its values
};

struct ScanSweep {
  std::string name;
  std::string about;
  int rounds = 0;
  double seconds = 0;           ///< of timed work a repetition aims at on the device
  bool needs_variants = false;  ///< too long to run without --variant
  std::vector<ScanSweepPart> parts;
};

const std::vector<ScanSweep>& scan_sweeps();

/// A scan, and the columns to time it in: each state of the cache with each way to launch.
struct ScanInColumns {
  Case scan;
  std::vector<Cache> caches;
  std::vector<Launch> launches;

  /// Returns the columns in which the scan can be timed.
  std::vector<std::pair<Cache, Launch>> columns() const;
};

/// Every case of a sweep, in the order of its parts. A floor does not depend on the problem and comes once.
std::vector<ScanInColumns> cases(const ScanSweep& sweep);

/// The scans of a selection (select_scans), each in the columns that the options `cache` (else cold and warm) and
/// `launch` (else stream and graph) name. Throws CommandError (status 2).
std::vector<ScanInColumns> selected_scans(const OptionWords& stated, const std::string& default_items);

/// The scans of a sweep that the stated options leave. Throws CommandError (status 2) for an option that the sweep sets
/// itself, and for a sweep that wants its variants named.
std::vector<ScanInColumns> selected_scans(const ScanSweep& sweep, const OptionWords& stated);

/// Adds the usual rivals to the variants, as far as this build has them: `best`, every CUB, copies and an empty launch.
/// Throws CommandError (status 2) if no variant is given.
OptionWords add_rivals(OptionWords stated);

struct ScheduleSweep {
  std::string name;
  std::string about;
  int rounds = 0;
  std::vector<OptionWords> parts;  ///< selections; every combination of the words of a part is a job
};

const std::vector<ScheduleSweep>& schedule_sweeps();

/// Each job of a sweep, in the order of its parts, narrowed to the stated schedules and workloads. Throws CommandError
/// (status 2) for an option that the sweep sets itself.
std::vector<streams::ScheduledJob> jobs(const ScheduleSweep& sweep, const OptionWords& stated);

}  // namespace scanlab
