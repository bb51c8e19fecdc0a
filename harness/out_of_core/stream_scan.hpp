// A scan of host data from an input to an output, each a file or in memory, and repetitions of it.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <ostream>
#include <string_view>
#include <vector>

#include "harness/host/progress.hpp"
#include "harness/measure/engine.hpp"
#include "harness/out_of_core/chunk_files.hpp"
#include "harness/out_of_core/out_of_core_scan.hpp"

namespace scanlab::out_of_core {

/// How chunks pass from the input to the output.
enum class Way {
  duplex_copy,  ///< in memory: copied both ways at once, which no schedule can beat; the output is not a scan
  naive,        ///< one step after another
  files,        ///< read and written as when streamed, but not scanned: the output is of no use
  streamed,     ///< all steps at once
};
std::string_view name(Way way);

struct StreamScan {
  ChunkedScan scan;
  bool cuda = true;                ///< on the device, else on threads of the host
  std::optional<InputFile> input;  ///< else generated
  std::uint64_t seed = 1;
  std::size_t budget = 0;                       ///< bytes of device memory that choose_chunks() was given
  std::optional<std::filesystem::path> output;  ///< else in memory
  OutputOptions output_options;
  int io_threads = 1;     ///< that read, and as many that write
  bool verify = false;    ///< outputs of integers
  bool measures = false;  ///< the times are kept or compared: they must be of the whole

  std::size_t bytes() const { return static_cast<std::size_t>(scan.problem.items) * scan.item_bytes(); }
};

/// Chooses chunks and buffers that `budget` bytes of device memory allow; the bytes of a chunk too, if none are given.
/// Throws CommandError if that cannot be.
void choose_chunks(ChunkedScan& scan, std::size_t budget, std::optional<std::size_t> chunk_bytes);

/// One pass over all chunks, or over those that an interrupted run left.
struct Repetition {
  Way way = Way::streamed;
  double seconds = 0;
  double sm_clock_mhz = 0;  ///< just after; 0: not known
  std::size_t bytes = 0;    ///< that were read, and written
  bool verified = false;

  double bytes_per_second() const { return seconds > 0 ? static_cast<double>(bytes) / seconds : 0; }
};

/// Repetitions of a scan, in any way, of one input.
class StreamScanRuns {
 public:
  /// Fills memory if that is where it is from. Progress and what is kept go to `err`. Throws CommandError.
  StreamScanRuns(const StreamScan& asked, std::ostream& err);

  /// One repetition; its output replaces the one before. nullopt after Ctrl-C. Throws CommandError for files, memory,
  /// or an output that is wrong.
  std::optional<Repetition> run(Way way);

 private:
  std::optional<Repetition> scan_in_memory(Way way);
  std::optional<Repetition> scan_to_file(Way way);
  double pass_chunks(const ChunkedScan& scan, Way way, ResumableOutput& output, int& written);

  const StreamScan& asked_;
  std::ostream& err_;
  Progress progress_;
  std::function<double()> sm_clock_mhz_;
  HostArray in_, out_;  ///< if they lie in memory: pinned if the device is a GPU
  bool has_output_ = false;
};

/// "2.5 GiB", "300 bytes".
std::string in_bytes(std::size_t bytes);

/// So many samples of each way, printed to `out` as they are made. The output that stays is that of
/// the scan as it is done. Returns kOk, kFailed if a repetition failed, kInterrupted after Ctrl-C. Throws CommandError
/// as StreamScanRuns does.
int measure_ways(const StreamScan& asked, const std::vector<Way>& ways, int repetitions, measure::Engine& engine,
                 std::ostream& out, std::ostream& err);

}  // namespace scanlab::out_of_core
