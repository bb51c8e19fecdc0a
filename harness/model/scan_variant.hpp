// What every way of registering a scan shares.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "harness/model/monoid.hpp"
#include "harness/model/variant.hpp"

namespace scanlab {

/// A Variant of a class with
///   static Description describe();
///   explicit Scan(const Problem&);
///   Plan plan() const;               // the workspace, or why it cannot
/// For a problem that neither the description nor the plan refuses, `add_machines(op, scan, problem, bound)` gives
/// `bound` its functions, for the operator that the problem names and a shared pointer to the scan.
template <class Scan, class AddMachines>
Variant scan_variant(Origin origin, Machines machines, AddMachines add_machines) {
  Variant variant;
  variant.about = Scan::describe();
  variant.origin = origin;
  variant.machines = machines;
  variant.bind = [about = variant.about, add_machines](const Problem& problem) {
    BoundScan bound;
    if (std::string why = unsupported(about, problem); !why.empty()) {
      bound.plan = Plan::refuse(std::move(why));
      return bound;
    }
    const auto scan = std::make_shared<const Scan>(problem);
    bound.plan = scan->plan();
    if (bound.plan.possible()) {
      with_monoid(problem.type, problem.op, [&](auto op) { add_machines(op, scan, problem, bound); });
    }
    return bound;
  };
  return variant;
}

}  // namespace scanlab
