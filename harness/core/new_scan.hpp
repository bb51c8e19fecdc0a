// The file of a new variant, to begin with.
#pragma once

#include <optional>
#include <string>

#include "harness/core/element.hpp"

namespace scanlab {

/// Why a new variant cannot have this id, which is its file's name; empty if it can.
std::string id_problem(const std::string& id);

/// examples/my_scan.cu under another name, or examples/my_cuda_scan.cu if `plain`; for one type, or for all.
std::string new_scan_text(const std::string& id, bool plain, std::optional<ElementType> type);

}  // namespace scanlab
