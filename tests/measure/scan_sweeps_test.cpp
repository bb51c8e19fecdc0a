#include "harness/measure/scan_sweeps.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace scanlab::measure
