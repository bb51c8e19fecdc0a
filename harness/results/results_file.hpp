// A results file: Google Benchmark's JSON with provenance in its context, and valid JSON whenever it is looked at.
#pragma once

#include <cstdint>
#include <filesystem>

#include "harness/host/append_file.hpp"
#include "harness/results/provenance.hpp"

namespace scanlab::measure {

inline constexpr char kResultsSchema[] = "scanlab-results/2";

/// Each repetition is on disk, and the document closed behind it, before the next one starts: a crash or Ctrl-C loses
/// the repetition in flight and nothing else.
class ResultsFile {
 public:
  /// Creates the file, and folders above it, as AppendFile does; an empty list of repetitions opens it. `provenance`
  /// joins what Google Benchmark says of the host in the context. Throws CommandError (status 2) if that cannot be, or
  /// if the file holds something and is not to be replaced.
  ResultsFile(std::filesystem::path path, const Facts& provenance, bool replace);

  /// Appends one entry. Throws CommandError (status 2) if the disk does not take it; the file then holds what it held
  /// before.
  void append(const Facts& entry);

  const std::filesystem::path& path() const { return file_.path(); }
  std::int64_t entries() const { return entries_; }

 private:
  AppendFile file_;
  std::int64_t entries_ = 0;
};

}  // namespace scanlab::measure
