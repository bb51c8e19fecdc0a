// How a carry enters a chunk and leaves it, so that any scan of the registry scans the chunk in between.
#pragma once

#include <cstdint>

#include "harness/core/element.hpp"
#include "harness/core/monoid.hpp"
#include "harness/core/portable.hpp"

namespace scanlab::out_of_core {

/// Before a chunk's scan: what comes before the chunk becomes part of its first item. `first` is in[0].
template <Monoid Op>
SCANLAB_HD void fold_carry(typename Op::Item carry, typename Op::Item* first) {
  *first = Op{}(carry, *first);
}

/// After it: the carry of the next chunk. The first output of an exclusive scan, which no scan of a chunk can know, is
/// put right. `in` has the carry folded in; items >= 1.
template <Monoid Op>
SCANLAB_HD typename Op::Item leave_carry(Mode mode, typename Op::Item carry, const typename Op::Item* in,
                                         typename Op::Item* out, std::int64_t items) {
  if (mode == Mode::inclusive) return out[items - 1];
  const typename Op::Item next = Op{}(out[items - 1], in[items - 1]);  // of a single item, out[0] is the identity
  out[0] = carry;
  return next;
}

}  // namespace scanlab::out_of_core
