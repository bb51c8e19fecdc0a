// A variant is a scan that describes itself, plans its workspace, and runs on one or more backends. Baselines
// satisfy the same contract. This header needs no CUDA: a stream is an opaque handle.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/core/ceil.hpp"
#include "harness/core/element.hpp"
#include "harness/core/registry.hpp"
#include "harness/core/segments.hpp"

namespace scanlab {

namespace simt {
class Emulator;
}

/// Values of a variant's own parameters (padding, levels per launch, …) by name; absent ones take their defaults.
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

/// The function that a variant computes. Variants of one primitive are compared with each other.
enum class Primitive {
  scan,               ///< one scan of the whole array
  block_scan,         ///< a scan of each row, whose items a thread block holds in its registers
  warp_scan,          ///< a scan of each row, whose items a warp holds in its registers
  scan_axis,          ///< scans along the middle axis of a tensor (rows, axis, inner)
  scan_by_key,        ///< scans of the runs of equal keys
  segmented_scan,     ///< scans of segments that begin at given offsets
  select,             ///< the items that flags keep, one behind the other, and their number
  partition,          ///< as select; the other items follow, in reverse order
  reduce_by_key,      ///< the fold of each run of equal keys, its key, and the number of runs
  run_length_encode,  ///< the length of each run of equal keys, its key, and the number of runs
  unique,             ///< the key of each run of equal ones, and the number of runs
};
inline constexpr std::array kPrimitiveNames{
    std::pair{Primitive::scan, std::string_view("scan")},
    std::pair{Primitive::block_scan, std::string_view("block_scan")},
    std::pair{Primitive::warp_scan, std::string_view("warp_scan")},
    std::pair{Primitive::scan_axis, std::string_view("scan_axis")},
    std::pair{Primitive::scan_by_key, std::string_view("scan_by_key")},
    std::pair{Primitive::segmented_scan, std::string_view("segmented_scan")},
    std::pair{Primitive::select, std::string_view("select")},
    std::pair{Primitive::partition, std::string_view("partition")},
    std::pair{Primitive::reduce_by_key, std::string_view("reduce_by_key")},
    std::pair{Primitive::run_length_encode, std::string_view("run_length_encode")},
    std::pair{Primitive::unique, std::string_view("unique")}};
constexpr std::string_view name(Primitive primitive) {
  return kPrimitiveNames[static_cast<std::size_t>(primitive)].second;
}
/// The array that a primitive reads besides its items.
constexpr SegmentsBy segments_by(Primitive primitive) {
  return primitive == Primitive::scan_by_key         ? SegmentsBy::keys
         : primitive == Primitive::segmented_scan    ? SegmentsBy::offsets
         : primitive == Primitive::select            ? SegmentsBy::flags
         : primitive == Primitive::partition         ? SegmentsBy::partition
         : primitive == Primitive::reduce_by_key     ? SegmentsBy::runs
         : primitive == Primitive::run_length_encode ? SegmentsBy::lengths
         : primitive == Primitive::unique            ? SegmentsBy::unique
                                                     : SegmentsBy::none;
}
/// Whether there is a result for each item, so that it can be inclusive or exclusive; else they are counted.
constexpr bool has_mode(SegmentsBy by) { return !have_flags(by) && !fold_runs(by); }
/// Whether a primitive scans many rows, and whether the items of a row may lie apart.
constexpr bool has_rows(Primitive primitive) {
  return primitive != Primitive::scan && segments_by(primitive) == SegmentsBy::none;
}
constexpr bool has_inner(Primitive primitive) { return primitive == Primitive::scan_axis; }
/// Whether it reads an array from device memory and writes another, in both modes, however long.
constexpr bool scans_arrays(Primitive primitive) {
  return primitive != Primitive::block_scan && primitive != Primitive::warp_scan;
}

/// The scan that is asked for.
struct Problem {
  ElementType type = ElementType::i32;
  Operator op = Operator::plus;
  Mode mode = Mode::inclusive;
  std::int64_t items = 0;  ///< in all: rows * axis() * inner
  Settings settings;
  std::int64_t rows = 1;   ///< of equal length, one behind the other, each scanned alone
  std::int64_t inner = 1;  ///< items from one to the next of the axis that is scanned
  Segments segments{};     ///< of the array, each scanned alone

  /// Items that are scanned together.
  std::int64_t axis() const { return items / (rows * inner); }
  /// Bytes of the items.
  std::size_t array_bytes() const { return static_cast<std::size_t>(items) * item_bytes(type, op); }
  /// Items that flags keep, or runs: of a problem that has them.
  std::int64_t counted() const { return have_flags(segments.by) ? segments.kept_of(items) : segments.runs_of(items); }
  /// Items of the output: one an item, a kept item, or a run; none if the keys of runs are all that is wanted.
  std::int64_t results() const {
    if (segments.by == SegmentsBy::unique) return 0;
    return segments.by == SegmentsBy::flags || fold_runs(segments.by) ? counted() : items;
  }
  /// Bytes of the keys of the runs that are folded; 0 for other primitives.
  std::size_t unique_bytes() const {
    return fold_runs(segments.by) ? static_cast<std::size_t>(counted() * segments.width) : 0;
  }
  /// Bytes that must be moved: every item, key, offset or flag read once, every result written once, with its key.
  std::size_t ideal_bytes() const {
    const std::size_t read = read_items(segments.by) ? array_bytes() : 0;
    return read + segments.array_bytes(items) + static_cast<std::size_t>(results()) * item_bytes(type, op) +
           unique_bytes();
  }
  friend bool operator==(const Problem&, const Problem&) = default;
};

/// Adds the fields of a problem's segments to an entry of results, if it has segments.
template <class Json>
void add_segments(const Problem& problem, Json& entry) {
  const Segments& segments = problem.segments;
  if (segments.by == SegmentsBy::none) return;
  if (have_flags(segments.by)) {
    entry["kept"] = segments.kept;
    return;
  }
  entry["segment"] = segments.mean;
  entry["lengths"] = name(segments.lengths);
  entry["width"] = segments.width;
}

/// Returns the problem without the variant's settings, on which neither the input nor the oracle depends.
inline Problem bare(Problem problem) {
  problem.settings.clear();
  return problem;
}

/// The workspace and the error bound of a variant for a problem, or the reason why it refuses the problem.
struct Plan {
  std::size_t workspace_bytes = 0;
  /// Longest chain of floating-point additions that one output depends on: the d of the error bound gamma_d * sum|x|.
  std::int64_t chain = 0;
  /// Empty if the variant accepts the problem; otherwise the reason, in one sentence.
  std::string refusal;
  /// The variant that this one runs in its place, if any.
  std::optional<Choice> choice{};

  bool possible() const { return refusal.empty(); }
  static Plan refuse(std::string reason) { return {.refusal = std::move(reason)}; }
};

enum class Kind {
  scan,          ///< writes the prefix scan of its input
  copy,          ///< copies its input: for many items, no scan is faster
  barrier_copy,  ///< a copy with a grid-wide barrier between reading and writing: a reference for scans in one wave
  read,          ///< reads its input and writes next to nothing: for many items, no reduction is faster
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

/// Whether the output has as many items as the input, and so can be compared.
constexpr bool writes(Kind kind) { return kind != Kind::read && kind != Kind::empty_launch; }

enum class Origin { variant, baseline };

/// A parameter of a variant that the command line can set.
struct Parameter {
  std::string name;
  std::vector<std::string> values;  ///< every value it takes; the first is the default
  std::string meaning;
  /// A value, in `values` or not, that splits a few thousand items into many tiles or launches, so that verification
  /// runs every loop several times. It is never timed. Empty: any value does so.
  std::string small{};
  /// Whether its other values serve ablation experiments only: `tune` tries none of them.
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

/// The shape of a tensor whose axis is scanned, or the segments of an array.
struct Shape {
  std::int64_t axis;
  std::int64_t rows = 1;
  std::int64_t inner = 1;
  Segments segments{};
  friend auto operator<=>(const Shape&, const Shape&) = default;
};

/// A shape in which a variant is verified.
struct CheckedShape {
  Shape shape;
  Settings settings{};
};

/// The description that a variant gives of itself.
struct Description {
  std::string id;
  std::string title;
  std::string source;
  std::string family{};    ///< the algorithm or the vendor; figures group and colour by it
  std::string label{};     ///< its name in legends and tables; empty: its id
  std::string unpadded{};  ///< for a variant that pads shared memory: the id of its unpadded form; otherwise empty
  Primitive primitive = Primitive::scan;
  bool overview = true;  ///< whether overview figures show it; false: a similar variant of its family stands for it
  Kind kind = Kind::scan;
  std::vector<ElementType> types{};                         ///< filled in from what the scan is compiled for
  std::vector<Operator> operators{};                        ///< filled in as `types` is
  std::vector<std::pair<ElementType, Operator>> monoids{};  ///< likewise, where not all types have all operators
  std::vector<Parameter> parameters{};
  /// The settings of a tunable rival that are compiled in for a type and operator. Empty: it is not tuned.
  std::function<std::vector<Settings>(ElementType, Operator)> shapes{};
  Mode natural_mode = Mode::inclusive;  ///< the mode that costs no extra work; the default of `explain`
  std::string limits = "any n";         ///< the supported n, in words
  /// What `verify` tries by default. Empty: the sizes where scans of arrays break.
  std::vector<CheckedShape> checked{};
  bool in_place = false;             ///< whether the output may be the input array
  bool bitwise_reproducible = true;  ///< of floating-point results
  bool waits_on_host = false;        ///< a run returns when it is complete: launched from a stream only
  Cost cost{};
};

/// Memory of one run. Pointers belong to the backend: device pointers for CUDA, host pointers elsewhere. `in`
/// and `out` are aligned to their item only: a user may scan from the second element of an array.
struct Buffers {
  const void* in = nullptr;  ///< items * item_bytes
  void* out = nullptr;  ///< items * item_bytes; does not overlap `in`, unless the scan works in place and it is `in`
  void* workspace = nullptr;       ///< Plan::workspace_bytes, aligned to 256 bytes; prepared, or contents undefined
  const void* entries = nullptr;   ///< keys, offsets or flags, as the problem's segments say
  std::uint64_t* count = nullptr;  ///< where the number of results is written, if there is not one an item
  void* unique = nullptr;          ///< unique_bytes(): the key of each run
};

using StreamHandle = void*;  ///< a cudaStream_t

/// The cycles of the warps of one role in one run, summed over these warps.
struct RoleCycles {
  std::string role;
  double total = 0;
  std::map<std::string, double> waiting{};  ///< part of the total, by what they waited for
};

/// When the tiles of a run come to the points of a scan, in nanoseconds since the first one does: by point, in the
/// order of a tile's work; rising, so that the i-th is the time of the i-th tile that comes there.
using TileTimes = std::vector<std::pair<std::string, std::vector<double>>>;

/// A variant bound to one problem. `cuda` only enqueues on the stream: it allocates nothing, and unless the variant
/// waits_on_host, it never synchronises, and can be captured in a graph. The function of a backend that the variant
/// lacks is empty.
///
/// A variant may require a prepared workspace: it is prepared once, before the first of any number of runs, and again
/// after any other use of that memory. A run leaves the workspace ready for the next one, so that a captured run can
/// be replayed.
struct BoundScan {
  Plan plan;
  std::function<void(void* workspace, StreamHandle)> prepare_cuda;     ///< empty: needs no preparation; only enqueues
  std::function<void(void* workspace, simt::Emulator&)> prepare_simt;  ///< as `prepare_cuda`
  std::function<void(const Buffers&, StreamHandle)> cuda;
  std::function<void(const Buffers&, simt::Emulator&)> simt;
  std::function<void(const Buffers&)> host;
  /// Like `cuda`, but instrumented, and waits for completion. Empty: the scan has no such form.
  std::function<std::vector<RoleCycles>(const Buffers&, StreamHandle)> cuda_watch;
  /// Like `cuda`, and writes when each tile comes to each cuda::Point, by the device's clock. Returns the number of
  /// tiles, kMaxWatchedTiles at most, or 0: more have no timeline. Empty: the scan has no such form.
  std::function<int(const Buffers&, void* ns, StreamHandle)> cuda_timeline;
};

/// The backends that a variant supports in this build.
struct SupportedBackends {
  bool cuda = false;
  bool simt = false;
  bool host = false;
};

struct Variant {
  static constexpr const char* kNoun = "variant";

  Description about;
  SupportedBackends backends;
  Origin origin = Origin::variant;
  /// Parses the settings once, so that a timed run costs no host work beyond its launches.
  std::function<BoundScan(const Problem&)> bind;

  /// Adds the types and operators of `other`, the same scan in an object that is compiled for other operators. Returns
  /// false, and changes nothing, if both have the same operator, or one has none.
  bool join(Variant other);
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

/// Returns the value of a parameter from the settings, or else its default.
std::string setting(const Description& about, const Settings& settings, const std::string& parameter);

/// Returns the settings with the variant's small values; empty if it has none.
Settings small_settings(const Description& about);

/// Returns why the variant does not support the type, operator or settings of `problem`; empty if it does.
std::string unsupported(const Description& about, const Problem& problem);

/// `PRIMITIVE/variant:ID/type:T/op:O/mode:M/items:N`, with the items of the axis; `/rows:R` and `/inner:I` if there are
/// several; `/segment:M`, `/lengths:L` and `/width:B` for segments; and a `/parameter:value` for every setting that is
/// not the default.
std::string case_name(const Description& about, const Problem& problem);

}  // namespace scanlab
