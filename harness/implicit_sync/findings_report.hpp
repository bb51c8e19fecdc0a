// The experiments and what they find, for people and as the results file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <vector>

#include "harness/implicit_sync/findings.hpp"

namespace scanlab::implicit_sync {

/// Each statement, with what its source says of it.
void print_list(const std::vector<const Experiment*>& all, std::ostream& out);

/// A line per experiment: what the source says and what this device does; then the answers that differ.
void print(const std::vector<Finding>& findings, std::ostream& out);

/// The results file: every trial, behind its provenance.
nlohmann::ordered_json document(const std::vector<Finding>& findings, const nlohmann::ordered_json& provenance);

}  // namespace scanlab::implicit_sync
