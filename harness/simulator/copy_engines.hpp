// The copy engines of the engine model: which copy each takes next, when its bytes begin to flow, and how fast.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/simulator/model_run.hpp"

namespace scanlab::simulator {

class CopyEngines {
 public:
  /// `run` outlives it.
  explicit CopyEngines(ModelRun& run) : run_(run), copy_time_(run.recording.operations.size()) {
    for (const CopyEngine& ways : run.device.copy_engines) engines_.push_back({.ways = ways});
    if (engines_.empty()) engines_.push_back({.ways = {.in = true, .out = true}});  // it copies while nothing else runs
    // Engines of one way are asked first, which leaves engines of both ways free for the other copies. The order in
    // which a profile lists its engines has no meaning.
    for (Engine& engine : engines_) asked_.push_back(&engine);
    std::ranges::stable_sort(asked_, {}, [](const Engine* engine) {
      return std::pair(engine->ways.in && engine->ways.out, engine->ways.out);
    });
  }

  /// The first engine that is asked for a way: copies of the two ways wait together if it is the same.
  int serving(bool in) const {
    const auto first = std::ranges::find_if(asked_, [&](const Engine* engine) { return engine->ways.serves(in); });
    return static_cast<int>(first - asked_.begin());
  }
  /// Before the run: how long a copy takes, without its latency.
  void add(std::size_t operation, double seconds) { copy_time_[operation] = ticks(seconds); }

  /// A copy waits for an engine from now on. Engines go through `turns` in order, and first issued first in one turn.
  void offer(std::size_t operation, std::size_t turn) { waiting(operation).insert({turn, operation}); }
  /// Free engines take what waits, those of one way first; `taken` is called with each copy, and may offer more.
  void start(const std::function<void(std::size_t operation)>& taken) {
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
  /// Foretells the end of each copy whose rate has changed.
  void set_rates() {
    if (!std::exchange(rates_changed_, false)) return;
    int ins = 0;
    int outs = 0;
    for (const Engine& engine : engines_) {
      if (engine.moving) ++(in(*engine.operation) ? ins : outs);
    }
    const DeviceProfile& device = run_.device;
    const double slow_in = ins * (outs > 0 ? device.alone.in / device.both.in : 1);
    const double slow_out = outs * (ins > 0 ? device.alone.out / device.both.out : 1);
    for (Engine& engine : engines_) {
      if (!engine.moving) continue;
      const double slowdown = in(*engine.operation) ? slow_in : slow_out;
      if (slowdown == engine.slowdown) continue;
      if (engine.slowdown > 0) engine.left -= static_cast<double>(run_.now - engine.since) / engine.slowdown;
      engine.left = std::max(0.0, engine.left);
      engine.since = run_.now;
      engine.slowdown = slowdown;
      foretell(engine, What::copy_ends, run_.now + std::llround(engine.left * slowdown));
    }
  }
  /// Bytes that flow, or a copy that ends: then that copy, unless it was predicted when the other way was as it is no
  /// longer.
  std::optional<std::size_t> happen(const Happening& happening) {
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
  /// Whether bytes flow to the device.
  bool copying_in() const {
    return std::ranges::any_of(engines_, [&](const Engine& engine) { return engine.moving && in(*engine.operation); });
  }
  /// Seconds for which a copy has its engine before the first byte.
  Ticks latency(std::size_t operation, const EachWay& latencies) const {
    return ticks(in(operation) ? latencies.in : latencies.out);
  }

 private:
  struct Engine {
    CopyEngine ways;
    std::optional<std::size_t> operation{};  ///< that it copies
    bool moving = false;                     ///< past the latency
    Ticks taken = 0;                         ///< when that copy got it
    Ticks latest = 0;                        ///< when its bytes flow if nothing shortens its latency
    double left = 0;                         ///< ticks of the copy, at the rate that one way has alone
    double slowdown = 0;                     ///< how many times longer it takes now; 0: not known yet
    Ticks since = 0;                         ///< when `left` was right
    std::uint32_t version = 0;               ///< of its predicted event, which may change
    std::optional<std::size_t> last{};       ///< that it copied before
    Ticks last_end = 0;
    std::size_t turn = 0;  ///< of the copy that it took last
  };
  struct Offer {
    std::size_t turn = 0;
    std::size_t operation = 0;
    friend auto operator<=>(const Offer&, const Offer&) = default;
  };

  bool in(std::size_t operation) const { return copies_in(run_.operation(operation)); }
  std::set<Offer>& waiting(std::size_t operation) { return waiting_[in(operation) ? 0 : 1]; }
  /// Returns the first copy from the engine's turn on, among those that wait and that it serves. An engine that has
  /// copied nothing yet begins with the first issued.
  std::optional<Offer> next_of(const Engine& engine) const {
    const auto rank = [&](const Offer& offer) {
      return engine.last ? std::tuple(offer.turn < engine.turn, offer.turn, offer.operation)
                         : std::tuple(false, std::size_t{0}, offer.operation);
    };
    std::optional<Offer> next;
    for (const bool way : {true, false}) {
      const std::set<Offer>& waiting = waiting_[way ? 0 : 1];
      if (waiting.empty() || !engine.ways.serves(way)) continue;
      auto first = engine.last ? waiting.lower_bound({engine.turn, 0}) : std::ranges::min_element(waiting, {}, rank);
      if (first == waiting.end()) first = waiting.begin();
      if (!next || rank(*first) < rank(*next)) next = *first;
    }
    return next;
  }
  /// Whether an engine copies the other way.
  bool opposite(const Engine& engine, std::size_t operation) const {
    return engine.operation && in(*engine.operation) != in(operation);
  }
  /// Whether an engine has a copy the other way that has not begun to flow.
  bool waits_beside(const Engine& engine, std::size_t operation) const {
    return !engine.moving && opposite(engine, operation);
  }
  void foretell(Engine& engine, What what, Ticks at) {
    run_.happenings.push({.at = at,
                          .operation = *engine.operation,
                          .what = what,
                          .engine = static_cast<int>(&engine - engines_.data()),
                          .version = ++engine.version});
  }
  void take(std::size_t operation, Engine& engine) {
    const Progress& progress = run_.progress[operation];
    streams::Span& span = run_.span(operation);
    span.when.start = seconds(run_.now);
    const bool exists = !run_.device.copy_engines.empty();
    if (exists) run_.result.copy_engine[progress.span] = static_cast<int>(&engine - engines_.data());
    if (progress.held_by && progress.ready < run_.now) {
      span.held = {seconds(run_.now), streams::Idle::launches, progress.held_by};
    }
    const bool other_way = engine.last && in(*engine.last) != in(operation);
    if (exists && other_way && engine.last_end == run_.now && progress.ready < run_.now) {
      span.held = {seconds(run_.now), streams::Idle::other_way, engine.last};
    }
    engine.operation = operation;
    engine.left = static_cast<double>(copy_time_[operation]);
    engine.slowdown = 0;
    engine.taken = run_.now;
    begin_beside(operation, engine);
  }
  /// While bytes flow the other way a copy begins late; as they cease it begins with the next one there, and from then
  /// on both may stay in step, as they do on an H200 where copies are of about 1 MiB.
  void begin_beside(std::size_t operation, Engine& engine) {
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

  ModelRun& run_;
  std::vector<Engine> engines_;
  std::vector<Engine*> asked_;              ///< the engines, in the order in which they take copies
  std::array<std::set<Offer>, 2> waiting_;  ///< copies in, and copies out
  std::vector<Ticks> copy_time_;            ///< by operation
  bool rates_changed_ = false;
};

}  // namespace scanlab::simulator
