// The copy engines of the engine model: which copy each takes next, when its bytes begin to flow, and how fast.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "harness/simulator/model_run.hpp"

namespace scanlab::simulator {

class CopyEngines {
 public:
  /// `run` outlives it.
  explicit CopyEngines(ModelRun& run);

  bool none() const { return engines_.empty(); }
  /// The first engine that is asked for a way: copies of the two ways wait together if it is the same.
  int serving(bool in) const;
  /// Before the run: how long a copy takes, without its latency.
  void add(std::size_t operation, double seconds) { copy_time_[operation] = ticks(seconds); }
  Ticks copy_time(std::size_t operation) const { return copy_time_[operation]; }

  /// A copy waits for an engine from now on. Engines go through `turns` in order, and first issued first in one turn.
  void offer(std::size_t operation, std::size_t turn) { waiting(operation).insert({turn, operation}); }
  /// Free engines take what waits, those of one way first; `taken` is told of each copy, and may offer more.
  void start(const std::function<void(std::size_t operation)>& taken);
  /// Foretells the end of each copy whose rate has changed.
  void set_rates();
  /// Bytes that flow, or a copy that ends: then that copy, unless it was foretold when the other way was as it is no
  /// longer.
  std::optional<std::size_t> happen(const Happening& happening);
  /// Whether bytes flow to the device.
  bool copying_in() const;
  /// Seconds for which a copy has its engine before the first byte.
  Ticks latency(std::size_t operation, const EachWay& of) const {
    return ticks(copies_in(run_.operation(operation)) ? of.in : of.out);
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
    std::uint32_t version = 0;               ///< of what is foretold of it, more than once
    std::optional<std::size_t> last{};       ///< that it copied before
    Ticks last_end = 0;
    std::size_t turn = 0;  ///< of the copy that it took last
  };
  struct Offer {
    std::size_t turn = 0;
    std::size_t operation = 0;
    friend auto operator<=>(const Offer&, const Offer&) = default;
  };

  std::set<Offer>& waiting(std::size_t operation) { return waiting_[copies_in(run_.operation(operation)) ? 0 : 1]; }
  std::optional<Offer> next_of(const Engine& engine) const;
  bool opposite(const Engine& engine, std::size_t operation) const;
  bool waits_beside(const Engine& engine, std::size_t operation) const;
  void foretell(Engine& engine, What what, Ticks at);
  void take(std::size_t operation, Engine& engine);
  void begin_beside(std::size_t operation, Engine& engine);

  ModelRun& run_;
  std::vector<Engine> engines_;
  std::vector<Engine*> asked_;              ///< the engines, in the order in which they take copies
  std::array<std::set<Offer>, 2> waiting_;  ///< copies in, and copies out
  std::vector<Ticks> copy_time_;            ///< by operation
  bool rates_changed_ = false;
};

}  // namespace scanlab::simulator
