// Makes a Variant of a scan that runs on the host: the CPU baselines.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "harness/model/monoid.hpp"
#include "harness/model/variant.hpp"

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
template <class Scan>
Variant host_scan(Origin origin = Origin::variant) {
  Variant variant;
  variant.about = Scan::describe();
  variant.origin = origin;
  variant.machines.host = true;
  variant.bind = [about = variant.about](const Problem& problem) {
    BoundScan bound;
    if (std::string why = unsupported(about, problem); !why.empty()) {
      bound.plan = Plan::refuse(std::move(why));
      return bound;
    }
    const auto scan = std::make_shared<const Scan>(problem);
    bound.plan = scan->plan();
    if (!bound.plan.possible()) return bound;
    with_monoid(problem.type, problem.op, [&]<class Op>(Op) {
      using Item = typename Op::Item;
      bound.host = [scan](const Buffers& buffers) {
        scan->run(Op{}, static_cast<const Item*>(buffers.in), static_cast<Item*>(buffers.out));
      };
    });
    return bound;
  };
  return variant;
}

}  // namespace scanlab
