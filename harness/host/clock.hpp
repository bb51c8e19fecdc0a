// The clock by which the host times.
#pragma once

#include <chrono>

namespace scanlab {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Keeps the calling thread busy until then.
inline void spin_until(Clock::time_point moment) {
  while (Clock::now() < moment) {
  }
}
/// The same for so long.
inline void spin_for(std::chrono::duration<double> time) {
  spin_until(Clock::now() + std::chrono::duration_cast<Clock::duration>(time));
}

}  // namespace scanlab
