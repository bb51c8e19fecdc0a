// What the engine model knows of a device: figures, each with its source. data/devices/ has a file a device, which the
// program carries; a user can give one more.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/host/document.hpp"

namespace scanlab::simulator {

/// Which ways an engine copies between host and device.
struct CopyEngine {
  bool in = false;   ///< host to device
  bool out = false;  ///< device to host

  bool serves(bool copy_in) const { return copy_in ? in : out; }
};

/// Of each way: bytes a second, or seconds.
struct EachWay {
  double in = 0;
  double out = 0;
};

/// Seconds of the host for a call.
struct CallCosts {
  double copy = 0;
  double synchronous_copy = 0;  ///< until the device may begin it
  double kernel = 0;
  double record = 0;
  double wait = 0;
  double graph = 0;       ///< of a launch of a graph
  double graph_node = 0;  ///< and for each of its nodes
};

/// The kernel of a workload with so much work an item, alone, measured behind the copy of its items.
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
  /// Seconds of an item where several kernels run at once, and none has to wait for the last blocks of another; 0: not
  /// known.
  double together = 0;
  /// Of a kernel that fills the device: how much sooner the first of its blocks ends than the mean, and later the last,
  /// in parts of the mean. From 0 on, less than 1.
  double spread = 0;

  /// Between two rows in proportion; beyond the last as before it, below the first as the first.
  Row at(std::int64_t items) const;
  /// Of what the device could have done while this kernel ran alone, the part that it used.
  double used(const Row& row) const;
};

struct DeviceProfile {
  std::string name;   ///< the file's name
  std::string title;  ///< a line for people

  /// None: copies and kernels exclude each other. Each way is served by one at least, or there are none.
  std::vector<CopyEngine> copy_engines;
  EachWay alone;              ///< of pinned memory, while nothing is copied the other way
  EachWay both;               ///< while something is
  EachWay pageable;           ///< of pageable memory, staging included
  double hand_over = 0;       ///< seconds until an operation may follow one of another kind that it waits for
  double hand_over_busy = 0;  ///< likewise, of any kind, while a copy in keeps the bus from what the device reads there
  EachWay copy_latency;       ///< seconds for which a copy has its engine before the first byte
  EachWay latency_both;       ///< seconds likewise, while bytes flow the other way; cut short when they cease
  EachWay latency_in_step;    ///< seconds likewise, of a copy that begins beside one the other way
  EachWay traced;             ///< seconds that a copy takes longer while activity records are collected
  EachWay traced_both;        ///< likewise, while something is copied the other way
  double kernel_latency = 0;  ///< seconds from when nothing holds a kernel to its first block
  CallCosts calls;
  double host_wait = 0;    ///< seconds from when what the host waits for is done until it goes on
  double device_rate = 0;  ///< bytes a second of device memory, read and written, for a kernel that is bound by it

  int hardware_queues = 0;  ///< that streams share, of kernels
  int copy_queues = 0;      ///< likewise of each way of copies, and no more than those of kernels; 0: as many
  /// Whether a copy engine stays with a hardware queue while that has a copy for it, and then turns to the next; else
  /// it takes, of all copies that wait, the first issued.
  bool drains_queues = false;
  int multiprocessors = 0;
  int resident_blocks = 0;   ///< a multiprocessor, at most
  int resident_threads = 0;  ///< a multiprocessor, at most
  int resident_grids = 0;    ///< at once; 1: no concurrent kernels
  /// The rule of compute capability 2.0 to 3.0: an operation that waits for a kernel waits until all blocks of all
  /// earlier launches have started, and holds back later launches until that kernel is complete. One that comes behind
  /// a kernel only through other operations does neither.
  bool waits_for_started_launches = false;

  std::vector<KernelTimes> kernels;  ///< those that were measured

  std::map<std::string, std::string> sources;  ///< by the figure's key in the file

  /// Blocks of so many threads that the device holds at once; 0 if it holds none.
  std::int64_t slots(int threads_per_block) const;
  /// Nothing if there are none. For work between two that were measured, what lies between in proportion.
  std::optional<KernelTimes> kernel_times(const std::string& workload, int work) const;
};

/// Reads a profile, strictly: every figure with its source, and nothing else. Figures that only a calibration knows may
/// be left out: costs by kind of call, hand-overs, times of kernels. Throws DocumentError, which calls it `file`.
DeviceProfile parse_device_profile(std::string_view text, const std::string& file);

/// The profiles of data/devices/ when the program was built, by name.
const std::vector<DeviceProfile>& built_in_device_profiles();
std::vector<std::string> built_in_profile_names();

/// The built-in profile of this name, or that in FILE.json. Throws DocumentError; for an unknown name it has the near
/// matches.
DeviceProfile device_profile(const std::string& name_or_file);

/// The same with the figures of a table in place of its own; the keys `profile` and `title` of the table are no
/// figures.
DeviceProfile device_profile(const std::string& name_or_file, const Value& changes);

}  // namespace scanlab::simulator
