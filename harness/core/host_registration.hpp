// Makes a Variant of a scan that runs on the host: the CPU baselines.
#pragma once

#include "harness/core/scan_variant.hpp"

namespace scanlab {

/// Wraps a class
///   struct MyScan {
///     static Description describe();
///     explicit MyScan(const Problem&);
///     Plan plan() const;                                                       // refuses what it cannot take
///     template <class Op>
///     void run(Op, const Op::Item* in, Op::Item* out) const;                   // returns when `out` is written
///   };
/// Timed by wall clock; unlike device code it may allocate.
template <class Scan, class = CompiledOperators>
Variant host_scan(Origin origin = Origin::variant) {
  return scan_variant<Scan>(origin, {.host = true},
                            []<class Op>(Op, const auto& scan, const Problem&, BoundScan& bound) {
                              using Item = typename Op::Item;
                              bound.host = [scan](const Buffers& buffers) {
                                scan->run(Op{}, static_cast<const Item*>(buffers.in), static_cast<Item*>(buffers.out));
                              };
                            });
}

}  // namespace scanlab
