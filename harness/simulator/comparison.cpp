#include "harness/simulator/comparison.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <stdexcept>
#include <utility>

namespace scanlab::simulator {

using streams::Span;
using streams::Timeline;

/// In time that grows as the operations and the pairs do, up to a logarithm.
std::set<OperationPair> overlapping(const Timeline& timeline, double resolution) {
  std::vector<const Span*> by_start;
  for (const Span& span : timeline.spans) by_start.push_back(&span);
  std::ranges::sort(by_start, {}, [](const Span* span) { return span->when.start; });
  std::set<OperationPair> all;
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

Agreement& Agreement::operator+=(const Agreement& other) {
  either += other.either;
  both += other.both;
  return *this;
}

double Agreement::share() const { return either == 0 ? 1 : static_cast<double>(both) / static_cast<double>(either); }

Agreement RepeatedOverlaps::with_themselves() const {
  const auto twos = [](int of) { return static_cast<std::size_t>(of * (of - 1) / 2); };
  Agreement all;
  for (const auto& [pair, in] : times) {
    all += {.either = twos(repetitions) - twos(repetitions - in), .both = twos(in)};
  }
  return all;
}

Agreement RepeatedOverlaps::with(const std::set<OperationPair>& predicted) const {
  Agreement all{.either = predicted.size() * static_cast<std::size_t>(repetitions), .both = 0};
  for (const auto& [pair, in] : times) {
    (predicted.count(pair) != 0 ? all.both : all.either) += static_cast<std::size_t>(in);
  }
  return all;
}

Agreement RepeatedOverlaps::at_best() const {
  Agreement best;
  for (int least = 1; least <= repetitions; ++least) {
    std::set<OperationPair> frequent;
    for (const auto& [pair, in] : times) {
      if (in >= least) frequent.insert(pair);
    }
    const Agreement found = with(frequent);
    if (least == 1 || found.share() > best.share()) best = found;
  }
  return best;
}

Agreement RepeatedOverlaps::where_steady(const std::set<OperationPair>& predicted) const {
  Agreement all;
  for (const auto& [pair, in] : times) {
    if (in == repetitions) all += {.either = 1, .both = predicted.count(pair)};
  }
  for (const OperationPair& pair : predicted) all.either += times.count(pair) == 0 ? 1 : 0;
  return all;
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
  result.predicted = overlapping(predicted, resolution);
  const std::set<OperationPair> in_measurement = overlapping(measured, resolution);
  const auto both = static_cast<std::size_t>(std::ranges::count_if(
      result.predicted, [&](const OperationPair& pair) { return in_measurement.count(pair) != 0; }));
  result.overlaps = {.either = result.predicted.size() + in_measurement.size() - both, .both = both};
  return result;
}

}  // namespace scanlab::simulator
