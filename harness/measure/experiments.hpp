// data/experiments.toml as it was when the program was built: it has the named sweeps.
#pragma once

#include "experiments_file.hpp"
#include "harness/host/document.hpp"
#include "harness/selection/words.hpp"

namespace scanlab::measure {

inline Value experiments() {
  static const Document document = parse_toml(kExperimentFiles.front().second, "data/experiments.toml");
  return document;
}

/// Reads a part of a sweep: words by option, as on the command line.
inline OptionWords read_option_words(const Value& part) {
  OptionWords words;
  for (const std::string& option : part.keys()) words[option] = {part.at(option).text()};
  return words;
}

}  // namespace scanlab::measure
