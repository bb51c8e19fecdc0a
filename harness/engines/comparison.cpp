#include "harness/engines/comparison.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <stdexcept>
#include <utility>

namespace scanlab::engines {

namespace {

using streams::Span;
using streams::Timeline;
using Pairs = std::set<std::pair<std::size_t, std::size_t>>;  ///< of operations

/// In time that grows as the operations and the pairs do, up to a logarithm.
Pairs overlapping(const Timeline& timeline, double resolution) {
  std::vector<const Span*> by_start;
  for (const Span& span : timeline.spans) by_start.push_back(&span);
  std::ranges::sort(by_start, {}, [](const Span* span) { return span->when.start; });
  Pairs all;
  std::vector<const Span*> running;
  for (const Span* span : by_start) {
    std::erase_if(running, [&](const Span* other) { return other->when.end <= span->when.start; });
    for (const Span* other : running) {
      const double together = std::min(other->when.end, span->when.end) - span->when.start;
      if (together > resolution) all.insert(std::minmax(span->operation, other->operation));
    }
    running.push_back(span);
  }
  return all;
}

}  // namespace

double Comparison::overlap_share() const {
  if (overlap_in_either == 0) return 1;
  return static_cast<double>(overlap_in_both) / static_cast<double>(overlap_in_either);
}

Comparison compare(const Timeline& predicted, const Timeline& measured, double resolution) {
  const auto same = [](const Span& a, const Span& b) { return a.operation == b.operation; };
  if (!std::ranges::equal(predicted.spans, measured.spans, same)) {
    throw std::invalid_argument("the two timelines are not of the same operations");
  }
  Comparison result;
  for (std::size_t i = 0; i < predicted.spans.size(); ++i) {
    const streams::Interval& a = predicted.spans[i].when;
    const streams::Interval& b = measured.spans[i].when;
    result.operations.push_back({.operation = predicted.spans[i].operation,
                                 .start = a.start - b.start,
                                 .end = a.end - b.end,
                                 .duration = a.seconds() - b.seconds()});
  }
  const Pairs in_prediction = overlapping(predicted, resolution);
  const Pairs in_measurement = overlapping(measured, resolution);
  result.overlap_in_both = static_cast<std::size_t>(
      std::ranges::count_if(in_prediction, [&](const auto& pair) { return in_measurement.count(pair) != 0; }));
  result.overlap_in_either = in_prediction.size() + in_measurement.size() - result.overlap_in_both;
  return result;
}

}  // namespace scanlab::engines
