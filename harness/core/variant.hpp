// A variant is a scan that describes itself, plans its workspace, and runs on one or more machines. Baselines
// keep the same contract. No CUDA here: a stream is an opaque handle.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/ceil.hpp"
#include "harness/core/element.hpp"
#include "harness/core/registry.hpp"

namespace scanlab {

namespace simt {
class Executor;
}

/// Values of a variant's own parameters (padding, levels a launch, …) by name; what is absent has its default.
using Settings = std::map<std::string, std::string>;

/// A variant, with values of its own parameters.
struct Choice {
  std::string variant;
  Settings settings{};

  /// "look_ahead/tile:36", as in the name of a case.
  std::string label() const;
  friend bool operator==(const Choice&, const Choice&) = default;
  friend auto operator<=>(const Choice&, const Choice&) = default;
};

/// One scan to be done.
struct Problem {
  ElementType type = ElementType::i32;
  Operator op = Operator::plus;
  Mode mode = Mode::inclusive;
  std::int64_t items = 0;
  Settings settings;

  /// Bytes that any scan must move: every item read once and written once.
  std::size_t ideal_bytes() const { return 2 * static_cast<std::size_t>(items) * item_bytes(type, op); }
  friend bool operator==(const Problem&, const Problem&) = default;
};

/// The part of a problem that its input and its oracle depend on: the variant's own settings do not matter to them.
inline Problem bare(Problem problem) {
  problem.settings.clear();
  return problem;
}

/// The needs of a variant for a problem, or the reason of its refusal.
struct Plan {
  std::size_t workspace_bytes = 0;
  /// Longest chain of floating-point additions that one output depends on: the d of the error bound gamma_d * sum|x|.
  std::int64_t chain = 0;
  /// Empty if the variant takes the problem; else one sentence that says why not.
  std::string refusal;
  /// The variant that this one runs in its place, if any.
  std::optional<Choice> choice{};

  bool possible() const { return refusal.empty(); }
  static Plan refuse(std::string why) { return {.refusal = std::move(why)}; }
};

enum class Kind {
  scan,          ///< writes the prefix scan of its input
  copy,          ///< copies its input: of many items, no scan is faster
  barrier_copy,  ///< likewise, with a grid-wide barrier between reading and writing: a reference for scans in one wave
  read,          ///< reads its input and writes next to nothing: of many items, no reduction is faster
  empty_launch,  ///< does nothing: no launch can be faster
};
constexpr const char* name(Kind kind) {
  return kind == Kind::scan           ? "scan"
         : kind == Kind::copy         ? "copy"
         : kind == Kind::barrier_copy ? "barrier_copy"
         : kind == Kind::read         ? "read"
                                      : "empty_launch";
}
/// Whether the output is the input.
constexpr bool copies(Kind kind) { return kind == Kind::copy || kind == Kind::barrier_copy; }

/// Whether it has an output of as many items as its input, which can be compared.
constexpr bool writes(Kind kind) { return kind != Kind::read && kind != Kind::empty_launch; }

enum class Origin { variant, baseline };

/// A parameter of a variant that the command line can set.
struct Parameter {
  std::string name;
  std::vector<std::string> values;  ///< every value it takes; the first is the default
  std::string meaning;
  /// A value, among `values` or not, by which a few thousand items are many tiles or many launches, so that a check of
  /// them goes round every loop several times. Nobody times it. Empty: all values do as well.
  std::string small{};
  /// Whether its other values are there to see what an idea is worth: `tune` tries none of them.
  bool experiment = false;

  bool takes(const std::string& value) const;
};

/// Closed forms of a variant's cost, as text for people and as numbers for `explain` and the tests.
struct Cost {
  std::string work;     ///< applications of the operator, e.g. "2(n - 1)"
  std::string span;     ///< longest chain of dependent steps
  std::string traffic;  ///< device memory accesses in items, e.g. "4n"
  std::function<std::optional<std::int64_t>(const Problem&)> operations;  ///< nullopt: no closed form for this n
  std::function<std::optional<std::int64_t>(const Problem&)> swaps;
};

/// The description that a variant gives of itself.
struct Description {
  std::string id;
  std::string title;
  std::string source;
  std::string family{};    ///< the algorithm or the vendor: what figures group and colour by
  std::string label{};     ///< what legends and tables call it; empty: its id
  std::string unpadded{};  ///< of one that pads shared memory: the id of what it is without; of others empty
  bool overview = true;  ///< whether a figure of all has it; false: that shows another of its family, which is its like
  Kind kind = Kind::scan;
  std::vector<ElementType> types{};   ///< filled in from what the scan is compiled for
  std::vector<Operator> operators{};  ///< likewise
  std::vector<Parameter> parameters{};
  /// The settings of a tunable rival that are compiled in for a type and operator. Empty: it is not tuned.
  std::function<std::vector<Settings>(ElementType, Operator)> shapes{};
  Mode natural_mode = Mode::inclusive;  ///< what the algorithm gives with no extra work: the default of `explain`
  std::string limits = "any n";         ///< which n it takes, in words
  bool in_place = false;                ///< whether the output may be the very array that is scanned
  bool fixed_bits = true;               ///< whether floating-point results are the same bits on every run of one n
  Cost cost{};
};

/// Memory of one run. Pointers are of the machine that runs: device pointers for CUDA, host pointers elsewhere. `in`
/// and `out` are aligned to their item and to no more: a user may scan from the second element of an array.
struct Buffers {
  const void* in = nullptr;  ///< items * item_bytes
  void* out = nullptr;  ///< items * item_bytes; does not overlap `in`, unless the scan works in place and it is `in`
  void* workspace = nullptr;  ///< Plan::workspace_bytes, aligned to 256 bytes; prepared, or contents undefined
};

using StreamHandle = void*;  ///< a cudaStream_t

/// Where the warps of a role spent their cycles in one run, summed over them.
struct RoleCycles {
  std::string role;
  double total = 0;
  std::map<std::string, double> waiting{};  ///< part of the total, by what they waited for
};

/// A variant bound to one problem. `cuda` only enqueues on the stream: it allocates nothing and never synchronises,
/// and can be captured in a graph. A machine that the variant cannot run on has an empty function.
///
/// A variant may ask that its workspace be prepared: once, before the first of any number of runs on it, and anew when
/// it was used for anything else. A run leaves the workspace ready for the next, so that a captured run can be
/// replayed.
struct BoundScan {
  Plan plan;
  std::function<void(void* workspace, StreamHandle)> prepare_cuda;     ///< empty: needs no preparation; only enqueues
  std::function<void(void* workspace, simt::Executor&)> prepare_simt;  ///< likewise
  std::function<void(const Buffers&, StreamHandle)> cuda;
  std::function<void(const Buffers&, simt::Executor&)> simt;
  std::function<void(const Buffers&)> host;
  /// As `cuda`, in an instrumented form; waits for its end. Empty: the scan has none.
  std::function<std::vector<RoleCycles>(const Buffers&, StreamHandle)> cuda_watch;
};

/// The machines a variant can run on in this build.
struct Machines {
  bool cuda = false;
  bool simt = false;
  bool host = false;
};

struct Variant {
  static constexpr const char* kNoun = "variant";

  Description about;
  Machines machines;
  Origin origin = Origin::variant;
  /// Parses the settings once, so that a timed run costs no host work beyond its launches.
  std::function<BoundScan(const Problem&)> bind;
};

/// A variant on a problem.
struct Case {
  const Variant* variant = nullptr;
  Problem problem;
};

/// Every registered variant and baseline.
using Registry = RegistryOf<Variant>;

/// Static object that registers a variant before main: the last line of a variant's file.
struct Registration {
  explicit Registration(Variant variant) { Registry::instance().add(std::move(variant)); }
};

/// The value of a parameter: what the settings say, else its default.
std::string setting(const Description& about, const Settings& settings, const std::string& parameter);

/// The settings of a variant's small values; none if it has none.
Settings small_settings(const Description& about);

/// Empty if `problem` names only types, operators and settings that the variant has; else the reason it does not.
std::string unsupported(const Description& about, const Problem& problem);

/// `scan/variant:ID/type:T/op:O/mode:M/items:N` and a `/parameter:value` for every setting that is not the default.
std::string case_name(const Description& about, const Problem& problem);

}  // namespace scanlab
