// The median: what the harness prints, chooses by and scales with. Analysis computes the published ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace scanlab {

/// The mean of the middle two where their number is even; 0 of none.
inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// Half the width of the 95 % interval of the median, as a part of the median: between two order statistics, without an
/// assumption on the distribution. Infinite of fewer than six values, which have no such interval.
/// Source: Hoefler and Belli, Scientific Benchmarking of Parallel Computing Systems, SC 2015, section 3.1.3.
inline double median_uncertainty(std::vector<double> values) {
  const std::size_t n = values.size();
  // So many values on either side may lie outside: the median is beyond them with a probability of 2.5 % at most.
  double probability = std::pow(0.5, static_cast<double>(n));  // that exactly `outside` of n are below the median
  double below = probability;
  std::size_t outside = 0;
  while (below <= 0.025) {
    probability *= static_cast<double>(n - outside) / static_cast<double>(outside + 1);
    below += probability;
    ++outside;
  }
  if (outside == 0) return std::numeric_limits<double>::infinity();
  std::sort(values.begin(), values.end());
  return (values[n - outside] - values[outside - 1]) / 2 / median(values);
}

}  // namespace scanlab
