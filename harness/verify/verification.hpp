// Verification: inputs, the oracle in wider arithmetic, error bounds, guarded buffers, and the comparison.
//
// Inputs are a pure function of (kind, seed, i, n), computed alike on host and device, so that nothing large travels.
// The oracle of a problem is computed once on the host in wider arithmetic and serves every variant: it holds, for
// each output, the exact value rounded to the type, the residual of that rounding, and the magnitude sum|x_j| that the
// error bound gamma_d * sum|x_j| needs; d is the plan's `chain`. Integers are compared exactly, wrapping as unsigned;
// so are halves, on inputs whose sums are exact. NaN never passes.
//
// A check runs a variant twice: the second run finds the workspace as the first left it, is not prepared again, and
// writes over new poison. State of its own that a run leaves stale is then a fault of the second run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "harness/core/variant.hpp"
#include "harness/simt/emulator.hpp"
#include "harness/verify/input.hpp"

namespace scanlab::verify {

/// Where the input and the output of a run lie: a scan is asked of a user's pointers, not of an allocator's.
enum class Aliasing {
  apart,     ///< two arrays, both aligned as the device allocates them
  shifted,   ///< parts of two arrays, from the second, fourth, sixth item on: aligned to an item and to no more
  in_place,  ///< one array: the output takes the input's place. Only of variants that say they can
};
inline constexpr std::array kAliasings{Aliasing::apart, Aliasing::shifted, Aliasing::in_place};
constexpr std::string_view name(Aliasing aliasing) {
  return std::array{"apart", "shifted", "in_place"}[static_cast<std::size_t>(aliasing)];
}

/// Items of an aligned array before the span that is scanned, and before the span that is written.
struct Shift {
  std::int64_t in = 0;
  std::int64_t out = 0;
};

/// Every shift that an aliasing case is tried with. One aligned array beside one that is not tells a scan that asks one
/// of its pointers only; in place both are one.
std::span<const Shift> shifts(Aliasing aliasing);

/// Begins the message of a fault: which run and which shift, or nothing for the first run of aligned arrays.
std::string run_name(Aliasing aliasing, const Shift& shift, bool second_run);

/// Outcome of one check.
struct Outcome {
  enum class Status { passed, failed, skipped } status = Status::passed;
  std::string message;         ///< failed: what was wrong where; skipped: why
  double error_to_bound = 0;   ///< floats: the largest |error| / bound seen (infinite: NaN); else 0
  bool out_of_memory = false;  ///< skipped for lack of device memory
  bool passed() const { return status == Status::passed; }
  static Outcome failed(std::string reason) { return {.status = Status::failed, .message = std::move(reason)}; }
  static Outcome skipped(std::string reason) { return {.status = Status::skipped, .message = std::move(reason)}; }
};

/// The outputs of a primitive that counts its results, besides these: Buffers::count and Buffers::unique.
struct Counted {
  const std::uint64_t* count = nullptr;
  const void* unique = nullptr;
};

/// The expected outputs of a problem (its settings do not matter) for one input.
class Oracle {
 public:
  /// every: keeps one output of so many, the last of them each time; fewer suffice to tell each tile's prefix, and
  /// large arrays leave no memory for all.
  Oracle(const Problem& problem, InputKind kind, std::uint64_t seed, std::int64_t every = 1);
  const Problem& problem() const { return data_.problem; }

  /// Compares `out` (host memory, problem().results() items) within the bound of `chain` additions.
  /// For Kind::copy the expected output is the input itself.
  Outcome compare(const void* out, std::int64_t chain, Kind kind, const Counted& counted = {}) const;
  /// The same for the places [first, first + count) of the array; `out` points to the first of them.
  Outcome compare_run(const void* out, std::int64_t first, std::int64_t count, std::int64_t chain, Kind kind) const;

  /// A rounded output's exact value is value + residual * u, with u the unit roundoff of its element type (in units of
  /// u, a residual spans the same range as its value, so a float can hold it). For affine maps residual and magnitude
  /// are those of the shift.
  struct Data {
    Problem problem;
    InputKind kind = InputKind::random;
    std::uint64_t seed = 0;
    std::int64_t every = 1;                 ///< output k is that of the place (k + 1) * every - 1
    std::unique_ptr<std::byte[]> values{};  ///< problem.items items
    std::unique_ptr<float[]> residuals{};   ///< problem.items, or null where the comparison is exact
    std::unique_ptr<float[]> magnitudes{};  ///< sum|x_j| rounded up, likewise
  };
  const Data& data() const { return data_; }

 private:
  Data data_;
};

/// Runs `variant` twice on the CPU emulator (or on the host, for CPU baselines) between guarded, poisoned buffers and
/// compares with the oracle. Faults of the emulator fail the check.
Outcome verify_on_cpu(const Variant& variant, const Problem& problem, const Oracle& oracle,
                      const simt::EmulatorOptions& options, Aliasing aliasing = Aliasing::apart);

/// The device no longer answers in this process, as after an illegal address: nothing more can be run on it.
struct DeviceLost : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Why `variant` cannot be checked in this aliasing; empty if it can.
std::string aliasing_refusal(const Variant& variant, Aliasing aliasing);

}  // namespace scanlab::verify
