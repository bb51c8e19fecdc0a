// Device profiles: the figures that the engine model needs, each with its source. data/devices/ has one file per
// device, built into the program; a user can give another file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/host/document.hpp"

namespace scanlab::simulator {

/// The directions in which an engine copies between host and device.
struct CopyEngine {
  bool in = false;   ///< host to device
  bool out = false;  ///< device to host

  bool serves(bool copy_in) const { return copy_in ? in : out; }
};

/// A figure per direction: bytes per second, or seconds.
struct EachWay {
  double in = 0;
  double out = 0;
};

/// Host time per call, in seconds.
struct CallCosts {
  double copy = 0;
  double synchronous_copy = 0;  ///< until the device may begin it
  double kernel = 0;
  double record = 0;
  double wait = 0;
  double graph = 0;       ///< per launch of a graph
  double graph_node = 0;  ///< additionally per node
};

/// Times of a workload's kernel for one amount of work per item, run alone, after the copy of its items.
struct KernelTimes {
  struct Row {
    std::int64_t items = 0;
    double seconds = 0;
    std::int64_t blocks = 0;
  };
  std::string workload;
  int work = 1;
  double call = 0;        ///< seconds of the host for all its launches
  std::vector<Row> rows;  ///< one at least; items and blocks grow
  /// Seconds per item while several kernels run at once; 0 if unknown.
  double together = 0;
  /// How much sooner than the mean the first block of a full device ends, and the last later: parts of the mean,
  /// below 1.
  double spread = 0;

  /// Interpolates between two rows; extrapolates beyond the last; returns the first below it.
  Row at(std::int64_t items) const;
  /// Returns the part of the device's throughput that this kernel used while it ran alone.
  double used(const Row& row) const;
};

struct DeviceProfile {
  std::string name;   ///< the file's name
  std::string title;  ///< a line for people

  /// Empty: copies and kernels exclude each other. Otherwise at least one engine serves each direction.
  std::vector<CopyEngine> copy_engines;
  EachWay alone;              ///< pinned memory, while nothing is copied in the other direction
  EachWay both;               ///< pinned memory, while the other direction is busy
  EachWay pageable;           ///< pageable memory, staging included
  double hand_over = 0;       ///< seconds between an operation and a dependent one of another kind
  double hand_over_busy = 0;  ///< the same for any kind, while an H2D copy delays the device's own reads over the bus
  EachWay copy_latency;       ///< seconds for which a copy occupies its engine before the first byte
  EachWay latency_both;       ///< the same, while the other direction is busy; ends early when that stops
  EachWay latency_in_step;    ///< the same, for a copy that begins together with one in the other direction
  EachWay traced;             ///< additional seconds of a copy while activity is traced
  EachWay traced_both;        ///< the same, while the other direction is busy
  double kernel_latency = 0;  ///< seconds from when a kernel is ready to its first block
  CallCosts calls;
  double host_wait = 0;    ///< seconds from the completion of what the host waits for until the host continues
  double device_rate = 0;  ///< bytes per second, read and written, of a kernel that device memory bounds

  int hardware_queues = 0;  ///< hardware work queues of kernels, which streams share
  int copy_queues = 0;      ///< the same per direction of copies, at most `hardware_queues`; 0: as many
  /// Whether a copy engine serves one hardware work queue after another, else the first issued of all waiting copies.
  bool drains_queues = false;
  int multiprocessors = 0;
  int resident_blocks = 0;   ///< per multiprocessor, at most
  int resident_threads = 0;  ///< per multiprocessor, at most
  int resident_grids = 0;    ///< at once; 1: no concurrent kernels
  /// The rule of compute capability 2.0 to 3.0: an operation that itself waits for a kernel also waits until all blocks
  /// of all earlier launches have started, and holds back later launches until that kernel is complete.
  bool waits_for_started_launches = false;

  std::vector<KernelTimes> kernels;  ///< the measured ones

  std::map<std::string, std::string> sources;  ///< by the figure's key in the file

  /// Returns how many blocks of this many threads the device holds at once.
  std::int64_t slots(int threads_per_block) const;
  /// Interpolates between measured amounts of work; nullopt if nothing was measured.
  std::optional<KernelTimes> kernel_times(const std::string& workload, int work) const;
};

/// Parses a profile strictly: every figure needs a source, and unknown keys are errors. Figures that only a
/// calibration knows may be left out: costs by kind of call, hand-overs, times of kernels. Throws DocumentError.
DeviceProfile parse_device_profile(std::string_view text, const std::string& file);

/// The names of the profiles of data/devices/ when the program was built.
std::vector<std::string> built_in_profile_names();

/// Returns the built-in profile of this name, or the one in FILE.json, with the figures in `changes` in place of the
/// profile's own; the keys `profile` and `title` of these are no figures. Throws DocumentError; for an unknown name it
/// suggests near matches.
DeviceProfile device_profile(const std::string& name_or_file, const std::optional<Value>& changes = {});

}  // namespace scanlab::simulator
