// scan: the inclusive sum of the whole array, chunk by chunk, with a carry passed on: kernels come in the order of the
// chunks.
//
// Idea    Any scan does for a chunk: a thread adds the carry to its first item before, and one keeps the last sum for
//         the next chunk. The scan is `best`.
// Data    The differences of a scrambled function, so that sums have a closed form: f(i + 1) - f(0), whatever i is.
// Source  Scanlab's scans; the carry is that of any scan in parts.
#include "harness/out_of_core/carried_scan.hpp"

namespace scanlab::streams {
namespace {

/// Wraps, as i32 sums do. The finaliser of MurmurHash3.
constexpr std::uint32_t scrambled(std::uint64_t seed, std::int64_t i) {
  std::uint32_t bits = static_cast<std::uint32_t>(i) + 0x9E3779B9u * static_cast<std::uint32_t>(seed + 1) +
                       static_cast<std::uint32_t>(i >> 32);
  bits = (bits ^ (bits >> 16)) * 0x85EBCA6Bu;
  bits = (bits ^ (bits >> 13)) * 0xC2B2AE35u;
  return bits ^ (bits >> 16);
}

WorkloadData data(std::uint64_t seed, int) {
  return {.input =
              [seed](int, std::int64_t first, std::int64_t items, void* to) {
                std::uint32_t before = scrambled(seed, first);
                for (std::int64_t i = 0; i < items; ++i) {
                  const std::uint32_t next = scrambled(seed, first + i + 1);
                  static_cast<std::uint32_t*>(to)[i] = next - before;
                  before = next;
                }
              },
          .expected =
              [seed](std::int64_t first, std::int64_t items, void* to) {
                for (std::int64_t i = 0; i < items; ++i) {
                  static_cast<std::uint32_t*>(to)[i] = scrambled(seed, first + i + 1) - scrambled(seed, 0);
                }
              }};
}

#if defined(__CUDACC__)
BoundKernel bind(std::int64_t items, int, int) {
  const out_of_core::CarriedScan scan =
      out_of_core::carried_scan(*Registry::instance().find("best"), {.type = ElementType::i32, .items = items});
  return {
      .workspace_bytes = scan.workspace_bytes,
      .prepare = scan.prepare,
      .launch = [run = scan.launch](const ChunkMemory& chunk, StreamHandle stream) { run(chunk, nullptr, stream); }};
}
#else
constexpr decltype(Workload::bind) bind = nullptr;
#endif

const WorkloadRegistration kScan{{.about = {.id = "scan",
                                            .title = "Inclusive sum, a carry passed from chunk to chunk",
                                            .source = "Scanlab",
                                            .type = ElementType::i32,
                                            .ordered = true,
                                            .work = "not used"},
                                  .data = data,
                                  .bind = bind}};

}  // namespace
}  // namespace scanlab::streams
