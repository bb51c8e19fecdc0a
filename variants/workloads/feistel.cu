// feistel: deciphers what the host enciphered: an unrolled Feistel network of so many rounds. As much work a byte as
// one likes, and a result that must be the plain text.
//
// Idea    A round (left, right) -> (right, left xor f(right, key)) is undone without undoing f, so f may be anything.
//         The halves are 32 bits: a block is one item.
// Work    `work` rounds an item, unrolled by 16: about 8 integer instructions each.
// Traffic 2 n.
// Source  "Considerations for Copy/Compute Overlap", decrypt_gpu.
#include "variants/workloads/each_item.cuh"

namespace scanlab::streams {
namespace {

struct Feistel {
  using Item = std::int64_t;
  static constexpr int kInputs = 1;

  /// Mixes a half with the key of its round. No cipher to hide anything behind.
  SCANLAB_HD static std::uint32_t mix(std::uint32_t half, int round) {
    half = (half ^ static_cast<std::uint32_t>(round)) * 0x9E3779B1u;
    return half ^ (half >> 15);
  }
  SCANLAB_HD static Item join(std::uint32_t left, std::uint32_t right) {
    return static_cast<Item>(std::uint64_t{left} << 32 | right);
  }

  static Item encipher(Item plain, int rounds) {
    auto left = static_cast<std::uint32_t>(static_cast<std::uint64_t>(plain) >> 32);
    auto right = static_cast<std::uint32_t>(plain);
    for (int round = 0; round < rounds; ++round) {
      const std::uint32_t next = left ^ mix(right, round);
      left = right;
      right = next;
    }
    return join(left, right);
  }
  SCANLAB_HD static Item decipher(Item cipher, int rounds) {
    auto left = static_cast<std::uint32_t>(static_cast<std::uint64_t>(cipher) >> 32);
    auto right = static_cast<std::uint32_t>(cipher);
#pragma unroll 16
    for (int round = rounds - 1; round >= 0; --round) {
      const std::uint32_t before = right ^ mix(left, round);
      right = left;
      left = before;
    }
    return join(left, right);
  }

  static Item input(int, std::uint32_t value, int work) { return encipher(expected(value, work), work); }
  /// The plain text: not what deciphering gives on the host, but what was enciphered.
  static Item expected(std::uint32_t value, int) { return static_cast<Item>(0x0123456789ABCDEFu * (value + 1)); }
  SCANLAB_HD static Item compute(Item cipher, Item, int work) { return decipher(cipher, work); }
};

const WorkloadRegistration kFeistel{
    each_item<Feistel>({.id = "feistel",
                        .title = "Deciphers a Feistel network of so many rounds",
                        .source = "Considerations for Copy/Compute Overlap: decrypt_gpu",
                        .type = ElementType::i64,
                        .work = "rounds"})};

}  // namespace
}  // namespace scanlab::streams
