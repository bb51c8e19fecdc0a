// data/experiments.toml as it was when the program was built: it has the named sweeps.
#pragma once

#include <toml++/toml.h>

#include "experiments_file.hpp"

namespace scanlab::measure {

inline const toml::table& experiments() {
  static const toml::table table = toml::parse(kExperimentFiles.front().second);
  return table;
}

/// The text of a key; empty if the row lacks it.
inline std::string text(const toml::table& row, const char* key) { return row[key].value_or(std::string{}); }

/// Calls `read` with each row of a list of tables.
template <class Read>
void for_each_row(const toml::table& table, const char* key, Read read) {
  for (const toml::node& row : *table[key].as_array()) read(*row.as_table());
}

}  // namespace scanlab::measure
