#include "harness/simt/role_cycles.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace scanlab::simt {
namespace {

const TileTimes kPoints{{"begun", {0, 30}}, {"stored", {1500, 2500}}};

TEST(TileTimes, AreARowForEachTile) {
  const RunColumns columns{{"variant", "one_wave"}, {"items", "64"}};
  EXPECT_EQ(csv_head(columns, kPoints), "variant,items,tile,begun_ns,stored_ns\n");
  EXPECT_EQ(csv_rows(columns, kPoints), "one_wave,64,0,0,1500\none_wave,64,1,30,2500\n");
}

TEST(TileTimes, ArePrintedForTheFirstTileAndAll) {
  std::ostringstream out;
  print("a case", kPoints, out);
  EXPECT_NE(out.str().find("a case, 2 tiles, in us\n"), std::string::npos);
  EXPECT_NE(out.str().find("stored  first    1.50   half    2.50   all    2.50\n"), std::string::npos) << out.str();
}

}  // namespace
}  // namespace scanlab::simt
