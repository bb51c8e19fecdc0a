// Small grids side by side, measured: k streams of kernels whose blocks all spin as long. No CUDA types here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "harness/simulator/block_waves.hpp"

namespace scanlab::streams {

inline constexpr char kConcurrencySchema[] = "scanlab-concurrency/1";

/// Settings that all grids of a run share.
struct ConcurrencySettings {
  int threads = 128;                  ///< a block
  int blocks_per_multiprocessor = 1;  ///< that are resident at once; shared memory keeps others out
  double block_seconds = 1e-3;
  int repetitions = 5;
};

/// One device's room for blocks of such settings.
struct Room {
  std::int64_t slots = 0;
  std::size_t shared_bytes = 0;  ///< a block
};

struct MeasuredGrids {
  SmallGrids grids;
  double block_seconds = 0;       ///< median over all blocks, by their own stamps
  std::vector<double> makespans;  ///< seconds from the first start to the last end of any block; one a repetition
};

inline constexpr int kMaxStreams = 128;  ///< grids that a device holds at once, since compute capability 7.0
inline constexpr int kMaxKernels = 512;  ///< in all streams: what the host can issue ahead of the device

/// The grids that show the staircase: 1 to 128 streams, with kernels from one block to a little more than all `slots`;
/// and three small kernels in each of four streams, which show hardware work queues that streams share.
std::vector<SmallGrids> staircase(std::int64_t slots);

/// Grids of every number of streams with every number of kernels and of blocks. Throws CommandError (status 2) for more
/// kernels than kMaxKernels.
std::vector<SmallGrids> every_grid(const std::vector<std::int64_t>& streams, const std::vector<std::int64_t>& kernels,
                                   const std::vector<std::int64_t>& blocks);

/// Room on this device, in a build with CUDA. Throws CudaError; std::invalid_argument if no block of such settings
/// fits.
Room room_for(const ConcurrencySettings& settings);

/// Issues depth-first behind a gate that opens when all is issued, so that the host's pace takes no part; in a build
/// with CUDA. Throws CudaError; std::runtime_error if the host was too slow for the gate, which is limited in time.
MeasuredGrids measure_grids(const SmallGrids& grids, const ConcurrencySettings& settings, const Room& room);

/// A case of the results file: grids that were measured, beside the formula, with raw repetitions.
nlohmann::ordered_json to_json(const MeasuredGrids& measured, const ConcurrencySettings& settings, const Room& room,
                               int connections);

/// Every case, measured with the connections that this process was started with; no grids: the staircase of this
/// device. Throws CommandError.
nlohmann::ordered_json measure_cases(const ConcurrencySettings& settings, std::vector<SmallGrids> grids);

/// Every case, measured by this program in a process of its own with so many connections: its words are `command`, and
/// it prints measure_cases(). Throws CommandError with the process's status if it failed.
nlohmann::ordered_json measure_cases_with(std::int64_t connections, const std::vector<std::string>& command);

/// A line per grids, whose `cases` are as measure_cases() gives them, with two columns per number of hardware work
/// queues: the makespan that was measured, and that of the formula.
void print(const nlohmann::ordered_json& cases, const std::vector<std::int64_t>& connections, std::ostream& out);

}  // namespace scanlab::streams
