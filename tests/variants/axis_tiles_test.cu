// How columns are cut into tiles: within what boxes and shared memory hold, for every number of columns. No device is
// needed.
#if defined(__CUDACC__)
#include <gtest/gtest.h>

#include "variants/scan_axis/axis_columns.cuh"

namespace scanlab::scan_axis {
namespace {

constexpr int kStageBytes = 227 * 1024 / kColumnStages - 256;  // a tile and its folds
constexpr int kPadding = 144;                                  // as ColumnKernel leaves
constexpr std::int64_t kLines = 65536;

ColumnTiles cut(std::int64_t columns, int item_bytes) {
  return {1, kLines, columns, item_bytes, false, 132, kStageBytes, item_bytes};
}

TEST(ColumnTiles, HaveBoxesWhereLinesBeginAnywhere) {
  for (const int bytes : {1, 2, 4, 8, 12}) {
    for (std::int64_t columns = 129; columns < 4300; columns += 2) {
      const ColumnTiles tiles = cut(columns, bytes);
      SCOPED_TRACE(testing::Message() << columns << " columns of " << bytes << " bytes");
      ASSERT_FALSE(tiles.contiguous());
      ASSERT_GT(tiles.together_bits, 0);
      ASSERT_EQ(columns * bytes * tiles.together() % 16, 0);
      ASSERT_LE(tiles.pitch, 4 * ColumnTiles::kBoxWords);
      ASSERT_GE(tiles.pitch, tiles.width * bytes + 15) << "bytes from the multiple of 16 before a line";
      ASSERT_LE(tiles.box_lines(), ColumnTiles::kBoxLines);
      ASSERT_EQ(tiles.lines_a_thread % tiles.together(), 0);
      ASSERT_LE(tiles.tile_bytes() + tiles.folds() * bytes, kStageBytes + kPadding);
    }
  }
}

TEST(ColumnTiles, FitWithFewLinesToo) {
  for (const int bytes : {1, 4, 8}) {
    for (const std::int64_t lines : {1, 3, 100, 5000}) {
      for (std::int64_t columns = 1; columns < 700; ++columns) {
        const ColumnTiles tiles(3, lines, columns, bytes, false, 132, kStageBytes, bytes);
        ASSERT_GE(tiles.lines(), 1);
        ASSERT_LE(tiles.box_lines(), std::max(ColumnTiles::kBoxLines, tiles.together_bits == 0 ? tiles.lines() : 0));
        ASSERT_LE(tiles.tile_bytes() + tiles.folds() * bytes, kStageBytes + kPadding) << columns << " of " << bytes;
      }
    }
  }
}

}  // namespace
}  // namespace scanlab::scan_axis
#endif
