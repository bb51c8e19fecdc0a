// Whether arrays fit into the host's memory.
#pragma once

#include <unistd.h>

#include <cstddef>

namespace scanlab {

/// Whether the machine has so many bytes of memory, used or not. A system that overcommits grants more, and ends the
/// program where it is written.
inline bool host_memory_holds(std::size_t bytes) {
  return bytes <= static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace scanlab
