// A loop over all cores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace scanlab {

/// Fewer cheap items than this are not worth another thread.
inline constexpr std::int64_t kMinItemsPerThread = 1 << 16;

/// Calls body(begin, end) on disjoint ranges that together are [0, count), each at least `grain` long where it can be;
/// on one thread if that is all there is to do. `body` must not throw.
template <class Body>
void parallel_ranges(std::int64_t count, std::int64_t grain, const Body& body) {
  const auto cores = static_cast<std::int64_t>(std::max(1u, std::thread::hardware_concurrency()));
  const std::int64_t ranges = std::clamp<std::int64_t>(count / std::max<std::int64_t>(grain, 1), 1, cores);
  const auto bound = [=](std::int64_t range) { return count / ranges * range + std::min(range, count % ranges); };
  std::vector<std::jthread> threads;
  for (std::int64_t range = 1; range < ranges; ++range) {
    threads.emplace_back([&body, from = bound(range), to = bound(range + 1)] { body(from, to); });
  }
  body(0, bound(1));
}

}  // namespace scanlab
