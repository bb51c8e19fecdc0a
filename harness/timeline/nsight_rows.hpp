// An export of Nsight Systems on its way to a recording: rows of its tables, in nanoseconds.
#pragma once

#include <array>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/host/sqlite_file.hpp"
#include "harness/timeline/nsight_export.hpp"

namespace scanlab::streams {

inline const SqliteFile::Column kProcess{"globalPid", false};
inline const SqliteFile::Column kContext{"contextId", false};

inline constexpr double kNanosecond = 1e-9;     // seconds
inline constexpr std::int64_t kIds = 0xFFFFFF;  // in a serialized id, what the operating system calls it

/// The part of a serialized global id that names the process.
inline std::int64_t process_of(std::optional<std::int64_t> global_id) {
  constexpr int kThreadBits = 24;
  return global_id ? *global_id >> kThreadBits : 0;
}

/// A call of the host.
struct NsightCall {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::string name;
  std::int64_t thread = 0;
};

/// A context of a process on a device.
struct NsightContext {
  std::int64_t gpu = 0;      ///< as the export numbers them
  std::int64_t process = 0;  ///< 0: not known
  std::int64_t device = 0;   ///< as CUDA numbers it for this process
  std::int64_t context = 0;  ///< 0: not known
  auto operator<=>(const NsightContext&) const = default;
};

/// A row that becomes an operation.
struct NsightRow {
  Operation operation;
  std::int64_t start = 0;  ///< on the device; 0 for what is no work
  std::int64_t end = 0;
  NsightContext owner;
  std::int64_t stream = 0;
  std::optional<std::int64_t> correlation;
  std::int64_t blocks = 0;
  std::int64_t threads = 0;  ///< of a block; 0: not known, likewise
  std::int64_t registers = 0;
  std::int64_t shared_bytes = 0;
  std::optional<std::size_t> kernel;
  bool allocated = false;
  bool behind_host_function = false;
  HostMemory memory = HostMemory::pinned;
  const NsightCall* call = nullptr;

  /// When the host called, where that is known; else when the device began.
  std::int64_t issued_at() const { return call == nullptr ? start : call->start; }
  /// Operations that one call issued come as the device began them.
  auto order() const { return std::tuple(issued_at(), correlation.value_or(0), start); }
};

using NsightIntervals = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// The GPU, when other contexts and processes were at work on it, and when launches loaded kernels.
struct NsightBackground {
  std::array<double, 5> limits{};  ///< multiprocessors; warps, blocks, registers, shared bytes of one; 0: not known
  NsightIntervals others;
  NsightIntervals loads;
};

/// Chooses the context of most work, on the GPU that is asked for, and drops the rows of all others.
NsightContext choose_context(const SqliteFile& file, const NsightPart& part, std::vector<NsightRow>& rows,
                             NsightBackground& background, NsightExport& made);

/// Says of each operation whether a call before it allocates memory, or has the host's function run before it.
void note_calls(const std::vector<const NsightCall*>& calls, std::vector<NsightRow>& rows);

/// Gives each row's operation its stream, with its kind.
void name_streams(const SqliteFile& file, const NsightContext& context, std::vector<NsightRow>& rows,
                  NsightExport& made);

/// Adds recording and timeline. Without `has_calls` the host's part is not known.
void compose(const std::vector<NsightRow>& rows, const NsightBackground& background, bool has_calls,
             NsightExport& made);

}  // namespace scanlab::streams
