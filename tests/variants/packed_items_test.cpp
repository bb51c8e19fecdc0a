#include "variants/scan/packed_items.cuh"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <random>

namespace scanlab::scan {
namespace {

template <class Item>
void expect_as_one_by_one() {
  using Items = std::array<Item, 16 / sizeof(Item)>;
  std::mt19937 random(1);
  const Item most = std::numeric_limits<Item>::max();
  for (int round = 0; round < 1000; ++round) {
    Items items;
    for (Item& item : items) item = round == 0 ? most : static_cast<Item>(random());
    const Item before = round == 0 ? most : static_cast<Item>(random());
    for (const bool exclusive : {false, true}) {
      Items expected;
      Item running = before;
      for (std::size_t i = 0; i < items.size(); ++i) {
        const auto next = static_cast<Item>(running + items[i]);
        expected[i] = exclusive ? running : next;
        running = next;
      }
      auto packed = std::bit_cast<PackedItems<Items, sizeof(Item)>>(items);
      EXPECT_EQ(packed.fold(before), running);
      EXPECT_EQ(packed.scan(before, exclusive), running);
      EXPECT_EQ(std::bit_cast<Items>(packed), expected) << "round " << round << (exclusive ? ", exclusive" : "");
    }
  }
}

TEST(PackedItems, AreFoldedAndScannedAsOneByOne) {
  expect_as_one_by_one<std::uint8_t>();
  expect_as_one_by_one<std::uint16_t>();
}

}  // namespace
}  // namespace scanlab::scan
