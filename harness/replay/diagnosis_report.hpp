// The diagnosis of a schedule, or of two side by side, for people.
#pragma once

#include <algorithm>
#include <optional>
#include <ostream>
#include <vector>

#include "harness/replay/schedule_trace.hpp"
#include "harness/timeline/diagnosis.hpp"

namespace scanlab::streams {

/// Seconds: gaps below are summed up, so all of them.
inline constexpr double kNoGaps = 1e9;

/// A line each, or that there is none.
void print(const std::vector<Diagnosis>& diagnoses, std::ostream& out);

/// A schedule, measured and diagnosed.
struct Examined {
  ScheduledJob chosen;
  double seconds = 0;  ///< without collection, the median
  bool wrong = false;  ///< its output is, and it is no control
  std::vector<Diagnosis> diagnoses;

  bool has(Cause cause) const {
    return std::ranges::any_of(diagnoses, [&](const auto& each) { return each.cause == cause; });
  }
};

/// Measures one, and prints its timeline and diagnosis. Only in a build with CUDA. Throws as measure_timeline does.
Examined examine(const ScheduledJob& chosen, std::optional<HostArrays>& arrays, std::ostream& out);

/// How much longer one takes than the other, and the causes that one alone has.
void compare(const Examined& a, const Examined& b, std::ostream& out);

}  // namespace scanlab::streams
