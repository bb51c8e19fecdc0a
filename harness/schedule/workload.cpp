#include "harness/schedule/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <vector>

#include "harness/host/parallel.hpp"

namespace scanlab::streams {

void fill_input(const WorkloadData& data, std::size_t item_bytes, int array, std::int64_t items, void* to) {
  parallel_ranges(items, kMinItemsPerThread, [&](std::int64_t begin, std::int64_t end) {
    data.input(array, begin, end - begin, static_cast<std::byte*>(to) + static_cast<std::size_t>(begin) * item_bytes);
  });
}

std::string wrong_output(const WorkloadData& data, std::size_t item_bytes, std::int64_t items, const void* output) {
  constexpr std::int64_t kBlock = 8192;  // items: what must be stays in the cache
  struct {
    std::mutex mutex;
    std::int64_t count = 0;
    std::optional<std::int64_t> first;
  } wrong;
  parallel_ranges(items, kMinItemsPerThread, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::byte> expected(static_cast<std::size_t>(kBlock) * item_bytes);
    for (std::int64_t first = begin; first < end; first += kBlock) {
      const std::int64_t count = std::min(kBlock, end - first);
      const auto* const actual = static_cast<const std::byte*>(output) + static_cast<std::size_t>(first) * item_bytes;
      data.expected(first, count, expected.data());
      if (std::memcmp(actual, expected.data(), static_cast<std::size_t>(count) * item_bytes) == 0) continue;
      const std::lock_guard lock(wrong.mutex);
      for (std::int64_t i = 0; i < count; ++i) {
        const std::size_t offset = static_cast<std::size_t>(i) * item_bytes;
        if (std::memcmp(actual + offset, expected.data() + offset, item_bytes) == 0) continue;
        ++wrong.count;
        wrong.first = std::min(wrong.first.value_or(first + i), first + i);
      }
    }
  });
  if (!wrong.first) return {};
  return fmt::format("{} of {} items are wrong, the first is item {}", wrong.count, items, *wrong.first);
}

}  // namespace scanlab::streams
