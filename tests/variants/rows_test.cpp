// Where the rows of a tensor begin, by a quotient of doubles that is corrected.
#include <gtest/gtest.h>

#include "variants/scan_axis/segments.cuh"

namespace scanlab::scan_axis {
namespace {

TEST(Rows, AnItemHasItsRowAndItsColumn) {
  for (const std::int64_t axis :
       {std::int64_t{1}, std::int64_t{3}, std::int64_t{49}, std::int64_t{4097}, (std::int64_t{1} << 31) + 11}) {
    const Rows rows(axis);
    for (const std::int64_t row :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{1'000'003}, (std::int64_t{1} << 52) / axis}) {
      for (const std::int64_t column : {std::int64_t{0}, axis / 2, axis - 1}) {
        const std::int64_t place = row * axis + column;
        EXPECT_EQ(rows.row(place), row) << place << " of rows of " << axis;
        EXPECT_EQ(rows.column(place), column) << place << " of rows of " << axis;
      }
    }
  }
}

}  // namespace
}  // namespace scanlab::scan_axis
