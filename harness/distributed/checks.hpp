// Checks of distributed scans: at which sizes, and the file that keeps what was found.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/input.hpp"
#include "harness/distributed/distributed_session.hpp"
#include "harness/host/append_file.hpp"
#include "harness/measure/provenance.hpp"

namespace scanlab::distributed {

/// Nothing; less than an item per rank; around a tile and a chunk of each rank; uneven shares.
std::vector<std::int64_t> default_items(int ranks);

/// Why no graph can replay the runs of an algorithm; empty if one can.
std::string capture_refusal(const Algorithm& algorithm);

/// Checks, counted, and kept as lines of a file in the form of `scanlab verify --json`. Rank 0 has it.
class Checks {
 public:
  /// Throws as AppendFile does. Without it nothing is kept.
  void open(const std::string& path, bool replace, const measure::Facts& context);
  void add(const DistributedCase& checked, InputKind input);
  void end();

 private:
  void keep(const nlohmann::ordered_json& line);

  std::optional<AppendFile> file_;
  std::size_t passed_ = 0;
  std::size_t failed_ = 0;
  std::size_t skipped_ = 0;
};

}  // namespace scanlab::distributed
