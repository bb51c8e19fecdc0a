// The part that all ways of registering a scan share; and that of scans that run on the host.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "harness/core/operators.hpp"
#include "harness/core/variant.hpp"

namespace scanlab {

/// Whether `Scan` is compiled for the monoid `Op`: all of them, unless it says otherwise.
template <class Scan, class Op>
constexpr bool takes() {
  if constexpr (requires { Scan::template kTakes<Op>; }) {
    return Scan::template kTakes<Op>;
  } else {
    return true;
  }
}

/// Fills in the types and operators that `Scan` is compiled for.
template <class Scan, class = CompiledOperators>
void describe_monoids(Description& about) {
  const auto add = [](auto& list, auto value) {
    if (std::ranges::find(list, value) == list.end()) list.push_back(value);
  };
  for_each_monoid([&]<class Op>(ElementType type, Operator op, Op) {
    if constexpr (takes<Scan, Op>()) {
      add(about.types, type);
      add(about.operators, op);
      about.monoids.emplace_back(type, op);
    }
  });
}

/// The plan of a scan. An exception of it names the scan, and so does the refusal of a size that no memory has.
template <class Scan>
Plan planned(const Scan& scan, const std::string& id) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 48;
  try {
    Plan plan = scan.plan();
    if (plan.workspace_bytes > kMostBytes) throw std::length_error("it asks for 2^48 bytes or more, or less than none");
    return plan;
  } catch (const std::exception& error) {
    throw std::runtime_error("the plan of " + id + " failed: " + error.what());
  }
}

/// A Variant of a class with
///   static Description describe();
///   explicit Scan(const Problem&);
///   Plan plan() const;               // the workspace, or why it cannot
///   template <class Op> static constexpr bool kTakes = …;   // optional: the types and operators it is compiled for
/// For a problem that neither the description nor the plan refuses, `add_backends(op, scan, problem, bound)` gives
/// `bound` its functions, for the operator that the problem names and a shared pointer to the scan.
template <class Scan, class = CompiledOperators, class AddBackends>
Variant scan_variant(Origin origin, SupportedBackends backends, AddBackends add_backends) {
  static_assert(
      requires {
        { Scan::describe() } -> std::same_as<Description>;
      },
      "a scan says what it is: it lacks `static Description describe()`");
  static_assert(std::is_constructible_v<Scan, const Problem&>,
                "a scan is made for a problem: it lacks a constructor `explicit MyScan(const Problem&)`");
  static_assert(
      requires(const Scan& scan) {
        { scan.plan() } -> std::same_as<Plan>;
      },
      "a scan says what it needs, or why it refuses: it lacks `Plan plan() const`");
  Variant variant;
  variant.about = Scan::describe();
  describe_monoids<Scan>(variant.about);
  variant.origin = origin;
  variant.backends = backends;
  variant.bind = [about = variant.about, add_backends](const Problem& problem) {
    BoundScan bound;
    if (std::string reason = unsupported(about, problem); !reason.empty()) {
      bound.plan = Plan::refuse(std::move(reason));
      return bound;
    }
    const auto scan = std::make_shared<const Scan>(problem);
    bound.plan = planned(*scan, about.id);
    if (bound.plan.possible()) {
      with_monoid(problem.type, problem.op, [&]<class Op>(Op op) {
        if constexpr (takes<Scan, Op>()) add_backends(op, scan, problem, bound);
      });
    }
    return bound;
  };
  return variant;
}

/// Makes a Variant of a scan that runs on the host, a class
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
