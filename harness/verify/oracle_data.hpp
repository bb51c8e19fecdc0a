// The data of an oracle, for comparisons on another machine.
#pragma once

#include <cstddef>
#include <memory>

#include "harness/verify/verification.hpp"

namespace scanlab::verify {

/// A rounded output's exact value is value + residual * u, with u the unit roundoff of its element type (in units of
/// u, a residual spans the same range as its value, so a float can hold it). For affine maps residual and magnitude
/// are those of the shift.
struct Oracle::Data {
  Problem problem;
  InputKind kind = InputKind::random;
  std::uint64_t seed = 0;
  std::int64_t every = 1;               ///< output k is that of the place (k + 1) * every - 1
  std::unique_ptr<std::byte[]> values;  ///< problem.items items
  std::unique_ptr<float[]> residuals;   ///< problem.items, or null where the comparison is exact
  std::unique_ptr<float[]> magnitudes;  ///< sum|x_j| rounded up, likewise
};

}  // namespace scanlab::verify
