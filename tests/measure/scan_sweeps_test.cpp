#include "harness/measure/scan_sweeps.hpp"

#include <gtest/gtest.h>

#include <set>

#include "harness/measure/scan_cases.hpp"
#include "harness/selection/words.hpp"

namespace scanlab::measure {
namespace {

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
  const ScanSweep& sweep = find_named("sweep", scan_sweeps(), "duel_operators");
  const auto narrowed = selected_scans(sweep, {{"variant", {"best"}}, {"op", {"log_sum_exp"}}});
  std::set<ElementType> types;
  for (const ScanInColumns& each : narrowed) {
    EXPECT_EQ(each.scan.problem.op, Operator::log_sum_exp);
    types.insert(each.scan.problem.type);
  }
  EXPECT_EQ(types, (std::set{ElementType::f32, ElementType::f64}));
}

}  // namespace
}  // namespace scanlab::measure
