// The kernels for every architecture that is promised, of one type and operator: compiled by `./check --architectures`,
// and neither linked nor run.
#include "harness/core/operators.hpp"

namespace scanlab {

/// Stands in for with_monoid in all that is included below.
template <class F>
decltype(auto) with_one_monoid(ElementType, Operator, F&& f) {
  return f(Plus<std::int32_t>{});
}

}  // namespace scanlab

#define with_monoid with_one_monoid
// NOLINTBEGIN(bugprone-suspicious-include)
#include "variants/scan/decoupled_lookback.cu"
#include "variants/scan/look_ahead.cu"
// NOLINTEND(bugprone-suspicious-include)
