// A scan of host data from an input to an output, each a file or in memory, and repetitions of it.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string_view>
#include <vector>

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
  std::optional<std::filesystem::path> output;  ///< else in memory
  OutputOptions output_options;
  int io_threads = 1;   ///< that read, and as many that write
  bool verify = false;  ///< outputs of integers
  int repetitions = 1;
  std::vector<Way> ways{Way::streamed};  ///< in each repetition; the last one's output stays
  bool measures = false;                 ///< the times are kept or compared: they must be of the whole

  std::size_t bytes() const { return static_cast<std::size_t>(scan.problem.items) * scan.item_bytes(); }
};

/// Chooses chunks and buffers that `budget` bytes of device memory allow; the bytes of a chunk too, if none are given.
/// Throws CommandError if that cannot be.
void choose_chunks(ChunkedScan& scan, std::size_t budget, std::optional<std::size_t> chunk_bytes);

/// One pass over all chunks, or over those that an interrupted run left.
struct Repetition {
  Way way = Way::streamed;
  int number = 0;
  double seconds = 0;
  std::size_t bytes = 0;  ///< that were read, and written
  bool verified = false;
};

/// The measured loop: every way in turn, `repetitions` times, each reported when it is done. False after Ctrl-C.
/// Progress and what is kept go to `err`. Throws CommandError for files, memory, or an output that is wrong.
bool measure_repetitions(const StreamScan& asked, std::ostream& err,
                         const std::function<void(const Repetition&)>& report);

/// "2.5 GiB", "300 bytes".
std::string in_bytes(std::size_t bytes);

}  // namespace scanlab::out_of_core
