// Arrays in host memory, as the device copies from and to them.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace scanlab {

/// Host memory, freed by whoever gave it.
using HostArray = std::unique_ptr<std::byte[], std::function<void(std::byte*)>>;

/// Whether the machine has so many bytes of memory, used or not. A system that overcommits grants more, and ends the
/// program where it is written.
inline bool host_memory_holds(std::size_t bytes) {
  return bytes <= static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Whole pages; 0 bytes are possible. Throws std::bad_alloc.
HostArray pageable_memory(std::size_t bytes);

/// Writes `value` to every byte, past the caches where the processor can: a device that then writes there would find
/// them full of what it replaces, and a copy to the host took up to ten times as long for it.
void fill_past_caches(std::byte* data, std::size_t bytes, std::byte value);

}  // namespace scanlab
