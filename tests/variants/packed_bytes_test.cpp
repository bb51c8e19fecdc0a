#include "variants/scan/packed_bytes.cuh"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <random>

namespace scanlab::scan {
namespace {

using Bytes = std::array<std::uint8_t, 16>;

TEST(PackedBytes, AreFoldedAndScannedAsOneByOne) {
  std::mt19937 random(1);
  for (int round = 0; round < 1000; ++round) {
    Bytes items;
    for (std::uint8_t& item : items) item = static_cast<std::uint8_t>(round == 0 ? 255 : random());
    const auto before = static_cast<std::uint8_t>(round == 0 ? 255 : random());
    for (const bool exclusive : {false, true}) {
      Bytes expected;
      std::uint8_t running = before;
      for (std::size_t i = 0; i < items.size(); ++i) {
        const auto next = static_cast<std::uint8_t>(running + items[i]);
        expected[i] = exclusive ? running : next;
        running = next;
      }
      auto packed = std::bit_cast<PackedBytes<Bytes>>(items);
      EXPECT_EQ(packed.fold(before), running);
      EXPECT_EQ(packed.scan(before, exclusive), running);
      EXPECT_EQ(std::bit_cast<Bytes>(packed), expected) << "round " << round << (exclusive ? ", exclusive" : "");
    }
  }
}

}  // namespace
}  // namespace scanlab::scan
