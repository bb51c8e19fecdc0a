#include "harness/implicit_sync/concurrency.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace scanlab::streams {

int connections() {
  const char* const variable = std::getenv(kConnectionsVariable);
  const std::string_view text = variable == nullptr ? "" : variable;
  int count = 8;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return std::clamp(count, 1, kMostConnections);
}

std::vector<SmallGrids> staircase(std::int64_t slots) {
  // Divisors of the slots fill waves to the last block; one block more makes a tail of one.
  std::vector<std::int64_t> blocks{1, slots / 8, slots / 4, slots / 3, slots / 2, slots / 2 + 1, slots, slots + 1};
  std::erase_if(blocks, [](std::int64_t count) { return count < 1; });
  std::ranges::sort(blocks);
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());

  std::vector<SmallGrids> all;
  for (std::int64_t streams = 1; streams <= kMostStreams; streams *= 2) {
    for (const std::int64_t count : blocks) all.push_back({.streams = streams, .kernels = 1, .blocks = count});
  }
  all.push_back({.streams = 4, .kernels = 3, .blocks = std::max<std::int64_t>(1, slots / 16)});
  return all;
}

}  // namespace scanlab::streams
