// A variant that runs, for each problem, the first of other variants that can.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/scan_variant.hpp"

namespace scanlab {

/// A Variant with the description and the monoids of `Scan`; choices: ids, the fastest first. In a build without CUDA
/// it runs those that have a form for the emulator.
template <class Scan>
Variant first_possible(std::function<std::vector<const char*>(const Problem&)> choices) {
  Variant variant;
  variant.about = Scan::describe();
  describe_monoids<Scan>(variant.about);
#if defined(__CUDACC__)
  variant.backends.cuda = true;
#else
  variant.backends.simt = true;
#endif
  variant.bind = [about = variant.about, choices = std::move(choices)](const Problem& problem) {
    BoundScan bound;
    bound.plan = Plan::refuse(unsupported(about, problem));
    if (!bound.plan.possible()) return bound;
    for (const char* id : choices(problem)) {
      const Variant* const known = Registry::instance().find(id);
      if (known == nullptr) continue;
      BoundScan scan = known->bind(problem);
      if (!scan.plan.possible()) continue;
      bound = std::move(scan);
      bound.plan.choice = Choice{id};
      break;
    }
    return bound;
  };
  return variant;
}

}  // namespace scanlab
