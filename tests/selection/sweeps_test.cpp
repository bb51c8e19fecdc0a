#include "harness/selection/sweeps.hpp"

#include <gtest/gtest.h>

#include <set>

#include "harness/host/status.hpp"
#include "harness/selection/words.hpp"

namespace scanlab {
namespace {

/// A scan of f16 maxima alone.
const Registration kHalves{[] {
  Variant halves;
  halves.about.id = "planted_halves";
  halves.about.types = {ElementType::f16};
  halves.about.operators = {Operator::max};
  halves.origin = Origin::baseline;
  halves.bind = [](const Problem&) {
    BoundScan bound;
    bound.plan = Plan::refuse("it is there to be chosen");
    return bound;
  };
  return halves;
}()};

TEST(ScanSelection, TakesATypeAndAnOperatorThatTheFirstVariantHas) {
  const std::vector<ScanInColumns> chosen = selected_scans({{"variant", {"planted_halves", "best"}}}, "1000");
  ASSERT_EQ(chosen.size(), 2u);
  for (const ScanInColumns& each : chosen) {
    EXPECT_EQ(each.scan.problem.type, ElementType::f16);
    EXPECT_EQ(each.scan.problem.op, Operator::max);
  }
  const Problem usual = selected_scans({{"variant", {"best", "planted_halves"}}}, "1000").front().scan.problem;
  EXPECT_EQ(usual.type, ElementType::i32);
  EXPECT_EQ(usual.op, Operator::plus);
}

TEST(ScanSelection, CutsATotalIntoRows) {
  const OptionWords words{
      {"variant", {"thread_per_row"}}, {"items", {"32,100"}}, {"inner", {"3"}}, {"total", {"2^12,10"}}};
  std::set<std::pair<std::int64_t, std::int64_t>> shapes;  // the axis, and the rows
  for (const ScanInColumns& each : selected_scans(words, "")) {
    EXPECT_EQ(each.scan.problem.inner, 3);
    shapes.emplace(each.scan.problem.axis(), each.scan.problem.rows);
  }
  EXPECT_EQ(shapes, (decltype(shapes){{32, 42}, {32, 1}, {100, 13}, {100, 1}}));
}

TEST(ScanSelection, RefusesShapesOfTooManyItems) {
  try {
    selected_scans({{"variant", {"thread_per_row"}}, {"items", {"2^32"}}, {"inner", {"2^32"}}, {"total", {"1024"}}},
                   "");
    FAIL() << "2^64 items were taken";
  } catch (const CommandError& error) {
    EXPECT_NE(std::string(error.what()).find("--rows 1 "), std::string::npos) << error.what();
  }
}

TEST(ScanSelection, TimesWhatWaitsOnTheHostInAStreamOnly) {
  Variant waits;
  waits.backends.cuda = true;
  waits.about.waits_on_host = true;
  ScanInColumns scan;
  scan.scan.variant = &waits;
  scan.caches = {Cache::warm};
  scan.launches = {Launch::stream, Launch::graph, Launch::batch, Launch::pipeline};
  EXPECT_EQ(scan.columns(), (std::vector{std::pair{Cache::warm, Launch::stream}}));
}

TEST(ScanSweeps, NamesEachCaseOfItsParts) {
  for (const ScanSweep& sweep : scan_sweeps()) {
    const std::vector<ScanInColumns> all = cases(sweep);
    EXPECT_FALSE(all.empty());
    int floors = 0;
    for (const ScanInColumns& each : all) {
      EXPECT_FALSE(each.caches.empty());
      EXPECT_FALSE(each.launches.empty());
      EXPECT_EQ(unsupported(each.scan.variant->about, each.scan.problem), "");
      floors += each.scan.variant->about.kind == Kind::empty_launch ? 1 : 0;
    }
    EXPECT_LE(floors, 1);
  }
}

TEST(ScanSweeps, AreNarrowedToAnOperatorThatSomeTypesLack) {
  const ScanSweep& sweep = find_named("sweep", scan_sweeps(), "head_to_head_operators");
  const auto narrowed = selected_scans(sweep, {{"variant", {"best"}}, {"op", {"log_sum_exp"}}});
  std::set<ElementType> types;
  for (const ScanInColumns& each : narrowed) {
    EXPECT_EQ(each.scan.problem.op, Operator{"log_sum_exp"});
    types.insert(each.scan.problem.type);
  }
  EXPECT_EQ(types, (std::set{ElementType::f32, ElementType::f64}));
}

}  // namespace
}  // namespace scanlab
