// Arrays in host memory.
#include "harness/host/host_array.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace scanlab {
namespace {

TEST(HostMemory, IsFilledToTheByteWhateverItsAlignment) {
  std::vector<std::byte> memory(100);
  for (std::size_t begin = 0; begin < 20; ++begin) {
    for (std::size_t bytes : {0, 1, 15, 16, 17, 33, 64}) {
      std::ranges::fill(memory, std::byte{1});
      fill_past_caches(memory.data() + begin, bytes, std::byte{0xF5});
      for (std::size_t i = 0; i < memory.size(); ++i) {
        const bool inside = i >= begin && i < begin + bytes;
        ASSERT_EQ(memory[i], inside ? std::byte{0xF5} : std::byte{1}) << begin << " " << bytes << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace scanlab
