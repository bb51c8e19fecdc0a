// The median: the harness prints it, chooses by it and scales with it. Analysis computes the published ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace scanlab {

/// The mean of the middle two where their number is even; 0 of none.
inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace scanlab
