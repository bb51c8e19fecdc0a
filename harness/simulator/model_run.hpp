// State that the parts of the engine model share: simulated time, future events, and the progress of each operation.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "harness/simulator/simulation.hpp"

namespace scanlab::simulator {

/// Femtoseconds: the time of a block, rounded, is counted thousands of times.
using Ticks = std::int64_t;
inline constexpr double kTick = 1e-15;
inline constexpr double kLongest = 1e3;  // seconds of one run, if nothing overlaps: far from what Ticks hold

/// Throws std::invalid_argument for what is no time of an operation.
inline Ticks ticks(double seconds) {
  if (!(seconds >= 0 && seconds <= kLongest)) {
    throw std::invalid_argument(fmt::format("{} seconds: a time is from 0 to {} seconds", seconds, kLongest));
  }
  return std::llround(seconds / kTick);
}
inline double seconds(Ticks time) { return static_cast<double>(time) * kTick; }

inline bool is_kernel(const streams::Operation& operation) { return is_work(operation) && !is_copy(operation); }
inline bool copies_in(const streams::Operation& operation) { return operation.kind == streams::OperationKind::copy_in; }

enum class What { host_goes_on, may_start, grid_arrives, bytes_flow, copy_ends };

struct Happening {
  Ticks at = 0;
  std::size_t operation = 0;
  What what{};
  int engine = 0;             ///< of copies
  std::uint32_t version = 0;  ///< the last version of a predicted event holds

  auto key() const { return std::tuple(at, operation, what); }
  bool operator>(const Happening& other) const { return key() > other.key(); }
};

/// The state of an operation that is work.
struct Progress {
  std::size_t lane = 0;
  std::size_t span = 0;
  std::uint32_t waits_for = 0;  ///< dependencies that are not done
  bool issued = false;
  bool offered = false;  ///< a copy, to the engines
  bool done = false;
  bool host_waits = false;
  bool checks_a_kernel = false;
  Ticks ready = 0;                     ///< when it was issued and all that it waits for was done
  std::optional<std::size_t> held_by;  ///< the launch for which the rule of compute capability 2.0 to 3.0 held it
};

struct ModelRun {
  const streams::Recording& recording;
  const DeviceProfile& device;
  std::vector<Progress> progress;  ///< by operation
  Simulation result{};
  Ticks now = 0;
  std::priority_queue<Happening, std::vector<Happening>, std::greater<>> happenings{};

  const streams::Operation& operation(std::size_t index) const { return recording.operations[index]; }
  streams::Span& span(std::size_t operation) { return result.timeline.spans[progress[operation].span]; }
};

}  // namespace scanlab::simulator
