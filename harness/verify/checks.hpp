// Checks of many cases: which sizes, inputs and aliasings are worth trying, and the loop over them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/host/append_file.hpp"
#include "harness/verify/verification.hpp"

namespace scanlab::verify {

/// Where variants are checked.
class Checker {
 public:
  virtual ~Checker() = default;
  /// Else on the SIMT emulator.
  virtual bool on_gpu() const = 0;
  /// Whether `variant` can be checked here; host code can be checked anywhere.
  virtual bool takes(const Variant& variant) const = 0;
  /// The oracle of the checks that follow; it outlives them.
  virtual void expect(const Oracle& oracle) = 0;
  virtual Outcome check(const Variant& variant, const Problem& problem, Aliasing aliasing) = 0;
  /// `runs` runs on one input; `different` becomes the number of different outputs.
  virtual Outcome repeat(const Variant& variant, const Problem& problem, int runs, int& different) = 0;
};

std::unique_ptr<Checker> cpu_checker(const simt::EmulatorOptions& options);
/// In a build with CUDA. check() and repeat() throw DeviceLost.
std::unique_ptr<Checker> cuda_checker();

/// Sizes where scans break, and random ones.
std::vector<std::int64_t> default_items(bool on_gpu, bool quick, std::uint64_t seed);

/// Appends to each type, operator and mode one case per variant that has small tiles, of so many items that there are
/// many tiles.
std::vector<Case> with_small(const std::vector<Case>& cases);

/// A case for each variant, of more items than two levels of blocks of 1024 scan.
std::vector<Case> past_two_levels(const std::vector<Case>& cases);

/// How each case is checked.
struct CheckRequest {
  std::vector<InputKind> kinds{};  ///< empty: chosen by n
  /// Empty: those that the variant supports, with random input, and on the emulator of few items; else apart.
  std::vector<Aliasing> aliasings{Aliasing::apart};
  int repeat = 0;  ///< runs of each case whose results round; 0: none
  std::uint64_t seed = 1;
  bool quick = false;
};

/// The outcome of one case.
struct Check {
  Case tested_case;
  std::optional<InputKind> input;    ///< none: skipped, whatever the input
  std::optional<Aliasing> aliasing;  ///< likewise
  int runs = 0;                      ///< on one input, compared bit by bit; 0: verified
  int different = 0;                 ///< outputs of these runs
  Outcome outcome;
};

/// Checks every case and reports each check, until Ctrl-C; cases of one problem must be neighbours. Throws DeviceLost.
void check_all(Checker& checker, const std::vector<Case>& cases, const CheckRequest& request,
               const std::function<void(const Check&)>& report);

/// A line of the results file.
nlohmann::ordered_json to_json(const Check& check);
/// The fields that every line has.
nlohmann::ordered_json to_json(const Description& about, const Problem& problem, std::optional<InputKind> input,
                               std::optional<Aliasing> aliasing, const Outcome& outcome);

/// The results file: lines of JSON behind the context of all.
class ChecksFile : public AppendFile {
 public:
  ChecksFile(const std::string& path, bool replace, const nlohmann::ordered_json& context);
  void add(const nlohmann::ordered_json& line);
};

}  // namespace scanlab::verify
