// What the engine model knows of a device: figures, each with its source. data/devices/ has a file a device, which the
// program carries; a user can give one more.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace scanlab::engines {

/// Which ways an engine copies between host and device.
struct CopyEngine {
  bool in = false;   ///< host to device
  bool out = false;  ///< device to host
};

/// Bytes a second.
struct CopyRates {
  double in = 0;
  double out = 0;
};

struct DeviceProfile {
  std::string name;   ///< the file's name
  std::string title;  ///< a line for people

  /// None: copies and kernels exclude each other. Each way is served by one at least, or there are none.
  std::vector<CopyEngine> copy_engines;
  CopyRates alone;            ///< of pinned memory, while nothing is copied the other way
  CopyRates both;             ///< while something is
  CopyRates pageable;         ///< of pageable memory, staging included
  double copy_latency = 0;    ///< seconds for which a copy has its engine before the first byte
  double kernel_latency = 0;  ///< seconds from when nothing holds a kernel to its first block
  double issue = 0;           ///< seconds of the host for a call
  double device_rate = 0;     ///< bytes a second of device memory, read and written, for a kernel that is bound by it

  int hardware_queues = 0;
  int multiprocessors = 0;
  int resident_blocks = 0;   ///< a multiprocessor, at most
  int resident_threads = 0;  ///< a multiprocessor, at most
  int resident_grids = 0;    ///< at once; 1: no concurrent kernels
  /// The rule of compute capability 2.0 to 3.0: an operation that depends on a kernel waits until all blocks of all
  /// earlier launches have started, and holds back later launches until that kernel is complete.
  bool waits_for_started_launches = false;

  std::map<std::string, std::string> sources;  ///< by the figure's key in the file

  /// Blocks of so many threads that the device holds at once; 0 if it holds none.
  std::int64_t slots(int threads_a_block) const;
};

/// A profile cannot be used; the sentence names the file, the key and the reason.
struct ProfileError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Reads a profile, strictly: every figure, with its source, and possible; nothing else. `file` says in errors which it
/// is. Throws ProfileError.
DeviceProfile parse_device_profile(std::string_view text, const std::string& file);

/// Those of data/devices/ when the program was built, by name.
const std::vector<DeviceProfile>& built_in_device_profiles();

/// The built-in profile of this name, or that in a file, if the word ends in ".json". Throws ProfileError; for an
/// unknown name it has the near matches.
DeviceProfile device_profile(const std::string& name_or_file);

}  // namespace scanlab::engines
