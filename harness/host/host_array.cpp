#include "harness/host/host_array.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace scanlab {

HostArray pageable_memory(std::size_t bytes) {
  constexpr std::align_val_t kPage{4096};
  return {static_cast<std::byte*>(operator new(std::max<std::size_t>(bytes, 1), kPage)),
          [](std::byte* memory) { operator delete(memory, kPage); }};
}

void fill_past_caches(std::byte* data, std::size_t bytes, std::byte value) {
#ifdef __SSE2__
  const std::size_t head = std::min(bytes, (16 - reinterpret_cast<std::uintptr_t>(data) % 16) % 16);
  std::memset(data, static_cast<int>(value), head);
  data += head;
  bytes -= head;
  const __m128i vector = _mm_set1_epi8(static_cast<char>(value));
  for (; bytes >= sizeof vector; bytes -= sizeof vector, data += sizeof vector) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(data), vector);
  }
  _mm_sfence();
#endif
  std::memset(data, static_cast<int>(value), bytes);
}

}  // namespace scanlab
