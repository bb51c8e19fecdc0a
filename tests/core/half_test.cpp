// f16 against what IEEE 754 says of it: every bit pattern, every tie between neighbours, and exact arithmetic rounded
// once by other means.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "harness/core/half.hpp"

namespace scanlab {
namespace {

constexpr int kPatterns = 1 << 16;
constexpr std::uint16_t kInfinity = 0x7C00;

Half half(int bits) { return Half::from_bits(static_cast<std::uint16_t>(bits)); }
bool is_nan(Half h) { return (h.bits & 0x7FFF) > kInfinity; }

/// The value of a bit pattern, by the definition of binary16.
double defined_value(int bits) {
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 0x3FF;
  if (exponent == 31) {
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

/// The half nearest to `x`, ties to even: by rounding a multiple of the last place to an integer.
Half nearest(double x) {
  if (std::isnan(x)) return half(0x7E00);
  const int sign = std::signbit(x) ? 0x8000 : 0;
  const double size = std::abs(x);
  if (size == 0) return half(sign);
  if (std::isinf(size)) return half(sign | kInfinity);
  const int exponent = std::max(std::ilogb(size), -14);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(size, 10 - exponent)), exponent - 10);
  if (rounded >= 65536) return half(sign | kInfinity);
  for (int candidate_exponent : {exponent, exponent + 1}) {  // rounding may have carried into the next
    const double mantissa = std::ldexp(rounded, 10 - candidate_exponent);
    if (mantissa >= 2048) continue;
    if (mantissa < 1024) return half(sign | static_cast<int>(mantissa));
    return half(sign | (candidate_exponent + 15) << 10 | (static_cast<int>(mantissa) - 1024));
  }
  return half(0x7E00);
}

void expect_same(Half got, Half expected, double from) {
  if (is_nan(expected)) {
    ASSERT_TRUE(is_nan(got)) << from;
  } else {
    ASSERT_EQ(got.bits, expected.bits) << from;
  }
}

TEST(Half, EveryPatternIsItsDefinedValueAndComesBack) {
  for (int bits = 0; bits < kPatterns; ++bits) {
    const double value = defined_value(bits);
    const auto as_float = static_cast<float>(half(bits));
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(as_float)) << bits;
      ASSERT_TRUE(is_nan(Half(as_float))) << bits;
      continue;
    }
    ASSERT_EQ(static_cast<double>(as_float), value) << bits;
    ASSERT_EQ(std::signbit(as_float), std::signbit(value)) << bits;
    ASSERT_EQ(static_cast<double>(half(bits)), value) << bits;
    ASSERT_EQ(Half(as_float).bits, bits);
    ASSERT_EQ(Half(value).bits, bits);
  }
}

TEST(Half, RoundsToTheNearestAndTiesToEven) {
  constexpr double kBeyond = 65536;  // where the half after the largest would be
  for (int bits = 0; bits < kInfinity; ++bits) {
    const double low = defined_value(bits);
    const double high = bits + 1 == kInfinity ? kBeyond : defined_value(bits + 1);
    const double tie = (low + high) / 2;  // exact in a float too
    for (const int sign : {0, 0x8000}) {
      const double s = sign == 0 ? 1 : -1;
      const int even = bits % 2 == 0 ? bits : bits + 1;
      ASSERT_EQ(Half(s * tie).bits, sign | even) << tie;
      ASSERT_EQ(Half(static_cast<float>(s * tie)).bits, sign | even) << tie;
      // A double just off the tie becomes the tie when it is cut down to a float: rounding twice would go wrong.
      ASSERT_EQ(Half(s * std::nextafter(tie, 0)).bits, sign | bits) << tie;
      ASSERT_EQ(Half(s * std::nextafter(tie, kBeyond)).bits, sign | (bits + 1)) << tie;
      const auto float_tie = static_cast<float>(tie);
      ASSERT_EQ(Half(static_cast<float>(s) * std::nextafterf(float_tie, 0)).bits, sign | bits) << tie;
      ASSERT_EQ(Half(static_cast<float>(s) * std::nextafterf(float_tie, 1e9F)).bits, sign | (bits + 1)) << tie;
    }
  }
}

TEST(Half, ValuesBeyondHalvesBecomeInfinityOrZero) {
  for (const double large : {65520.0, 1e5, 1e30, 1e300, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(Half(large).bits, kInfinity) << large;
    EXPECT_EQ(Half(-large).bits, 0x8000 | kInfinity) << large;
    EXPECT_EQ(Half(static_cast<float>(large)).bits, kInfinity) << large;
  }
  for (const double small : {0x1p-25, 0x1p-26, 1e-40, 1e-300, std::numeric_limits<double>::denorm_min(), 0.0}) {
    EXPECT_EQ(Half(small).bits, 0) << small;
    EXPECT_EQ(Half(-small).bits, 0x8000) << small;
    EXPECT_EQ(Half(static_cast<float>(-small)).bits, 0x8000) << small;
  }
  EXPECT_TRUE(is_nan(Half(std::numeric_limits<double>::quiet_NaN())));
  EXPECT_TRUE(is_nan(Half(std::numeric_limits<float>::quiet_NaN())));
}

TEST(Half, IntegersBecomeTheNearest) {
  for (int i = -70'000; i <= 70'000; ++i) ASSERT_EQ(Half(i).bits, nearest(i).bits) << i;
}

/// A double holds the sum and the product of any two halves exactly: the spread from 2^-24 to 2^16 is 40 bits.
void expect_arithmetic(Half a, Half b) {
  const double x = defined_value(a.bits);
  const double y = defined_value(b.bits);
  ASSERT_NO_FATAL_FAILURE(expect_same(a + b, nearest(x + y), x + y));
  ASSERT_NO_FATAL_FAILURE(expect_same(a * b, nearest(x * y), x * y));
  ASSERT_EQ(a < b, x < y) << x << " " << y;
  ASSERT_EQ(a == b, x == y) << x << " " << y;
}

TEST(Half, SumsAndProductsAreRoundedOnce) {
  std::mt19937 random(7);
  for (int i = 0; i < 2'000'000; ++i) {
    const std::uint32_t bits = random();
    ASSERT_NO_FATAL_FAILURE(expect_arithmetic(half(bits & 0xFFFF), half(bits >> 16)));
    // Nearby exponents, where sums tie.
    const int near = static_cast<int>(bits & 0x7FFF) ^ static_cast<int>(random() & 0x87FF);
    ASSERT_NO_FATAL_FAILURE(expect_arithmetic(half(bits & 0x7FFF), half(near)));
  }
}

TEST(Half, ArithmeticOfSpecialValues) {
  const std::vector<int> special{0x0000, 0x0001, 0x0002, 0x03FF, 0x0400, 0x0401, 0x3BFF, 0x3C00,
                                 0x3C01, 0x4000, 0x7800, 0x7BFE, 0x7BFF, 0x7C00, 0x7E00, 0x7C01};
  for (const int a : special) {
    for (const int b : special) {
      for (const int signs : {0, 1, 2, 3}) {
        expect_arithmetic(half(a | (signs & 1) << 15), half(b | (signs & 2) << 14));
      }
    }
    EXPECT_EQ((-half(a)).bits, a ^ 0x8000);
  }
}

TEST(Half, LimitsAreThoseOfBinary16) {
  using Limits = std::numeric_limits<Half>;
  EXPECT_EQ(static_cast<double>(Limits::max()), 65504);
  EXPECT_EQ(static_cast<double>(Limits::lowest()), -65504);
  EXPECT_EQ(static_cast<double>(Limits::min()), 0x1p-14);
  EXPECT_EQ(static_cast<double>(Limits::denorm_min()), 0x1p-24);
  EXPECT_EQ(static_cast<double>(Limits::epsilon()), 0x1p-10);
  EXPECT_TRUE(std::isinf(static_cast<double>(Limits::infinity())));
  static_assert(Half(1.5F).bits == 0x3E00 && static_cast<float>(Half(2) * Half(3.0)) == 6, "usable at compile time");
}

}  // namespace
}  // namespace scanlab
