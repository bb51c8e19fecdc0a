// The oracle against plainer arithmetic, and the comparison against errors made on purpose. operators_test.cpp holds
// the oracle of each operator against a scan.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "harness/verify/comparison.hpp"
#include "variants/operators/affine.hpp"
#include "variants/operators/max.hpp"
#include "variants/operators/plus.hpp"

namespace scanlab::verify {
namespace {

#ifdef __SIZEOF_FLOAT128__
using Wide = __float128;
#else
using Wide = long double;
#endif

constexpr std::uint64_t kSeed = 5;
constexpr std::int64_t kItems = 20'001;  // several chunks of the oracle, the last one partial

template <class Op>
Problem problem_of(std::int64_t n, Mode mode = Mode::inclusive) {
  return {kElementType<typename Op::Element>, Op::kOperator, mode, n, {}};
}

template <class Op>
const typename Op::Item* values(const Oracle& oracle) {
  return reinterpret_cast<const typename Op::Item*>(oracle.data().values.get());
}

template <class Op>
std::vector<typename Op::Item> copy_of_values(const Oracle& oracle) {
  return {values<Op>(oracle), values<Op>(oracle) + oracle.problem().items};
}

Wide absolute(Wide x) { return x < 0 ? -x : x; }

/// A scan of affine maps in wide arithmetic; a sum is one whose scales are 1.
struct WidePrefix {
  Wide scale = 1;
  Wide shift = 0;
  Wide magnitude = 0;
  void push(double item_scale, double item_shift) {
    scale *= item_scale;
    shift = shift * item_scale + item_shift;
    magnitude = magnitude * absolute(item_scale) + absolute(item_shift);
  }
};

template <class T>
void push(WidePrefix& prefix, T item) {
  prefix.push(1, item);
}
template <class T>
void push(WidePrefix& prefix, AffineMap<T> item) {
  prefix.push(item.scale, item.shift);
}

template <class T>
double scale_of(T) {
  return 1;
}
template <class T>
double scale_of(AffineMap<T> item) {
  return item.scale;
}
template <class T>
T shift_of(T item) {
  return item;
}
template <class T>
T shift_of(AffineMap<T> item) {
  return item.shift;
}

template <class Op>
void expect_oracle_is_wide_arithmetic(InputKind kind, Mode mode) {
  using T = typename Op::Element;
  const Oracle oracle(problem_of<Op>(kItems, mode), kind, kSeed);
  WidePrefix prefix;
  for (std::int64_t i = 0; i < kItems; ++i) {
    const auto item = input_item<Op>(kind, kSeed, i, kItems);
    if (mode == Mode::inclusive) push(prefix, item);
    const auto expected = values<Op>(oracle)[i];
    const Wide residual = static_cast<Wide>(oracle.data().residuals[i]) * kUnitRoundoff<T>;
    const Wide error = absolute(shift_of(expected) + residual - prefix.shift);
    const Wide magnitude = oracle.data().magnitudes[i];
    ASSERT_EQ(scale_of(expected), static_cast<double>(prefix.scale)) << i;
    // Residuals are floats: the exact value is known to 2^-24 of a rounding, which the bound's slack of 2^-22 covers.
    ASSERT_LE(error, prefix.magnitude * kUnitRoundoff<T> * 0x1p-23) << i;
    ASSERT_GE(magnitude, prefix.magnitude) << i;
    ASSERT_LE(magnitude, prefix.magnitude * (1 + 0x1p-20) + 0x1p-148) << i;
    if (mode == Mode::exclusive) push(prefix, item);
  }
}

TEST(Oracle, FloatsAreScannedInWideArithmetic) {
  for (const InputKind kind : kInputKinds) {
    for (const Mode mode : {Mode::inclusive, Mode::exclusive}) {
      SCOPED_TRACE(std::string(name(kind)) + " " + std::string(name(mode)));
      expect_oracle_is_wide_arithmetic<Plus<float>>(kind, mode);
      expect_oracle_is_wide_arithmetic<Plus<double>>(kind, mode);
      expect_oracle_is_wide_arithmetic<Affine<float>>(kind, mode);
      expect_oracle_is_wide_arithmetic<Affine<double>>(kind, mode);
    }
  }
}

TEST(Oracle, NoItemsPass) {
  for (const auto& [type, text] : named_values<ElementType>()) {
    const Oracle oracle({type, Operator::plus, Mode::exclusive, 0, {}}, InputKind::one_hot, kSeed);
    EXPECT_TRUE(oracle.compare(nullptr, 0, Kind::scan).passed()) << text;
  }
}

TEST(Comparison, CountsEveryWrongItemOnceAndNamesTheFirst) {
  using Op = Plus<std::int32_t>;
  constexpr std::int64_t kMany = 300'000;  // as many threads as there are cores
  const Oracle oracle(problem_of<Op>(kMany), InputKind::random, kSeed);
  auto out = copy_of_values<Op>(oracle);
  for (const std::int64_t i : {299'999, 150'000, 7'000, 80'000}) out[i] ^= 1;
  const Outcome outcome = oracle.compare(out.data(), 0, Kind::scan);
  EXPECT_NE(outcome.message.find("4 of 300000 items wrong, the first at 7000:"), std::string::npos) << outcome.message;
}

/// The outcome when output `at` of a sum misses its exact value by `share` of the bound.
template <class T>
Outcome miss_by(double share, std::int64_t chain) {
  using Op = Plus<T>;
  const std::int64_t at = kItems - 2;
  const Oracle oracle(problem_of<Op>(kItems), InputKind::random, kSeed);
  auto out = copy_of_values<Op>(oracle);
  const double exact = out[at] + oracle.data().residuals[at] * kUnitRoundoff<T>;
  const double bound = *gamma(chain, kUnitRoundoff<T>) * oracle.data().magnitudes[at];
  out[at] = static_cast<T>(exact + share * bound);
  return oracle.compare(out.data(), chain, Kind::scan);
}

TEST(Comparison, AnErrorJustAboveTheBoundFailsAndJustBelowPasses) {
  // The bound of a chain of 20000 is some thousand roundings wide: 1% of it can be distinguished.
  constexpr std::int64_t kChain = 20'000;
  for (const double sign : {-1.0, 1.0}) {
    EXPECT_FALSE(miss_by<float>(1.01 * sign, kChain).passed());
    EXPECT_FALSE(miss_by<double>(1.01 * sign, kChain).passed());
    EXPECT_TRUE(miss_by<float>(0.99 * sign, kChain).passed());
    EXPECT_TRUE(miss_by<double>(0.99 * sign, kChain).passed());
    EXPECT_NEAR(miss_by<float>(0.99 * sign, kChain).error_to_bound, 0.99, 0.005);
  }
}

/// The bound to the last bit, where it is narrower than a rounding: nothing is added to it for the rounding of the
/// output.
template <class T>
void expect_no_more_than_the_bound() {
  constexpr double u = kUnitRoundoff<T>;
  const T next = std::nextafter(T{1}, T{2});  // 1 + 2 u
  const auto right = [](T out, T value, float residual, float magnitude, std::int64_t chain) {
    return judge_rounded(out, value, residual, magnitude, *gamma(chain, u)).right;
  };
  EXPECT_TRUE(right(1, 1, 0, 1, 0));
  EXPECT_FALSE(right(next, 1, 0, 1, 0));
  EXPECT_FALSE(right(next, 1, 0, 1, 1)) << "an error of 2 u, a bound of hardly more than u";
  EXPECT_TRUE(right(next, 1, 0, 1, 2));
  EXPECT_FALSE(right(-next, -1, 0, 1, 1));
  EXPECT_TRUE(right(-next, -1, 0, 1, 2));
  EXPECT_FALSE(right(std::nextafter(next, T{2}), 1, 0, 1, 3)) << "4 u, and 3";
  EXPECT_TRUE(right(next, 1, 0, 2, 1)) << "2 u of a magnitude of 2";
  // The exact value is not what it is rounded to: here 1 + u / 2.
  EXPECT_FALSE(right(1, 1, 0.5F, 0.25F, 1));
  EXPECT_TRUE(right(1, 1, 0.5F, 0.75F, 1));
  EXPECT_FALSE(right(next, 1, 0.5F, 1.25F, 1));
  EXPECT_TRUE(right(next, 1, 0.5F, 1.75F, 1));
}

TEST(Comparison, TheBoundIsGammaTimesTheMagnitudeAndNoMore) {
  expect_no_more_than_the_bound<float>();
  expect_no_more_than_the_bound<double>();
  // Higham 2002, lemma 3.1.
  EXPECT_EQ(*gamma(0, 0x1p-24), 0);
  EXPECT_DOUBLE_EQ(*gamma(1000, 0x1p-24), 1000 * 0x1p-24 / (1 - 1000 * 0x1p-24));
  EXPECT_EQ(kUnitRoundoff<float>, 0x1p-24);
  EXPECT_EQ(kUnitRoundoff<double>, 0x1p-53);
}

/// The outcome of a sum of floats whose second half lacks item 1000.
Outcome without_one_item(InputKind kind, std::int64_t chain) {
  using Op = Plus<float>;
  constexpr std::int64_t kMany = 1'000'000;
  const Oracle oracle(problem_of<Op>(kMany), kind, kSeed);
  auto out = copy_of_values<Op>(oracle);
  const float lost = input_item<Op>(kind, kSeed, 1000, kMany);
  for (std::int64_t i = kMany / 2; i < kMany; ++i) out[i] -= lost;
  return oracle.compare(out.data(), chain, Kind::scan);
}

TEST(Comparison, ALostItemOfAnExactInputFailsHoweverLongTheChain) {
  constexpr std::int64_t kLookBack = 2'500;  // one tile adds to the other
  EXPECT_TRUE(without_one_item(InputKind::random, kLookBack).passed()) << "the exact input is for this";
  const Outcome seen = without_one_item(InputKind::exact, kLookBack);
  EXPECT_FALSE(seen.passed());
  EXPECT_NE(seen.message.find("500000 of 1000000 items wrong"), std::string::npos) << seen.message;
  EXPECT_NE(seen.message.find("every sum is exact"), std::string::npos) << seen.message;
}

TEST(Comparison, InputsOfAProblemAreTriedOnce) {
  using enum InputKind;
  const auto tried = [](const Problem& problem, std::vector<InputKind> asked) {
    return distinct_inputs(std::move(asked), problem);
  };
  const Problem floats = problem_of<Plus<float>>(kItems);
  const Problem integers = problem_of<Plus<std::int32_t>>(kItems);
  EXPECT_EQ(tried(floats, {random, exact}), (std::vector{random, exact}));
  EXPECT_EQ(tried(integers, {one_hot, exact, random}), (std::vector{one_hot, random}));
  EXPECT_EQ(tried(integers, {exact}), std::vector{random}) << "none is left out: it has no exact one";
}

TEST(Comparison, OneWrongBitOfAHalfFailsHoweverLongTheChain) {
  using Op = Plus<Half>;
  const Oracle oracle(problem_of<Op>(kItems), InputKind::random, kSeed);
  auto out = copy_of_values<Op>(oracle);
  EXPECT_TRUE(oracle.compare(out.data(), kItems, Kind::scan).passed());
  out[12'345].bits ^= 1;
  EXPECT_FALSE(oracle.compare(out.data(), kItems, Kind::scan).passed());
  out[12'345] = Half::from_bits(0x7E00);
  EXPECT_FALSE(oracle.compare(out.data(), kItems, Kind::scan).passed()) << "NaN";
}

TEST(Comparison, ExactResultsAreComparedHoweverLongTheChain) {
  using Op = Max<float>;
  const Oracle oracle(problem_of<Op>(kItems), InputKind::random, kSeed);
  const auto out = copy_of_values<Op>(oracle);
  EXPECT_TRUE(oracle.compare(out.data(), std::int64_t{1} << 40, Kind::scan).passed());
}

TEST(Comparison, NaNAndInfinityNeverPass) {
  for (const float poison : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                             -std::numeric_limits<float>::infinity()}) {
    const Oracle sums(problem_of<Plus<float>>(kItems), InputKind::random, kSeed);
    auto out = copy_of_values<Plus<float>>(sums);
    out[7] = poison;
    const Outcome outcome = sums.compare(out.data(), 8'000'000, Kind::scan);
    EXPECT_FALSE(outcome.passed());
    EXPECT_EQ(outcome.error_to_bound, std::numeric_limits<double>::infinity());

    const Oracle maps(problem_of<Affine<float>>(kItems), InputKind::random, kSeed);
    auto scales = copy_of_values<Affine<float>>(maps);
    scales[7].scale = poison;
    EXPECT_FALSE(maps.compare(scales.data(), 8'000'000, Kind::scan).passed());
  }
  const Oracle largest(problem_of<Max<double>>(kItems), InputKind::random, kSeed);
  auto out = copy_of_values<Max<double>>(largest);
  out[7] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(largest.compare(out.data(), 0, Kind::scan).passed());
}

TEST(Comparison, AChainTooLongForABoundIsSkippedWithTheReason) {
  const Oracle oracle(problem_of<Plus<float>>(4), InputKind::random, kSeed);
  const auto out = copy_of_values<Plus<float>>(oracle);
  EXPECT_TRUE(oracle.compare(out.data(), (1 << 23) - 1, Kind::scan).passed());
  const Outcome outcome = oracle.compare(out.data(), 1 << 23, Kind::scan);
  EXPECT_EQ(outcome.status, Outcome::Status::skipped);
  EXPECT_NE(outcome.message.find("no error bound"), std::string::npos) << outcome.message;
}

TEST(Comparison, CopiesAreComparedWithTheInput) {
  using Op = Affine<double>;
  const Oracle oracle(problem_of<Op>(kItems), InputKind::extremes, kSeed);
  std::vector<Op::Item> out;
  for (std::int64_t i = 0; i < kItems; ++i) out.push_back(input_item<Op>(InputKind::extremes, kSeed, i, kItems));
  EXPECT_TRUE(oracle.compare(out.data(), 0, Kind::copy).passed());
  out.back().shift += 1e80;
  EXPECT_FALSE(oracle.compare(out.data(), 0, Kind::copy).passed());
  EXPECT_TRUE(oracle.compare(out.data(), 0, Kind::empty_launch).passed());
}

TEST(Oracle, BeginsAnewWithEachSegment) {
  using Op = Plus<std::int32_t>;
  for (const auto& [lengths, text] : kLengths) {
    for (const std::int64_t mean : {1, 5, 4096, 5000, 1 << 20}) {
      for (const Mode mode : {Mode::inclusive, Mode::exclusive}) {
        Problem problem = problem_of<Op>(kItems, mode);
        problem.segments = {SegmentsBy::offsets, mean, lengths};
        const Oracle oracle(problem, InputKind::random, kSeed);
        std::int64_t segment = 0;
        std::uint32_t sum = 0;
        for (std::int64_t i = 0; i < kItems; ++i) {
          while (problem.segments.begin(segment + 1) <= i) ++segment;
          if (problem.segments.begin(segment) == i) sum = 0;
          const std::uint32_t before = sum;
          sum += static_cast<std::uint32_t>(input_item<Op>(InputKind::random, kSeed, i, kItems));
          ASSERT_EQ(static_cast<std::uint32_t>(values<Op>(oracle)[i]), mode == Mode::inclusive ? sum : before)
              << text << " " << mean << ": " << i;
        }
      }
    }
  }
}

/// A right result, and what a primitive that counts its results can do wrong.
TEST(Oracle, KnowsTheResultsThatAreNotOneAnItem) {
  using Op = Plus<std::int32_t>;
  for (const SegmentsBy by :
       {SegmentsBy::flags, SegmentsBy::partition, SegmentsBy::runs, SegmentsBy::lengths, SegmentsBy::unique}) {
    Problem problem = problem_of<Op>(kItems);
    problem.segments = {.by = by, .mean = 7, .width = have_flags(by) ? 1 : 2, .kept = 50};
    const Segments& cut = problem.segments;
    const Oracle oracle(problem, InputKind::random, kSeed);
    const auto input = [](std::int64_t i) { return input_item<Op>(InputKind::random, kSeed, i, kItems); };
    std::vector<std::int32_t> out, others;
    std::vector<std::uint16_t> unique;
    for (std::int64_t i = 0; i < kItems; ++i) {
      if (have_flags(by)) {
        (cut.keeps(i) ? out : others).push_back(input(i));
        continue;
      }
      if (const auto key = static_cast<std::uint16_t>(cut.entry(i, kItems)); i == 0 || unique.back() != key) {
        unique.push_back(key);
        out.push_back(0);
      }
      out.back() = Op{}(out.back(), by == SegmentsBy::runs ? input(i) : 1);
    }
    std::uint64_t count = out.size();
    if (by == SegmentsBy::partition) out.insert(out.end(), others.rbegin(), others.rend());
    const auto compare = [&] { return oracle.compare(out.data(), 0, Kind::scan, {&count, unique.data()}); };
    EXPECT_TRUE(compare().passed()) << compare().message;
    ++count;
    EXPECT_NE(compare().message.find("counts"), std::string::npos) << compare().message;
    --count;
    if (by != SegmentsBy::unique) {
      out[1234] ^= 1;
      EXPECT_NE(compare().message.find("the first at 1234"), std::string::npos) << compare().message;
      out[1234] ^= 1;
    }
    if (have_flags(by)) continue;
    unique[321] ^= 256;
    EXPECT_NE(compare().message.find("wrong keys of runs, the first at 321"), std::string::npos) << compare().message;
  }
}

/// Rows shorter and longer than the oracle's chunks, which begin inside of them and at their ends; and rows whose items
/// lie apart.
TEST(Oracle, BeginsAnewWithEachRow) {
  using Op = Affine<std::int32_t>;
  for (const auto& [n, rows, inner, segments] :
       {Shape{5, 4000}, {4096, 3}, {7001, 3}, {1, 50}, {20'001}, {5, 40, 100}, {4097, 2, 3}, {1, 7, 9}, {30, 1, 999}}) {
    for (const Mode mode : {Mode::inclusive, Mode::exclusive}) {
      const std::int64_t items = n * rows * inner;
      Problem problem = problem_of<Op>(items, mode);
      problem.rows = rows;
      problem.inner = inner;
      problem.segments = segments;
      const Oracle oracle(problem, InputKind::random, kSeed);
      const ScanOrder order(problem);
      std::vector<Op::Item> running(static_cast<std::size_t>(inner));
      for (std::int64_t i = 0; i < items; ++i) {
        Op::Item& of_line = running[i % inner];
        if (i / inner % n == 0) of_line = Op::identity();
        const Op::Item before = of_line;
        ASSERT_EQ(order.place(order.number(i)), i);
        of_line = Op{}(of_line, input_item<Op>(InputKind::random, kSeed, order.number(i), items));
        ASSERT_EQ(values<Op>(oracle)[i], mode == Mode::inclusive ? of_line : before)
            << rows << " of " << n << " of " << inner << ": " << i;
      }
    }
  }
}

TEST(Comparison, OwnValuesPassAndOneWrongBitFails) {
  using Op = Plus<std::int64_t>;
  const Oracle oracle(problem_of<Op>(kItems), InputKind::random, kSeed);
  auto out = copy_of_values<Op>(oracle);
  EXPECT_TRUE(oracle.compare(out.data(), 0, Kind::scan).passed());
  out[12'345] ^= 1;
  const Outcome outcome = oracle.compare(out.data(), 0, Kind::scan);
  EXPECT_EQ(outcome.status, Outcome::Status::failed);
  EXPECT_NE(outcome.message.find("1 of 20001 items wrong, the first at 12345"), std::string::npos) << outcome.message;
}

TEST(Comparison, ASequentialSumPassesWithItsChainAndFailsWithAShorterOne) {
  using Op = Plus<float>;
  const Oracle oracle(problem_of<Op>(kItems), InputKind::random, kSeed);
  std::vector<float> out(kItems);
  float sum = 0;
  for (std::int64_t i = 0; i < kItems; ++i) {
    sum += input_item<Op>(InputKind::random, kSeed, i, kItems);
    out[i] = sum;
  }
  const Outcome outcome = oracle.compare(out.data(), kItems - 1, Kind::scan);
  EXPECT_TRUE(outcome.passed()) << outcome.message;
  EXPECT_GT(outcome.error_to_bound, 0);
  EXPECT_FALSE(oracle.compare(out.data(), 0, Kind::scan).passed());
}

}  // namespace
}  // namespace scanlab::verify
