// Words that let one source be read by nvcc (for the GPU) and by a plain C++ compiler (for the CPU emulator).
#pragma once

#if defined(__CUDACC__)
#define SCANLAB_HD __host__ __device__
#else
#define SCANLAB_HD
#endif

namespace scanlab {

/// As std::bit_cast, which the GPU may call only where nvcc is asked for relaxed constexpr. Call it by its full name:
/// otherwise items of std or of cuda::std bring bit_casts of their own.
template <class To, class From>
SCANLAB_HD constexpr To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

}  // namespace scanlab
