// What inputs promise: the same item for the same words, nothing that overflows, affine scales that multiply exactly.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "harness/model/monoid.hpp"
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
void for_each_monoid(const F& f) {
  for (const auto& [type, type_name] : named_values<ElementType>()) {
    for (const auto& [op, op_name] : named_values<Operator>()) with_monoid(type, op, f);
  }
}

TEST(Input, KindsAreReadByTheNameTheyShow) {
  for (const InputKind kind : kInputKinds) EXPECT_EQ(parse_input_kind(name(kind)), kind);
  EXPECT_EQ(parse_input_kind("randon"), std::nullopt);
}

TEST(Input, AnotherSeedGivesOtherItems) {
  for_each_monoid([]<class Op>(Op) {
    int same = 0;
    for (std::int64_t i = 0; i < 1000; ++i) {
      if (same_bits(item<Op>(InputKind::random, i, 1), item<Op>(InputKind::random, i, 2))) ++same;
    }
    EXPECT_LT(same, 10);
  });
}

TEST(Input, RandomIntegersUseTheirWholeRange) {
  std::uint64_t ones = 0;
  std::uint64_t zeros = 0;
  for (std::int64_t i = 0; i < 1000; ++i) {
    const auto bits = static_cast<std::uint64_t>(item<Plus<std::int64_t>>(InputKind::random, i));
    ones |= bits;
    zeros |= ~bits;
  }
  EXPECT_EQ(ones & zeros, ~std::uint64_t{0});
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
    for (std::int64_t i = 0; i < 1000; ++i) EXPECT_NE(item<Affine<std::int32_t>>(kind, i).scale % 2, 0) << name(kind);
  }
}

TEST(Input, OneHotHasOneItemThatIsNotTheIdentity) {
  for_each_monoid([]<class Op>(Op) {
    for (const std::int64_t n : {1, 2, 33, 1000}) {
      int hot = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        if (!same_bits(item<Op>(InputKind::one_hot, i, kSeed, n), Op::identity())) ++hot;
      }
      EXPECT_EQ(hot, 1) << name(Op::kOperator) << " n = " << n;
    }
  });
}

TEST(Input, RandomAffineMapsDoNotCommute) {
  const Affine<std::int32_t> op;
  const auto a = item<Affine<std::int32_t>>(InputKind::random, 0);
  const auto b = item<Affine<std::int32_t>>(InputKind::random, 1);
  EXPECT_FALSE(op(a, b) == op(b, a));
}

}  // namespace
}  // namespace scanlab::verify
