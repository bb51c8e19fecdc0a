#include "harness/streams/host_memory.hpp"

#include <algorithm>
#include <new>

namespace scanlab::streams {

HostArray pageable_memory(std::size_t bytes) {
  constexpr std::align_val_t kPage{4096};
  return {static_cast<std::byte*>(operator new(std::max<std::size_t>(bytes, 1), kPage)),
          [](std::byte* memory) { operator delete(memory, kPage); }};
}

}  // namespace scanlab::streams
