// The laws that a scan builds on: the identity changes nothing, and grouping does not matter.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "harness/core/monoid.hpp"
#include "harness/core/variant.hpp"
#include "harness/verify/guard.hpp"

namespace scanlab {
namespace {

template <class F>
void for_each_monoid(const F& f) {
  for (const auto& [type, type_name] : named_values<ElementType>()) {
    for (const auto& [op, op_name] : named_values<Operator>()) {
      SCOPED_TRACE(std::string(type_name) + " " + std::string(op_name));
      with_monoid(type, op, [&, type = type, op = op](auto monoid) { f(type, op, monoid); });
    }
  }
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

template <class Op>
std::vector<typename Op::Item> items() {
  using T = typename Op::Element;
  if constexpr (Op::kOperator == Operator::affine) {
    std::vector<AffineMap<T>> all;
    for (const T scale : {T{1}, T{-1}, T{2}}) {
      for (const T shift : {T{0}, T{1}, T{-5}}) all.push_back({scale, shift});
    }
    return all;
  } else {
    return elements<T>();
  }
}

TEST(Monoid, TheIdentityChangesNothing) {
  for_each_monoid([]<class Op>(ElementType, Operator, Op op) {
    for (const auto& item : items<Op>()) {
      EXPECT_TRUE(op(Op::identity(), item) == item);
      EXPECT_TRUE(op(item, Op::identity()) == item);
    }
  });
}

TEST(Monoid, GroupingDoesNotMatter) {
  for_each_monoid([]<class Op>(ElementType, Operator, Op op) {
    for (const auto& a : items<Op>()) {
      for (const auto& b : items<Op>()) {
        for (const auto& c : items<Op>()) {
          // Sums of floats are rounded: of those here, where two of the ends meet.
          if constexpr (kIsFloating<typename Op::Element> && Op::kOperator == Operator::plus) continue;
          EXPECT_TRUE(op(op(a, b), c) == op(a, op(b, c)));
        }
      }
    }
  });
}

TEST(Monoid, SaysWhatItIs) {
  for_each_monoid([]<class Op>(ElementType type, Operator named, Op op) {
    EXPECT_EQ(Op::kOperator, named);
    EXPECT_EQ(sizeof(typename Op::Element), element_bytes(type));
    EXPECT_EQ(sizeof(typename Op::Item), item_bytes(type, named));
    EXPECT_EQ(kIsFloating<typename Op::Element>, is_floating(type));
    bool commutes = true;
    for (const auto& a : items<Op>()) {
      for (const auto& b : items<Op>()) {
        if constexpr (kIsFloating<typename Op::Element> && Op::kOperator == Operator::plus) continue;
        commutes = commutes && op(a, b) == op(b, a);
      }
    }
    EXPECT_EQ(Op::kCommutative, commutes);
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

TEST(Numbers, AreRoundedUp) {
  EXPECT_EQ(ceil_log2(1), 0);
  EXPECT_EQ(ceil_log2(2), 1);
  EXPECT_EQ(ceil_log2(3), 2);
  EXPECT_EQ(ceil_log2(1024), 10);
  EXPECT_EQ(ceil_log2(1025), 11);
  EXPECT_EQ(ceil_log2(std::int64_t{1} << 40), 40);
  EXPECT_EQ(ceil_div(0, 8), 0);
  EXPECT_EQ(ceil_div(1, 8), 1);
  EXPECT_EQ(ceil_div(8, 8), 1);
  EXPECT_EQ(ceil_div(9, 8), 2);
}

TEST(Parameters, ASmallValueIsTakenAmongTheOthers) {
  Description about;
  about.id = "one";
  about.types = {ElementType::i32};
  about.operators = {Operator::plus};
  about.parameters = {{.name = "tile", .values = {"30", "60"}, .meaning = "KiB", .small = "1"},
                      {.name = "load", .values = {"a", "b"}, .meaning = "how"}};
  EXPECT_EQ(small_settings(about), (Settings{{"tile", "1"}}));
  const auto why_not = [&](Settings settings) { return unsupported(about, {.items = 1, .settings = settings}); };
  for (const char* tile : {"30", "60", "1"}) EXPECT_EQ(why_not({{"tile", tile}}), "");
  EXPECT_EQ(why_not({{"tile", "2"}}), "one takes tile = 30 | 60, not '2'");
  EXPECT_EQ(why_not({{"load", ""}}), "one takes load = a | b, not ''");
  EXPECT_EQ(why_not({{"pad", "1"}}), "one has no parameter 'pad' (it has: tile, load)");
  EXPECT_EQ(setting(about, {}, "tile"), "30");
  EXPECT_EQ(setting(about, {{"tile", "1"}}, "tile"), "1");
  EXPECT_EQ(case_name(about, {.items = 8, .settings = {{"tile", "1"}, {"load", "a"}}}),
            "scan/variant:one/type:i32/op:plus/mode:inclusive/items:8/tile:1");
}

}  // namespace
}  // namespace scanlab
