// The segments on which scans by key and of segments are verified: whatever tells where one begins says the same.
#include "harness/core/segments.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <vector>

namespace scanlab {
namespace {

std::vector<Segments> all_segments(SegmentsBy by) {
  std::vector<Segments> all;
  for (const auto& [lengths, text] : kLengths) {
    for (const std::int64_t mean : {1, 2, 7, 300, 5000, 1 << 28}) all.push_back({by, mean, lengths, 8});
  }
  return all;
}

std::vector<std::uint64_t> entries(const Segments& segments, std::int64_t n) {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(segments.entries(n)));
  for (std::int64_t i = 0; i < segments.entries(n); ++i) segments.write_entry(all.data(), i, n);
  return all;
}

constexpr std::int64_t kItems = 20'000;

TEST(Segments, FindTheSegmentOfAnItem) {
  for (const Segments& segments : all_segments(SegmentsBy::keys)) {
    for (std::int64_t i = 0; i < kItems; ++i) {
      const std::int64_t segment = segments.segment_of(i);
      ASSERT_LE(segments.begin(segment), i) << name(segments.lengths) << segments.mean;
      ASSERT_GT(segments.begin(segment + 1), i) << name(segments.lengths) << segments.mean;
    }
  }
}

TEST(Segments, TellTheSameByKeysAndByOffsets) {
  for (const Segments& by_keys : all_segments(SegmentsBy::keys)) {
    Segments by_offsets = by_keys;
    by_offsets.by = SegmentsBy::offsets;
    for (const std::int64_t n : {std::int64_t{1}, std::int64_t{33}, kItems}) {
      const std::vector<std::uint64_t> keys = entries(by_keys, n), offsets = entries(by_offsets, n);
      EXPECT_EQ(offsets.front(), 0U);
      EXPECT_EQ(offsets.back(), static_cast<std::uint64_t>(n));
      EXPECT_TRUE(std::is_sorted(offsets.begin(), offsets.end()));
      std::vector<bool> begins(static_cast<std::size_t>(n));
      for (const std::uint64_t offset : offsets) {
        if (offset < begins.size()) begins[offset] = true;
      }
      std::int64_t next = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(begins[i], i == 0 || keys[i] != keys[i - 1]) << i;
        if (i == next) {
          EXPECT_TRUE(begins[i]);
          next = by_keys.first_from(i + 1);
        }
      }
    }
  }
}

TEST(Segments, HaveNeighbouringKeysThatDifferInTheirLowestByte) {
  const Segments segments{SegmentsBy::keys, 3, Lengths::random, 1};
  std::vector<std::uint8_t> keys(kItems);
  for (std::int64_t i = 0; i < kItems; ++i) segments.write_entry(keys.data(), i, kItems);
  for (std::int64_t i = 1; i < kItems; ++i) {
    EXPECT_EQ(keys[i] == keys[i - 1], segments.segment_of(i) == segments.segment_of(i - 1));
  }
}

TEST(Segments, HaveTheLengthsThatTheirNameSays) {
  std::map<Lengths, std::vector<std::int64_t>> lengths;
  for (const auto& [kind, text] : kLengths) {
    const Segments segments{SegmentsBy::offsets, 100, kind, 8};
    const std::vector<std::uint64_t> offsets = entries(segments, 2 * 16384 * 100);
    for (std::size_t i = 1; i < offsets.size(); ++i) {
      lengths[kind].push_back(static_cast<std::int64_t>(offsets[i] - offsets[i - 1]));
    }
    EXPECT_NEAR(static_cast<double>(lengths[kind].size()), 2 * 16384, 2000);
  }
  const auto most = [&](Lengths kind) { return *std::ranges::max_element(lengths[kind]); };
  EXPECT_EQ(std::ranges::count(lengths[Lengths::equal], 100), 2 * 16384);
  EXPECT_LE(most(Lengths::random), 400);
  EXPECT_GT(std::ranges::count(lengths[Lengths::random], 0), 100);
  EXPECT_GT(most(Lengths::power), 100 * 100);
}

TEST(Segments, HaveRunsThatAreNotEmpty) {
  for (const Segments& segments : all_segments(SegmentsBy::runs)) {
    if (segments.lengths == Lengths::power && segments.mean < 8) continue;  // these are refused
    for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, std::int64_t{33}, kItems}) {
      const std::vector<std::uint64_t> keys = entries(segments, n);
      std::int64_t run = -1;
      for (std::int64_t i = 0; i < n; ++i) {
        if (i == 0 || keys[i] != keys[i - 1]) {
          ASSERT_EQ(segments.run_begin(++run), i) << name(segments.lengths);
        }
        if (i + 1 == n || keys[i] != keys[i + 1]) {
          ASSERT_EQ(segments.run_last(run, n), i) << name(segments.lengths);
        }
      }
      ASSERT_EQ(segments.runs_of(n), run + 1) << name(segments.lengths) << segments.mean;
    }
  }
}

TEST(Segments, KeepSoManyItemsOfEachGroupInOrder) {
  for (const std::int64_t kept : {0, 1, 50, 127, 128}) {
    const Segments flags{.by = SegmentsBy::flags, .width = 1, .kept = kept};
    const std::int64_t all = flags.kept_of(kItems);
    std::int64_t before = 0;
    for (std::int64_t i = 0; i < kItems; ++i) {
      ASSERT_EQ(flags.kept_of(i), before);
      ASSERT_EQ(flags.entry(i, kItems), flags.keeps(i) ? 1U : 0U);
      if (flags.keeps(i)) {
        ASSERT_EQ(flags.item_at(before++, kItems, all), i);
      } else {
        ASSERT_EQ(flags.item_at(kItems - 1 - (i - before), kItems, all), i);
      }
      if ((i + 1) % Segments::kFlagGroup == 0) {
        ASSERT_EQ(before, (i + 1) / Segments::kFlagGroup * kept);
      }
    }
  }
}

}  // namespace
}  // namespace scanlab
