// Words as the GPU moves them: registers have 32 bits, memory is read and written in up to 128 bits by one instruction.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "harness/simt/thread_block.hpp"

namespace scanlab::simt {

/// `value` with each of its 32-bit words replaced by `change(word)`; what is smaller is changed as one word.
template <Shuffled T, class Change>
__device__ T change_words(const T& value, Change change) {
  if constexpr (sizeof(T) == 1) {
    return scanlab::bit_cast<T>(static_cast<std::uint8_t>(change(scanlab::bit_cast<std::uint8_t>(value))));
  } else if constexpr (sizeof(T) == 2) {
    return scanlab::bit_cast<T>(static_cast<std::uint16_t>(change(scanlab::bit_cast<std::uint16_t>(value))));
  } else if constexpr (sizeof(T) % 4 == 0) {
    struct Words {
      std::uint32_t word[sizeof(T) / 4];
    };
    auto words = scanlab::bit_cast<Words>(value);
    for (std::uint32_t& word : words.word) word = change(word);
    return scanlab::bit_cast<T>(words);
  } else {
    std::uint32_t words[(sizeof(T) + 3) / 4] = {};
    __builtin_memcpy(words, &value, sizeof(T));
    for (std::uint32_t& word : words) word = change(word);
    T changed;
    __builtin_memcpy(&changed, words, sizeof(T));
    return changed;
  }
}

/// The type that is loaded and stored by one instruction for T, of 1, 2, 4, 8 or 16 bytes.
template <class T>
using Access =
    std::conditional_t<sizeof(T) == 1, std::uint8_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                          std::conditional_t<sizeof(T) == 4, std::uint32_t,
                                                             std::conditional_t<sizeof(T) == 8, uint2, uint4>>>>;

// CUDA C++ has no names for these that take 16 bytes. `volatile`: a loop that waits reads anew each time.

template <AtomicWord T>
__device__ T load_relaxed(const T* address) {
  const std::size_t global = __cvta_generic_to_global(address);
  if constexpr (sizeof(T) == 4) {
    std::uint32_t word;
    asm volatile("ld.relaxed.gpu.global.b32 %0, [%1];" : "=r"(word) : "l"(global));
    return scanlab::bit_cast<T>(word);
  } else if constexpr (sizeof(T) == 8) {
    std::uint64_t word;
    asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(word) : "l"(global));
    return scanlab::bit_cast<T>(word);
  } else {
    ulonglong2 halves;
    asm volatile("{ .reg .b128 word; ld.relaxed.gpu.global.b128 word, [%2]; mov.b128 {%0, %1}, word; }"
                 : "=l"(halves.x), "=l"(halves.y)
                 : "l"(global));
    return scanlab::bit_cast<T>(halves);
  }
}

template <AtomicWord T>
__device__ void store_relaxed(T* address, const T& value) {
  const std::size_t global = __cvta_generic_to_global(address);
  if constexpr (sizeof(T) == 4) {
    asm volatile("st.relaxed.gpu.global.b32 [%0], %1;" ::"l"(global), "r"(scanlab::bit_cast<std::uint32_t>(value)));
  } else if constexpr (sizeof(T) == 8) {
    asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(global), "l"(scanlab::bit_cast<std::uint64_t>(value)));
  } else {
    const auto halves = scanlab::bit_cast<ulonglong2>(value);
    asm volatile("{ .reg .b128 word; mov.b128 word, {%1, %2}; st.relaxed.gpu.global.b128 [%0], word; }" ::"l"(global),
                 "l"(halves.x), "l"(halves.y));
  }
}

/// Asks for the whole 16-byte vectors of [first, last) to be brought into the L2 cache. Before compute capability 9.0
/// this does nothing.
__device__ inline void prefetch_to_l2([[maybe_unused]] const void* first, [[maybe_unused]] const void* last) {
#if __CUDA_ARCH__ >= 900
  const std::size_t begin = (__cvta_generic_to_global(first) + 15) / 16 * 16;
  const std::size_t end = __cvta_generic_to_global(last) / 16 * 16;
  if (begin >= end) return;
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(begin), "r"(static_cast<std::uint32_t>(end - begin)));
#endif
}

}  // namespace scanlab::simt
