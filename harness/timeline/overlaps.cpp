#include "harness/timeline/overlaps.hpp"

#include <algorithm>

namespace scanlab::streams {

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
  const auto twos = [](int count) { return static_cast<std::size_t>(count * (count - 1) / 2); };
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
    const Agreement agreement = with(frequent);
    if (least == 1 || agreement.share() > best.share()) best = agreement;
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

}  // namespace scanlab::streams
