#include "harness/simulator/copy_engines.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace scanlab::simulator {

CopyEngines::CopyEngines(ModelRun& run) : run_(run), copy_time_(run.recording.operations.size()) {
  for (const CopyEngine& ways : run.device.copy_engines) engines_.push_back({.ways = ways});
  // Those of one way are asked first, and leave the others to what only these can copy. In which order a profile lists
  // its engines says nothing.
  for (Engine& engine : engines_) asked_.push_back(&engine);
  std::ranges::stable_sort(asked_, {}, [](const Engine* engine) {
    return std::pair(engine->ways.in && engine->ways.out, engine->ways.out);
  });
}

int CopyEngines::serving(bool in) const {
  const auto first = std::ranges::find_if(asked_, [&](const Engine* engine) { return engine->ways.serves(in); });
  return static_cast<int>(first - asked_.begin());
}

/// Of the copies that wait and that the engine serves: the first from its turn on. One that has copied nothing yet
/// begins with the first issued.
std::optional<CopyEngines::Offer> CopyEngines::next_of(const Engine& engine) const {
  const auto rank = [&](const Offer& offer) {
    return engine.last ? std::tuple(offer.turn < engine.turn, offer.turn, offer.operation)
                       : std::tuple(false, std::size_t{0}, offer.operation);
  };
  std::optional<Offer> next;
  for (const bool in : {true, false}) {
    const std::set<Offer>& waiting = waiting_[in ? 0 : 1];
    if (waiting.empty() || !engine.ways.serves(in)) continue;
    auto first = engine.last ? waiting.lower_bound({engine.turn, 0}) : std::ranges::min_element(waiting, {}, rank);
    if (first == waiting.end()) first = waiting.begin();
    if (!next || rank(*first) < rank(*next)) next = *first;
  }
  return next;
}

void CopyEngines::start(const std::function<void(std::size_t operation)>& taken) {
  for (bool again = true; std::exchange(again, false);) {
    for (Engine* const engine : asked_) {
      if (engine->operation) continue;
      const std::optional<Offer> next = next_of(*engine);
      if (!next) continue;
      waiting(next->operation).erase(*next);
      take(next->operation, *engine);
      engine->turn = next->turn;
      taken(next->operation);
      again = true;
    }
  }
}

bool CopyEngines::copying_in() const {
  return std::ranges::any_of(
      engines_, [&](const Engine& engine) { return engine.moving && copies_in(run_.operation(*engine.operation)); });
}

/// Whether an engine copies the other way.
bool CopyEngines::opposite(const Engine& engine, std::size_t operation) const {
  return engine.operation && copies_in(run_.operation(*engine.operation)) != copies_in(run_.operation(operation));
}

/// Whether an engine has a copy the other way that has not begun to flow.
bool CopyEngines::waits_beside(const Engine& engine, std::size_t operation) const {
  return !engine.moving && opposite(engine, operation);
}

void CopyEngines::foretell(Engine& engine, What what, Ticks at) {
  run_.happenings.push({.at = at,
                        .operation = *engine.operation,
                        .what = what,
                        .engine = static_cast<int>(&engine - engines_.data()),
                        .version = ++engine.version});
}

void CopyEngines::take(std::size_t operation, Engine& engine) {
  const Progress& progress = run_.progress[operation];
  streams::Span& span = run_.span(operation);
  span.when.start = seconds(run_.now);
  run_.result.copy_engine[progress.span] = static_cast<int>(&engine - engines_.data());
  if (progress.held_by && progress.ready < run_.now) {
    span.held = {seconds(run_.now), streams::Idle::launches, progress.held_by};
  }
  const bool other_way = engine.last && copies_in(run_.operation(*engine.last)) != copies_in(run_.operation(operation));
  if (other_way && engine.last_end == run_.now && progress.ready < run_.now) {
    span.held = {seconds(run_.now), streams::Idle::other_way, engine.last};
  }
  engine.operation = operation;
  engine.left = static_cast<double>(copy_time_[operation]);
  engine.slowdown = 0;
  engine.taken = run_.now;
  begin_beside(operation, engine);
}

/// While bytes flow the other way a copy begins late; as they cease it begins with the next one there, and from then on
/// both may stay in step, as they do on an H200 where copies are of about 1 MiB.
void CopyEngines::begin_beside(std::size_t operation, Engine& engine) {
  const DeviceProfile& device = run_.device;
  Ticks until_flow = latency(operation, device.copy_latency);
  for (Engine& other : engines_) {
    if (waits_beside(other, operation)) {
      until_flow = std::max(until_flow, latency(operation, device.latency_in_step));
      const Ticks in_step = std::max(other.taken + latency(*other.operation, device.latency_in_step),
                                     run_.now + latency(*other.operation, device.copy_latency));
      foretell(other, What::bytes_flow, std::min(other.latest, in_step));
    } else if (other.moving && opposite(other, operation)) {
      until_flow = std::max(until_flow, latency(operation, device.latency_both));
    }
  }
  engine.latest = run_.now + until_flow;
  if (until_flow > 0) return foretell(engine, What::bytes_flow, engine.latest);
  engine.moving = true;
  rates_changed_ = true;
}

void CopyEngines::set_rates() {
  if (!std::exchange(rates_changed_, false)) return;
  int in = 0;
  int out = 0;
  for (const Engine& engine : engines_) {
    if (engine.moving) ++(copies_in(run_.operation(*engine.operation)) ? in : out);
  }
  const DeviceProfile& device = run_.device;
  const double slow_in = in * (out > 0 ? device.alone.in / device.both.in : 1);
  const double slow_out = out * (in > 0 ? device.alone.out / device.both.out : 1);
  for (Engine& engine : engines_) {
    if (!engine.moving) continue;
    const double slowdown = copies_in(run_.operation(*engine.operation)) ? slow_in : slow_out;
    if (slowdown == engine.slowdown) continue;
    if (engine.slowdown > 0) engine.left -= static_cast<double>(run_.now - engine.since) / engine.slowdown;
    engine.left = std::max(0.0, engine.left);
    engine.since = run_.now;
    engine.slowdown = slowdown;
    foretell(engine, What::copy_ends, run_.now + std::llround(engine.left * slowdown));
  }
}

std::optional<std::size_t> CopyEngines::happen(const Happening& happening) {
  Engine& engine = engines_[static_cast<std::size_t>(happening.engine)];
  if (engine.version != happening.version) return {};
  rates_changed_ = true;
  const EachWay& latency_alone = run_.device.copy_latency;
  if (happening.what == What::bytes_flow) {
    engine.moving = true;
    // Any wait beyond its own latency was for the other direction.
    const Ticks own = run_.now - latency(happening.operation, latency_alone);
    run_.span(happening.operation).when.start = seconds(std::max(engine.taken, own));
    return {};
  }
  engine.last = std::exchange(engine.operation, {});
  engine.last_end = run_.now;
  engine.moving = false;
  for (Engine& other : engines_) {
    if (!waits_beside(other, happening.operation)) continue;
    foretell(other, What::bytes_flow, std::min(other.latest, run_.now + latency(*other.operation, latency_alone)));
  }
  return happening.operation;
}

}  // namespace scanlab::simulator
