// Shared by the scans along an axis: the operators that they are compiled for, and the shapes that are verified.
#pragma once

#include <vector>

#include "harness/core/monoid.hpp"
#include "harness/core/variant.hpp"

namespace scanlab::scan_axis {

/// Sums of every type; maxima, minima and affine maps of four and eight bytes.
template <class Op>
inline constexpr bool kAxis = kBasic<Op> && sizeof(typename Op::Item) <= 8 &&
                              (Op::kOperator == Operator::plus || sizeof(typename Op::Element) >= 4);

/// A description with what all scans along an axis have in common. large: shapes of many tiles too, which take the
/// emulator minutes.
inline Description describe_axis(bool large) {
  Description about;
  about.primitive = Primitive::scan_axis;
  about.in_place = true;
  about.cost.traffic = "2n";
  // Axes shorter, as long, and longer than warps, blocks and tiles; of one item; empty ones.
  std::vector<Shape> shapes{{0},          {1},          {1, 1000},    {3, 700},     {31, 65},
                            {32, 64},     {33, 63},     {100, 21},    {1000, 3},    {1024, 4},
                            {1025, 3},    {2049},       {7000, 3},    {1, 3, 5},    {7, 5, 2},
                            {32, 2, 32},  {33, 3, 33},  {100, 1, 31}, {3, 50, 17},  {500, 2, 3},
                            {257, 1, 64}, {64, 3, 100}, {5, 2, 1000}, {1000, 1, 7}, {0, 3, 4}};
  if (large) {
    shapes.insert(shapes.end(), {{3, 700'001},
                                 {32, 100'000},
                                 {257, 10'000},
                                 {4096, 513},
                                 {7168, 300},
                                 {65537, 40},
                                 {2'621'443},
                                 {1'000'000, 3},
                                 {300'000, 1, 8},
                                 {1000, 33, 33},
                                 {2, 5000, 257},
                                 {100'003, 1, 32},
                                 {17, 400, 300},
                                 {50, 3, 10'001}});
  }
  for (const Shape& shape : shapes) about.checked.push_back({shape});
  return about;
}

}  // namespace scanlab::scan_axis
