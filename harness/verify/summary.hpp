// A summary of checks: by type, operator and mode, variant by variant; then counted.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "harness/verify/checks.hpp"

namespace scanlab::verify {

/// Where and how the checks of a summary were made, so that each can be repeated.
struct Checked {
  const Checker& checker;
  const CheckRequest& request;
  std::string flags{};  ///< the words that make the emulator run the same way again, each with a space before it

  const char* backend() const { return checker.on_gpu() ? "cuda" : "simt"; }
};

/// Prints what was found of each type, operator and mode as soon as all of it is there. `checked` and `out` outlive it.
class Summary {
 public:
  Summary(const Checked& checked, std::ostream& out) : checked_(checked), out_(out) {}

  /// Checks of one type, operator and mode come one after another.
  void add(const Check& check);
  void add_lost_device(const DeviceLost& lost);

  /// Prints what is left, the counts, and `file`, which has every check, unless it is empty. Returns a Status; throws
  /// CommandError (status 3) if nothing was checked since one of the variants that were `asked` for has no form for
  /// this backend.
  int conclude(const std::vector<const Variant*>& asked, const std::string& file);

  /// The last line of the results file.
  nlohmann::ordered_json counts() const;

 private:
  /// The outcomes of one variant with one type, operator and mode.
  struct Standing {
    const Variant* variant = nullptr;
    std::size_t passed = 0;
    double worst = 0;  ///< error as a part of its bound
    std::vector<std::string> failures{};
    std::map<std::string, std::vector<std::int64_t>> skips{};  ///< reason to the n's skipped for it
    int repeated = 0;                                          ///< cases that were run many times
    std::vector<std::string> varying{};                        ///< the cases whose bits varied
  };

  std::string again(const Check& check) const;
  void print_group();
  void print(const Standing& each) const;

  const Checked& checked_;
  std::ostream& out_;
  Problem group_;
  std::vector<Standing> standings_;
  int passed_ = 0;
  int failed_ = 0;
  int skipped_ = 0;
  bool out_of_memory_ = false;
};

}  // namespace scanlab::verify
