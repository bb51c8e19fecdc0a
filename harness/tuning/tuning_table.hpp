// Which scan is the fastest for a problem on a device, as measured: what `best` goes by. `scanlab tune` writes it;
// data/tuned/ has a table a device, and the program carries them all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/core/variant.hpp"

namespace scanlab {

/// Whether a scan is a choice among others, and no algorithm of its own.
bool chooses_among_others(std::string_view id);

/// Whether `best` may run it: a scan of ours for the device or the emulator, of all types, and an algorithm of its own.
bool is_candidate(const Variant& variant);

/// A candidate of the registry, bound as a choice asks. Refuses, as a scan does, what this program does not have.
BoundScan bind(const Choice& choice, Problem problem);

struct TuningTable {
  /// From so many items on, up to the next row.
  struct Row {
    std::int64_t from_items = 0;
    Choice choice;
  };
  struct Entry {
    ElementType type = ElementType::i32;
    Operator op = Operator::plus;
    std::vector<Row> rows;  ///< at least one; from_items rises from 0
  };

  std::string device;
  std::string compute_capability;
  int multiprocessors = 0;
  std::vector<std::pair<std::string, std::string>> provenance;  ///< the measurement, its code and date
  std::vector<Entry> entries;

  /// The measured entry, or the nearest: items of the same size, if possible by the same operator. Null if no
  /// items of that size were measured.
  const Entry* nearest(ElementType type, Operator op) const;

  /// The choices to try, best first: a plan may refuse an n that lies between two measured sizes, and the next row's
  /// does not.
  std::vector<Choice> choices(const Problem& problem) const;

  /// The first choice that this program cannot bind, as a sentence; empty if it knows them all.
  std::string unknown_choice() const;
};

/// Reads a table. `name` says in errors which it is. Throws DocumentError.
TuningTable parse_tuning_table(std::string_view text, const std::string& name);
std::string to_text(const TuningTable& table);

/// Reads a table. Throws DocumentError, which names the file.
TuningTable read_tuning_table(const std::string& path, const std::string& name);

/// The tables of data/tuned/ when the program was built.
const std::vector<TuningTable>& built_in_tuning_tables();

/// The environment's variable that names a table.
inline constexpr char kTuningVariable[] = "SCANLAB_TUNING";

/// The table in the file that the environment's SCANLAB_TUNING names, whatever device it is of; else the built-in one
/// of the device; else null. Throws DocumentError if that file is no table.
const TuningTable* tuning_table(std::string_view device, int multiprocessors);

}  // namespace scanlab
