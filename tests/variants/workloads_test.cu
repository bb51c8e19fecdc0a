// Workloads: that what the host says must come out is what the kernel's step gives; and on a device, every schedule on
// every workload, with tails, and the controls caught.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "harness/schedule/issuer.hpp"
#include "variants/workloads/each_item.cuh"
#if defined(__CUDACC__)
#include "harness/replay/replayer.hpp"
#include "tests/needs_gpu.hpp"
#endif

namespace scanlab::streams {
namespace {

const Workload& workload(const char* id) { return *WorkloadRegistry::instance().find(id); }

template <class Item>
std::vector<Item> input_of(const WorkloadData& data, int array, std::int64_t first, std::int64_t items) {
  std::vector<Item> all(static_cast<std::size_t>(items));
  data.input(array, first, items, all.data());
  return all;
}

template <class Item>
std::vector<Item> expected_of(const WorkloadData& data, std::int64_t first, std::int64_t items) {
  std::vector<Item> all(static_cast<std::size_t>(items));
  data.expected(first, items, all.data());
  return all;
}

constexpr std::int64_t kItems = 20'000;

TEST(Workloads, ScaleMultiplies) {
  const WorkloadData once = workload("scale").data(1, 1);
  const auto in = input_of<float>(once, 0, 0, kItems);
  const auto out = expected_of<float>(once, 0, kItems);
  const auto thrice = expected_of<float>(workload("scale").data(1, 3), 0, kItems);
  for (std::size_t i = 0; i < in.size(); ++i) {
    ASSERT_EQ(out[i], in[i] * 1.000001f);
    ASSERT_EQ(thrice[i], in[i] * 1.000001f * 1.000001f * 1.000001f);
    ASSERT_GT(thrice[i], out[i]);  // no rounding swallows the work
  }
}

TEST(Workloads, SquareSquares) {
  const WorkloadData once = workload("square").data(1, 1);
  const auto in = input_of<float>(once, 0, 0, kItems);
  const auto out = expected_of<float>(once, 0, kItems);
  for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], in[i] * in[i]);
  for (const float each : expected_of<float>(workload("square").data(1, 1000), 0, kItems)) {
    ASSERT_TRUE(each >= 1 && each < 4) << each;
  }
}

TEST(Workloads, VectorAddAddsAndTellsItsInputsApart) {
  const WorkloadData once = workload("vector_add").data(1, 1);
  const auto a = input_of<float>(once, 0, 0, kItems);
  const auto b = input_of<float>(once, 1, 0, kItems);
  const auto out = expected_of<float>(once, 0, kItems);
  const auto twice = expected_of<float>(workload("vector_add").data(1, 2), 0, kItems);
  std::size_t differences = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(out[i], a[i] + b[i]);
    ASSERT_EQ(twice[i], a[i] + b[i] + b[i]);
    differences += twice[i] != b[i] + a[i] + a[i] ? 1 : 0;
  }
  EXPECT_GT(differences, a.size() * 9 / 10);
}

/// Deciphered step by step on the host, from the cipher text that is copied: not by the tables.
TEST(Workloads, FeistelGivesBackThePlainText) {
  for (const int rounds : {1, 2, 15, 16, 33}) {
    const WorkloadData data = workload("feistel").data(7, rounds);
    const auto cipher = input_of<std::int64_t>(data, 0, 0, 1000);
    const auto plain = expected_of<std::int64_t>(data, 0, 1000);
    EXPECT_NE(cipher, plain) << rounds;
    EXPECT_EQ(plain, expected_of<std::int64_t>(workload("feistel").data(7, rounds + 1), 0, 1000));
    for (std::size_t i = 0; i < cipher.size(); ++i) {
      auto left = static_cast<std::uint32_t>(static_cast<std::uint64_t>(cipher[i]) >> 32);
      auto right = static_cast<std::uint32_t>(cipher[i]);
      for (int round = rounds - 1; round >= 0; --round) {
        std::uint32_t mixed = (left ^ static_cast<std::uint32_t>(round)) * 0x9E3779B1u;
        mixed ^= mixed >> 15;
        const std::uint32_t before = right ^ mixed;
        right = left;
        left = before;
      }
      ASSERT_EQ(static_cast<std::int64_t>(std::uint64_t{left} << 32 | right), plain[i]) << rounds << " rounds";
    }
  }
}

TEST(Workloads, ScanIsTheRunningSum) {
  const WorkloadData data = workload("scan").data(3, 1);
  const auto in = input_of<std::uint32_t>(data, 0, 0, kItems);
  std::vector<std::uint32_t> sums(in.size());
  std::partial_sum(in.begin(), in.end(), sums.begin());
  EXPECT_EQ(expected_of<std::uint32_t>(data, 0, kItems), sums);
}

TEST(Workloads, AnyRangeIsThatPartOfTheWhole) {
  for (const auto& [id, each] : WorkloadRegistry::instance().all()) {
    const std::size_t bytes = each.about.item_bytes();
    const WorkloadData data = each.data(5, 2);
    std::vector<std::byte> whole(1000 * bytes);
    std::vector<std::byte> part(300 * bytes);
    for (int array = 0; array < each.about.inputs; ++array) {
      data.input(array, 0, 1000, whole.data());
      data.input(array, 123, 300, part.data());
      EXPECT_EQ(std::memcmp(whole.data() + 123 * bytes, part.data(), part.size()), 0) << id;
    }
    data.expected(0, 1000, whole.data());
    data.expected(123, 300, part.data());
    EXPECT_EQ(std::memcmp(whole.data() + 123 * bytes, part.data(), part.size()), 0) << id;
    EXPECT_NE(std::memcmp(whole.data(), part.data(), part.size()), 0) << id << ": two ranges look alike";
  }
}

TEST(Workloads, AWrongItemIsFoundWhereverItIs) {
  // One item behind a block that is compared at once; more than one thread's share, and no multiple of anything.
  for (const std::int64_t items : {8193, 300'001}) {
    for (const auto& [id, each] : WorkloadRegistry::instance().all()) {
      const std::size_t bytes = each.about.item_bytes();
      const WorkloadData data = each.data(5, 2);
      std::vector<std::byte> output(static_cast<std::size_t>(items) * bytes);
      data.expected(0, items, output.data());
      EXPECT_EQ(wrong_output(data, bytes, items, output.data()), "") << id;
      for (const std::int64_t item : {std::int64_t{0}, std::int64_t{8191}, items - 1}) {
        std::byte& byte = output[static_cast<std::size_t>(item) * bytes];
        byte ^= std::byte{1};
        EXPECT_EQ(wrong_output(data, bytes, items, output.data()),
                  "1 of " + std::to_string(items) + " items are wrong, the first is item " + std::to_string(item))
            << id;
        byte ^= std::byte{1};
      }
      for (const std::int64_t item : {items - 1, std::int64_t{8192}, std::int64_t{5}, std::int64_t{4}}) {
        output[static_cast<std::size_t>(item) * bytes] ^= std::byte{1};
      }
      const int wrong = items == 8193 ? 2 : 4;  // its last is item 8192, and right again
      EXPECT_EQ(wrong_output(data, bytes, items, output.data()),
                std::to_string(wrong) + " of " + std::to_string(items) + " items are wrong, the first is item 4")
          << id;
    }
  }
}

#if defined(__CUDACC__)

using NeedsGpuReplayer = NeedsGpu;

/// Replays twice, poisoned each time; what is wrong, or nothing.
std::string replayed(const Schedule& schedule, const Job& job) {
  const Recording recording = record(schedule, job);
  HostArrays arrays(job, 11);
  Replayer emulator(recording, arrays);
  for (int i = 0; i < 2; ++i) {
    emulator.poison();
    emulator.replay(i == 1);
    if (const std::string wrong = arrays.wrong(); !wrong.empty()) return wrong;
  }
  return {};
}

TEST_F(NeedsGpuReplayer, EverySchedulesResultIsRightOnEveryWorkload) {
  struct Shape {
    std::int64_t items;
    int chunks, streams, blocks, work;
  };
  for (const Shape& shape : {Shape{1'000'003, 7, 3, 0, 1},  // not divisible
                             Shape{100, 64, 100, 0, 3},     // short chunks, streams to spare
                             Shape{5, 9, 2, 0, 2},          // empty tails
                             Shape{0, 4, 4, 0, 1},          // nothing
                             Shape{300'000, 5, 16, 3, 17},  // few blocks
                             Shape{1, 1, 1, 1, 1}}) {
    for (const auto& [id, schedule] : ScheduleRegistry::instance().all()) {
      if (schedule.about.control) continue;
      for (const auto& [name, work] : WorkloadRegistry::instance().all()) {
        for (const HostMemory memory : {HostMemory::pinned, HostMemory::pageable}) {
          const Job job{.workload = &work,
                        .items = shape.items,
                        .chunks = shape.chunks,
                        .streams = shape.streams,
                        .memory = memory,
                        .buffers = 3,
                        .blocks = shape.blocks,
                        .work = shape.work};
          EXPECT_EQ(replayed(schedule, job), "") << id << " " << name << " " << shape.items << " items in "
                                                 << shape.chunks << " chunks, " << streams::name(memory);
        }
      }
    }
  }
}

TEST_F(NeedsGpuReplayer, TheControlsAreCaught) {
  for (const auto& [id, schedule] : ScheduleRegistry::instance().all()) {
    if (!schedule.about.control) continue;
    for (const auto& [name, work] : WorkloadRegistry::instance().all()) {
      const Job job{.workload = &work, .items = 1 << 24, .chunks = 8};
      EXPECT_NE(replayed(schedule, job), "") << id << " " << name;
    }
  }
}

TEST_F(NeedsGpuReplayer, StampsTheIssueOfEveryOperation) {
  const Job job{.workload = &workload("scale"), .items = 1 << 20};
  const Recording recording = record(*ScheduleRegistry::instance().find("depth_first"), job);
  HostArrays arrays(job, 1);
  Replayer emulator(recording, arrays);
  const Replay replay = emulator.replay(true);
  ASSERT_EQ(replay.issued.size(), recording.operations.size());
  auto before = replay.begin;
  for (const Issued& issued : replay.issued) {
    EXPECT_LE(before, issued.begin);
    EXPECT_LE(issued.begin, issued.end);
    before = issued.end;
  }
  EXPECT_LE(before, replay.end);
}

#endif

}  // namespace
}  // namespace scanlab::streams
