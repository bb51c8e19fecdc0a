// The laws that a scan builds on: the identity changes nothing, and grouping does not matter; and the oracle of each
// operator.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <iostream>
#include <limits>
#include <stdexcept>
#include <vector>

#include "harness/core/operators.hpp"
#include "harness/core/variant.hpp"
#include "harness/verify/comparison.hpp"
#include "harness/verify/guard.hpp"
#include "harness/verify/input.hpp"

namespace scanlab {
namespace {

template <class F>
void of_each_monoid(const F& f) {
  scanlab::for_each_monoid([&](ElementType type, Operator op, auto monoid) {
    SCOPED_TRACE(std::string(name(type)) + " " + std::string(name(op)));
    f(type, op, monoid);
  });
}

/// Values at the ends of a type, and some between, of which a few sums are exact.
template <class T>
std::vector<T> elements() {
  using Limits = std::numeric_limits<T>;
  if constexpr (kIsFloating<T>) {
    return {T{0}, T{1}, T{-1}, T{3}, T{-7}, Limits::infinity(), -Limits::infinity(), Limits::max(), Limits::lowest()};
  } else {
    return {T{0}, T{1}, T{-1}, T{3}, T{-7}, Limits::max(), Limits::lowest()};
  }
}

/// A few affine maps and segments that come out exact; of other items with several parts, the inputs of verification.
template <class Op>
std::vector<typename Op::Item> items() {
  using T = typename Op::Element;
  std::vector<typename Op::Item> all;
  if constexpr (Op::kOperator == Operator::affine) {
    for (const T scale : {T{1}, T{-1}, T{2}}) {
      for (const T shift : {T{0}, T{1}, T{-5}}) all.push_back({scale, shift});
    }
  } else if constexpr (Op::kOperator == Operator{"segmented_plus"}) {
    for (const T value : {T{1}, T{-3}, T{7}}) {
      for (const int flag : {0, 1}) all.push_back({value, flag});
    }
  } else if constexpr (std::is_same_v<T, typename Op::Item>) {
    all = elements<T>();
  } else {
    for (const InputKind kind : kInputKinds) {
      for (std::int64_t i = 0; i < 4; ++i) all.push_back(verify::input_item<Op>(kind, 1, i, 4));
    }
  }
  return all;
}

/// Whether two results are the same, but for the rounding of those that may round.
template <class Op>
bool agree(const typename Op::Item& a, const typename Op::Item& b) {
  if constexpr (Op::kRounds) {
    const double x = verify::rounded_part<Op>(a);
    const double y = verify::rounded_part<Op>(b);
    const bool near = x == y || (std::isnan(x) && std::isnan(y)) || std::abs(x - y) < 1e-6 * std::abs(x + y);
    if constexpr (requires { Op::rest_is_right(a, b); }) return near && Op::rest_is_right(a, b);
    return near;
  } else {
    return a == b;
  }
}

/// Sums of the ends of a floating type depend on their order: nothing is to be learnt of them.
template <class Op>
constexpr bool kCancels = kIsFloating<typename Op::Element>&& Op::kOperator == Operator::plus;

TEST(Monoid, TheIdentityChangesNothing) {
  of_each_monoid([]<class Op>(ElementType, Operator, Op op) {
    for (const auto& item : items<Op>()) {
      EXPECT_TRUE(op(Op::identity(), item) == item);
      EXPECT_TRUE(op(item, Op::identity()) == item);
    }
  });
}

TEST(Monoid, GroupingDoesNotMatter) {
  of_each_monoid([]<class Op>(ElementType, Operator, Op op) {
    if constexpr (!kCancels<Op>) {
      for (const auto& a : items<Op>()) {
        for (const auto& b : items<Op>()) {
          for (const auto& c : items<Op>()) EXPECT_TRUE(agree<Op>(op(op(a, b), c), op(a, op(b, c))));
        }
      }
    }
  });
}

TEST(Monoid, SaysWhatItIs) {
  of_each_monoid([]<class Op>(ElementType type, Operator named, Op op) {
    EXPECT_EQ(Op::kOperator, named);
    EXPECT_EQ(sizeof(typename Op::Element), element_bytes(type));
    EXPECT_EQ(sizeof(typename Op::Item), item_bytes(type, named));
    EXPECT_EQ(kIsFloating<typename Op::Element>, is_floating(type));
    bool commutes = true;
    if constexpr (!kCancels<Op>) {
      for (const auto& a : items<Op>()) {
        for (const auto& b : items<Op>()) commutes = commutes && agree<Op>(op(a, b), op(b, a));
      }
    }
    EXPECT_TRUE(commutes || !Op::kCommutative);
  });
}

TEST(Monoid, IntegersWrap) {
  EXPECT_EQ(Plus<std::int8_t>{}(127, 1), -128);
  EXPECT_EQ(Plus<std::int64_t>{}(INT64_MIN, -1), INT64_MAX);
  EXPECT_EQ((Affine<std::int16_t>{}({181, 0}, {182, 0}).scale), static_cast<std::int16_t>(181 * 182));
}

TEST(Monoid, AnAffineMapAppliesTheLeftOneFirst) {
  const auto both = Affine<std::int32_t>{}({3, 5}, {2, 7});  // x -> 3 x + 5, then y -> 2 y + 7
  EXPECT_EQ(both, (AffineMap<std::int32_t>{6, 17}));
}

TEST(Monoid, ASegmentForgetsWhatCameBefore) {
  using Op = SegmentedPlus<std::int32_t>;
  const auto both = Op{}({7, 0}, {5, 1});
  EXPECT_EQ(both, (Op::Item{5, 1}));
  EXPECT_EQ(Op{}(both, {2, 0}), (Op::Item{7, 1}));
}

TEST(Monoid, TheFirstOfEqualsIsTheLargest) {
  using Op = ArgMax<float>;
  EXPECT_EQ(Op{}({2, 8}, {2, 3}), (Op::Item{2, 3}));
  EXPECT_EQ(Op{}({1, 3}, {2, 8}), (Op::Item{2, 8}));
}

TEST(Monoid, ARecurrenceOfOrderTwoIsAProductOfMatrices) {
  const Matrix2x2Float step{1, 1, 1, 0};  // (F(n+1), F(n)) from (F(n), F(n-1))
  auto product = Matrix2x2<float>::identity();
  for (int i = 0; i < 20; ++i) product = Matrix2x2<float>{}(product, step);
  EXPECT_EQ(product.b, 6765);
}

TEST(Monoid, TheSquareOfIIsMinusOne) {
  const ComplexMultiply<float> op;
  EXPECT_EQ(op({0, 1}, {0, 1}), (ComplexFloat{-1, 0}));
  EXPECT_EQ(op({1, 2}, {3, 4}), (ComplexFloat{-5, 10}));
}

TEST(Monoid, LogarithmsOfSumsKeepInfinitiesAndNaN) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const LogSumExp<double> op;
  EXPECT_DOUBLE_EQ(op(std::log(3.0), std::log(4.0)), std::log(7.0));
  EXPECT_EQ(op(1000, 1000), 1000 + std::log(2.0)) << "exp(1000) would be infinite";
  EXPECT_EQ(op(-kInfinity, -kInfinity), -kInfinity);
  EXPECT_EQ(op(kInfinity, kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(op(1, NAN)));
  EXPECT_TRUE(std::isnan(op(NAN, -kInfinity)));
}

TEST(Operators, AreDefinedForSomeTypes) {
  EXPECT_TRUE(defined(ElementType::f64, Operator{"log_sum_exp"}));
  EXPECT_FALSE(defined(ElementType::i32, Operator{"log_sum_exp"}));
  EXPECT_EQ(not_defined(ElementType::i32, Operator{"log_sum_exp"}), "there is no log_sum_exp of i32: choose f32, f64");
  EXPECT_THROW(item_bytes(ElementType::i32, Operator{"log_sum_exp"}), std::invalid_argument);
}

/// Makes an item wrong: not a number where results round, else with every bit turned.
template <class Op>
void spoil(typename Op::Item& item) {
  auto* const bytes = reinterpret_cast<unsigned char*>(&item);
  for (std::size_t i = 0; i < sizeof item; ++i) bytes[i] = Op::kRounds ? 0xFF : static_cast<unsigned char>(~bytes[i]);
}

/// Every operator against its own oracle, by the simplest of scans; what is scanned is printed.
TEST(Operators, AScanOfEachIsRight) {
  const Variant* const scan = Registry::instance().find("cpu_sequential");
  for_each_monoid([&]<class Op>(ElementType type, Operator op, Op) {
    std::cout << name(op) << " of " << name(type) << "\n";
    for (const InputKind kind : kInputKinds) {
      for (const Mode mode : {Mode::inclusive, Mode::exclusive}) {
        for (const std::int64_t n : {1, 2, 1000, 10'000}) {
          const Problem problem{type, op, mode, n, {}};
          std::vector<typename Op::Item> in(n);
          std::vector<typename Op::Item> out(n);
          for (std::int64_t i = 0; i < n; ++i) in[i] = verify::input_item<Op>(kind, 1, i, n);
          const BoundScan bound = scan->bind(problem);
          ASSERT_TRUE(bound.plan.possible()) << bound.plan.refusal;
          bound.host({.in = in.data(), .out = out.data()});
          const verify::Oracle oracle(problem, kind, 1);
          const verify::Outcome right = oracle.compare(out.data(), bound.plan.chain, Kind::scan);
          EXPECT_TRUE(right.passed()) << name(kind) << ", n = " << n << ": " << right.message;
          spoil<Op>(out[n / 2]);
          EXPECT_FALSE(oracle.compare(out.data(), bound.plan.chain, Kind::scan).passed())
              << name(kind) << ", n = " << n << ": a wrong item passes";
        }
      }
    }
  });
}

}  // namespace
}  // namespace scanlab
