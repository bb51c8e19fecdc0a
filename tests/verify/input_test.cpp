// Tests of the inputs: the same item for the same words, nothing that overflows, affine scales that multiply exactly.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>
#include <vector>

#include "harness/core/operators.hpp"
#include "harness/verify/guard.hpp"
#include "harness/verify/input.hpp"

namespace scanlab::verify {
namespace {

constexpr std::int64_t kItems = 20'000;
constexpr std::uint64_t kSeed = 3;

template <class Op>
auto item(InputKind kind, std::int64_t i, std::uint64_t seed = kSeed, std::int64_t n = kItems) {
  return input_item<Op>(kind, seed, i, n);
}

template <class F>
void for_each_item(const F& f) {
  for_each_monoid([&](ElementType, Operator, auto op) { f(op); });
}

TEST(Input, AnotherSeedGivesOtherItems) {
  for_each_item([]<class Op>(Op) {
    int same = 0;
    for (std::int64_t i = 0; i < 1000; ++i) {
      if (same_bits(item<Op>(InputKind::random, i, 1), item<Op>(InputKind::random, i, 2))) ++same;
    }
    EXPECT_LT(same, 1000);  // a byte is the same once in 256, and most items are the same where most are an identity
  });
}

TEST(Input, ExtremesOfIntegersContainBothEnds) {
  std::set<std::int32_t> seen;
  for (std::int64_t i = 0; i < 1000; ++i) seen.insert(item<Plus<std::int32_t>>(InputKind::extremes, i));
  EXPECT_EQ(seen, (std::set<std::int32_t>{INT32_MIN, -1, 0, 1, INT32_MAX}));
}

template <class T>
void expect_floats_within_range() {
  for (const InputKind kind : kInputKinds) {
    for (std::int64_t i = 0; i < kItems; ++i) {
      const T x = item<Plus<T>>(kind, i);
      ASSERT_LE(std::abs(x), 0x1p81) << name(kind);  // 2^30 of them stay finite, also times an affine scale
      if (sizeof(T) == 8 && x != 0) {
        ASSERT_GE(std::abs(x), 0x1p-101) << name(kind);  // a float holds the oracle's magnitudes
      }
    }
  }
}

TEST(Input, FloatsStayWhereEverySumIsFinite) {
  expect_floats_within_range<float>();
  expect_floats_within_range<double>();
}

TEST(Input, ExtremesOfFloatsContainSignedZerosAndSubnormals) {
  bool negative_zero = false;
  bool subnormal = false;
  for (std::int64_t i = 0; i < 1000; ++i) {
    const float x = item<Plus<float>>(InputKind::extremes, i);
    negative_zero |= x == 0 && std::signbit(x);
    subnormal |= std::fpclassify(x) == FP_SUBNORMAL;
  }
  EXPECT_TRUE(negative_zero);
  EXPECT_TRUE(subnormal);
}

TEST(Input, ExtremesOfBytesAndHalvesContainTheirEnds) {
  std::set<std::int8_t> bytes;
  std::set<float> largest;
  std::set<float> sums;
  bool negative_zero = false;
  for (std::int64_t i = 0; i < 1000; ++i) {
    bytes.insert(item<Plus<std::int8_t>>(InputKind::extremes, i));
    largest.insert(static_cast<float>(item<Max<Half>>(InputKind::extremes, i)));
    const Half x = item<Plus<Half>>(InputKind::extremes, i);
    sums.insert(static_cast<float>(x));
    negative_zero |= x.bits == 0x8000;
  }
  EXPECT_EQ(bytes, (std::set<std::int8_t>{-128, -1, 0, 1, 127}));
  EXPECT_LT(*largest.begin(), -0x1p15F);
  EXPECT_GT(*largest.rbegin(), 0x1p15F);
  EXPECT_TRUE(largest.count(0x1p-24F) == 1);  // the least subnormal
  EXPECT_EQ(sums, (std::set<float>{-960, -480, 0, 480, 960}));
  EXPECT_TRUE(negative_zero);
}

template <class T>
AffineMap<double> as_doubles(T sum) {
  return {1, static_cast<double>(sum)};
}
template <class T>
AffineMap<double> as_doubles(const AffineMap<T>& map) {
  return {static_cast<double>(map.scale), static_cast<double>(map.shift)};
}
template <class T>
AffineMap<double> as_doubles(const ValueAndFlag<T>& item) {
  return {item.flag != 0 ? 0.0 : 1.0, static_cast<double>(item.value)};
}

/// Scans items in place, grouped by a random tree.
template <class Op>
void scan_in_random_groups(typename Op::Item* items, std::int64_t n, std::mt19937& random) {
  if (n < 2) return;
  const std::int64_t left = 1 + random() % (n - 1);
  scan_in_random_groups<Op>(items, left, random);
  scan_in_random_groups<Op>(items + left, n - left, random);
  for (std::int64_t i = left; i < n; ++i) items[i] = Op{}(items[left - 1], items[i]);
}

template <class Op>
void expect_exact_in_any_grouping(InputKind kind, std::uint64_t seed, std::int64_t n) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::vector<typename Op::Item> items(n);
  for (std::int64_t i = 0; i < n; ++i) items[i] = item<Op>(kind, i, seed, n);
  const auto inputs = items;
  scan_in_random_groups<Op>(items.data(), n, random);
  AffineMap<double> exact = Affine<double>::identity();
  for (std::int64_t i = 0; i < n; ++i) {
    exact = Affine<double>{}(exact, as_doubles(inputs[i]));
    ASSERT_EQ(as_doubles(items[i]), exact) << name(kind) << " seed " << seed << " item " << i << " of " << n;
  }
}

TEST(Input, SumsAndCompositionsOfHalvesAreExactInAnyGrouping) {
  for (const InputKind kind : kInputKinds) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      const std::int64_t n = seed <= 2 ? 100'000 : 2'000;
      ASSERT_NO_FATAL_FAILURE(expect_exact_in_any_grouping<Plus<Half>>(kind, seed, n));
      ASSERT_NO_FATAL_FAILURE(expect_exact_in_any_grouping<Affine<Half>>(kind, seed, n));
    }
  }
}

TEST(Input, TheExactOneOfFloatsIsExactInAnyGrouping) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const std::int64_t n = seed <= 2 ? 100'000 : 2'000;
    ASSERT_NO_FATAL_FAILURE(expect_exact_in_any_grouping<Plus<float>>(InputKind::exact, seed, n));
    ASSERT_NO_FATAL_FAILURE(expect_exact_in_any_grouping<Plus<double>>(InputKind::exact, seed, n));
    ASSERT_NO_FATAL_FAILURE(expect_exact_in_any_grouping<Affine<float>>(InputKind::exact, seed, n));
    ASSERT_NO_FATAL_FAILURE(expect_exact_in_any_grouping<Affine<double>>(InputKind::exact, seed, n));
    ASSERT_NO_FATAL_FAILURE(expect_exact_in_any_grouping<SegmentedPlus<float>>(InputKind::exact, seed, n));
  }
  for (std::int64_t i = 0; i < 1000; ++i)
    EXPECT_NE(item<Plus<float>>(InputKind::exact, i), 0) << "a lost item is missed";
}

TEST(Input, HalvesSummedByTurnsAreExactToo) {  // as CUB sums them
  for (const InputKind kind : kInputKinds) {
    for (const int stride : {2, 4, 7}) {
      for (std::int64_t first = 0; first < 3000; ++first) {
        Half sum{0};
        double exact = 0;
        for (int k = 0; k < 64; ++k) {
          const Half x = input_item<Plus<Half>>(kind, 1, first + k * stride, 10'000);
          sum = sum + x;
          exact += static_cast<double>(x);
        }
        ASSERT_EQ(static_cast<double>(sum), exact) << name(kind) << ", every " << stride << "th from " << first;
      }
    }
  }
}

TEST(Input, EveryHalfCountsInItsSum) {
  // An item that was left out is then seen, whatever the bound.
  for (const InputKind kind : {InputKind::random, InputKind::constant, InputKind::alternating}) {
    int zeros = 0;
    for (std::int64_t i = 0; i < 1000; ++i) zeros += item<Plus<Half>>(kind, i) == Half(0) ? 1 : 0;
    EXPECT_LT(zeros, 10) << name(kind);
  }
}

template <class T>
void expect_products_of_scales_exact() {
  for (const InputKind kind : kInputKinds) {
    double product = 1;
    double least = 1;
    double most = 1;
    for (std::int64_t i = 0; i < kItems; ++i) {
      const double scale = item<Affine<T>>(kind, i).scale;
      int exponent = 0;
      ASSERT_EQ(std::abs(std::frexp(scale, &exponent)), 0.5) << "a scale that is no power of two";
      product *= std::abs(scale);
      least = std::min(least, product);
      most = std::max(most, product);
    }
    // Any product of neighbours is a quotient of two prefixes.
    EXPECT_LE(most / least, 0x1p4) << name(kind);
  }
}

TEST(Input, ProductsOfFloatingScalesStayWithinSixteen) {
  expect_products_of_scales_exact<float>();
  expect_products_of_scales_exact<double>();
}

TEST(Input, IntegerScalesAreOddSoThatNoItemDropsOut) {
  for (const InputKind kind : kInputKinds) {
    for (std::int64_t i = 0; i < 1000; ++i) {
      EXPECT_NE(item<Affine<std::int32_t>>(kind, i).scale % 2, 0) << name(kind);
      EXPECT_NE(item<Affine<std::int8_t>>(kind, i).scale % 2, 0) << name(kind);
    }
  }
}

TEST(Input, OneHotHasOneItemThatIsNotTheIdentity) {
  for_each_item([]<class Op>(Op) {
    for (const std::int64_t n : {1, 2, 33, 1000}) {
      for (std::uint64_t seed = 1; seed <= 300; ++seed) {  // of bytes, one in 256 could be the identity by chance
        int hot = 0;
        for (std::int64_t i = 0; i < n; ++i) {
          if (!same_bits(item<Op>(InputKind::one_hot, i, seed, n), Op::identity())) ++hot;
        }
        EXPECT_EQ(hot, 1) << name(Op::kOperator) << " n = " << n << " seed " << seed;
      }
    }
  });
}

}  // namespace
}  // namespace scanlab::verify
