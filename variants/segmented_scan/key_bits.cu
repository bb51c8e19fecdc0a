// key_bits: two kernels; one compares neighbouring keys, the other scans the values as look_ahead does.
//
// Idea    A scan by key needs one bit an item: whether its key differs from the one before. The first kernel reads the
//         keys alone, and writes the bits. The second is look_ahead over pairs of an item and its bit, which a tile's
//         bulk load brings along. Both run at the speed of memory, and the bits add a thirty-second of 4-byte values.
// Work    2 n, a comparison an item, and two instructions an item for the bits.
// Traffic 2 n, n keys, and n / 4 bytes of bits.
// Bits    Bitwise reproducible.
// Safe    As look_ahead.
// Needs   Compute capability 9.0.
// Source  Blelloch 1990 for the pairs.
#include "variants/segmented_scan/segmented_look_ahead.cuh"
#if defined(__CUDACC__)

namespace scanlab::segmented {
namespace {

struct KeyBits : OnBits<KeyBits> {
  using OnBits::OnBits;

  static Description describe() {
    Description about = describe_look_ahead(Primitive::scan_by_key);
    about.id = "key_bits";
    about.title = "Heads as bits, then one pass";
    about.cost.work = "about 2n, and n comparisons";
    return about;
  }

  static cudaError_t mark(const Problem& problem, const void* keys, std::uint32_t* bits, std::int64_t words,
                          cudaStream_t stream) {
    return with_key(problem, [&]<class Key>(Key) {
      return try_mark_keys(static_cast<const Key*>(keys), problem.items, bits, words, Equal{}, stream);
    });
  }
};

const Registration kKeyBits{cuda::cuda_scan<KeyBits>()};

}  // namespace
}  // namespace scanlab::segmented
#endif
