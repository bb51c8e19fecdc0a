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

constexpr double kMostGrowth = 9;  ///< half way from linear to quadratic: caches and logarithms cost something, too

/// How many times longer work takes if there is four times as much of it: 4 if it takes a time for each part, 16 if
/// each part looks at each other. The least of a few attempts, as what runs beside takes caches away.
template <class Work>
double growth(const Work& work, int parts) {
  double least = 16;
  for (int attempt = 0; attempt < 10 && least > kMostGrowth; ++attempt) {
    const double few = processor_seconds([&] { work(parts); });
    least = std::min(least, processor_seconds([&] { work(4 * parts); }) / few);
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
