#include "harness/selection/words.hpp"

#include <gtest/gtest.h>

#include "harness/host/status.hpp"

namespace scanlab {
namespace {

TEST(Words, ItemsAreNumbersPowersAndRanges) {
  using Items = std::vector<std::int64_t>;
  EXPECT_EQ(parse_items("1000"), Items{1000});
  EXPECT_EQ(parse_items("2^20+1"), Items{(1 << 20) + 1});
  EXPECT_EQ(parse_items("2^10:2^14:x4"), (Items{1 << 10, 1 << 12, 1 << 14}));
  EXPECT_EQ(parse_items("0:6:+3"), (Items{0, 3, 6}));
  EXPECT_EQ(parse_items("0:2"), (Items{0, 1, 2}));
  for (const char* wrong : {"", "-1", "2^64", "2^41", "9223372036854775807", "2^40+1", "3-4", "8:4:x2", "1:8:x1",
                            "0:8:x2", "1:2:3:4", "1e6", "0:2^20:+1"}) {
    EXPECT_THROW(parse_items(wrong), CommandError) << wrong;
  }
}

}  // namespace
}  // namespace scanlab
