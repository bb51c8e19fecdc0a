// How work grows, whatever machine does it, and whatever else that machine does: by the processor's time of this
// thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <limits>
#include <random>
#include <vector>

namespace scanlab {

/// Seconds of this thread on a processor, the least of three times: others slow it down, and nothing makes it quicker.
template <class Work>
double processor_seconds(const Work& work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  double least = std::numeric_limits<double>::infinity();
  for (int time = 0; time < 3; ++time) {
    const double begin = now();
    work();
    least = std::min(least, now() - begin);
  }
  return least;
}

constexpr double kMaxGrowth = 64;  ///< half way from linear to quadratic, by factors: caches and new pages cost, too

/// How many times longer work takes if there is sixteen times as much of it: 16 if it takes a time for each part, 256
/// if each part looks at each other. `prepare` makes the work of so many parts, and its own time does not count. The
/// least of a few attempts, as what runs beside takes caches away.
template <class Prepare>
double growth(const Prepare& prepare, int parts) {
  const auto few = prepare(parts);
  const auto many = prepare(16 * parts);
  double least = 256;
  for (int attempt = 0; attempt < 4 && least > kMaxGrowth; ++attempt) {
    const double few_seconds = processor_seconds(few);
    least = std::min(least, processor_seconds(many) / few_seconds);
  }
  return least;
}

/// Processor time of work that is the same everywhere: a slow machine takes longer for it as for all else. Some 80 ms.
inline double yardstick_seconds() {
  return processor_seconds([] {
    std::mt19937 random;  // of the same numbers each time
    std::vector<std::uint32_t> numbers(1 << 20);
    std::ranges::generate(numbers, random);
    std::ranges::sort(numbers);
  });
}

}  // namespace scanlab
