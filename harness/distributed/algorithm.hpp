// A distributed scan: it says which items each rank holds, and each rank binds it to a problem and runs it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/core/scan_variant.hpp"
#include "harness/core/variant.hpp"
#include "harness/distributed/communicator.hpp"
#include "harness/distributed/distribution.hpp"

namespace scanlab::distributed {

/// The needs of a scan for a problem over so many ranks, or why it cannot take it. problem.items is of the whole array.
struct Plan {
  Distribution distribution{};
  std::int64_t chain = 0;  ///< as scanlab::Plan has it
  std::string refusal{};

  bool possible() const { return refusal.empty(); }
  /// The array in one block per rank.
  static Plan of_blocks(const Problem& problem, int ranks) {
    return {.distribution = Distribution::blocks(problem.items, ranks)};
  }
  static Plan refuse(std::string reason) { return {.refusal = std::move(reason)}; }
};

/// One rank of a scan, bound to a problem. All ranks destroy theirs in one order.
class BoundRank {
 public:
  virtual ~BoundRank() = default;
  /// Collective, once, before the first run: ranks exchange addresses. Throws on all ranks, or on none.
  virtual void connect(Communicator&) {}
  /// Runs what waits for no other rank, and loads the other kernels: what a first launch loads may wait for the device,
  /// and a kernel there for another rank (cuda::load). Before connect; only enqueues.
  virtual void rehearse(const void*, void*, StreamHandle) {}
  /// One run. in, out: what the rank holds, aligned to 256 bytes. On a GPU it only enqueues. All ranks run as often and
  /// in the same order; a rank may begin a run while another is at the one before.
  virtual void run(const void* in, void* out, StreamHandle stream) = 0;
  /// Every run from now on is of an instrumented form, that says where the cycles of its warps go; false: there is
  /// none. While no rank runs, since it loads a kernel.
  virtual bool begin_watching() { return false; }
  /// Cycles of the latest run that was watched and has ended.
  virtual std::vector<RoleCycles> cycles() { return {}; }
  /// While a run waits in vain: whom it waits for, in a clause; empty if that is not known. `stream` is another than
  /// the run's. For the last sentence of a program.
  virtual std::string waits_for(StreamHandle) { return {}; }
};

struct Algorithm {
  static constexpr const char* kNoun = "distributed scan";

  Description about;
  Origin origin = Origin::variant;
  bool on_gpus = false;  ///< else in the hosts' memory
  bool waits = false;    ///< for the device within each run, which then cannot be captured in a graph
  std::function<Plan(const Problem&, int ranks)> plan;
  /// On one rank, with its plan, which is possible: it allocates, and may lack memory that the other ranks have.
  std::function<std::unique_ptr<BoundRank>(const Problem&, const Plan&, int rank)> bind;
};

using Algorithms = RegistryOf<Algorithm>;

/// Static object that registers an algorithm before main: the last line of its file.
struct AlgorithmRegistration {
  explicit AlgorithmRegistration(Algorithm algorithm) { Algorithms::instance().add(std::move(algorithm)); }
};

/// An Algorithm of a class
///   struct MyScan {
///     static Description describe();
///     static Plan plan(const Problem&, int ranks);
///     template <class Op> static constexpr bool kTakes = …;   // the types and operators that it is compiled for
///     static constexpr bool kWaits = true;                    // for the device within each run; may be left out
///     template <class Op>
///     struct Rank {
///       Rank(const Problem&, const Plan&, int rank);          // of this rank alone
///       void connect(Communicator&);                          // collective; may be left out
///       void rehearse(const Op::Item* in, Op::Item* out, StreamHandle);  // may be left out
///       void run(const Op::Item* in, Op::Item* out, StreamHandle);
///       void begin_watching();                                // may be left out, and so may cycles
///       std::vector<RoleCycles> cycles() const;
///       std::string waits_for(StreamHandle);                  // may be left out
///     };
///   };
template <class Scan>
Algorithm algorithm(bool on_gpus, Origin origin = Origin::variant) {
  Algorithm made;
  made.about = Scan::describe();
  describe_monoids<Scan>(made.about);
  made.origin = origin;
  made.on_gpus = on_gpus;
  if constexpr (requires { Scan::kWaits; }) made.waits = Scan::kWaits;
  made.plan = [about = made.about](Problem problem, int ranks) {
    if (about.kind != Kind::scan) problem.rows = problem.inner = 1;  // a copy is of items in any shape
    if (std::string reason = unsupported(about, problem); !reason.empty()) return Plan::refuse(std::move(reason));
    const bool taken = with_monoid(problem.type, problem.op, []<class Op>(Op) { return takes<Scan, Op>(); });
    if (taken) return Scan::plan(problem, ranks);
    return Plan::refuse(about.id + " takes no " + std::string(name(problem.op)) + " of " +
                        std::string(name(problem.type)));
  };
  made.bind = [](const Problem& problem, const Plan& plan, int rank) {
    return with_monoid(problem.type, problem.op, [&]<class Op>(Op) -> std::unique_ptr<BoundRank> {
      if constexpr (takes<Scan, Op>()) {
        using Rank = typename Scan::template Rank<Op>;
        using Item = typename Op::Item;
        class Bound : public BoundRank {
         public:
          Bound(const Problem& problem, const Plan& plan, int rank) : rank_(problem, plan, rank) {}
          void connect(Communicator& communicator) override {
            if constexpr (requires { rank_.connect(communicator); }) rank_.connect(communicator);
          }
          void rehearse(const void* in, void* out, StreamHandle stream) override {
            if constexpr (requires(const Item* from, Item* to) { rank_.rehearse(from, to, stream); }) {
              rank_.rehearse(static_cast<const Item*>(in), static_cast<Item*>(out), stream);
            }
          }
          void run(const void* in, void* out, StreamHandle stream) override {
            rank_.run(static_cast<const Item*>(in), static_cast<Item*>(out), stream);
          }
          bool begin_watching() override {
            constexpr bool kWatches = requires { rank_.begin_watching(); };
            if constexpr (kWatches) rank_.begin_watching();
            return kWatches;
          }
          std::vector<RoleCycles> cycles() override {
            if constexpr (requires { rank_.cycles(); }) return rank_.cycles();
            return {};
          }
          std::string waits_for(StreamHandle stream) override {
            if constexpr (requires { rank_.waits_for(stream); }) return rank_.waits_for(stream);
            return {};
          }

         private:
          Rank rank_;
        };
        return std::make_unique<Bound>(problem, plan, rank);
      } else {
        throw std::logic_error("a scan is bound to what its plan has refused");
      }
    });
  };
  return made;
}

}  // namespace scanlab::distributed
