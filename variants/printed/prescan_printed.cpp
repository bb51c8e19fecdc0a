// prescan_printed: the slide's work-efficient scan, which is right.
//
// Idea    A balanced tree, up and down: 2(n - 1) additions.
// Source  ME759, University of Wisconsin-Madison, lecture of 16 October 2013, "Work-efficient scan", lines 01 to 48.
#include <bit>

#include "harness/simt/printed_kernel.hpp"

namespace scanlab::printed {
namespace {

/// Exclusive sum of n = 2 blockDim.x items, a power of two, by one block.
struct Prescan {
  static constexpr const char* kName = "prescan_printed";
  static constexpr int kMaxThreads = 1024;

  void operator()(simt::CpuBlock& block, simt::Span<float> g_odata, simt::Span<const float> g_idata, int n) const {
    auto temp = block.shared<float>(n);
    const int thid = block.thread_rank();
    int offset = 1;
    temp[2 * thid] = g_idata[2 * thid];
    temp[2 * thid + 1] = g_idata[2 * thid + 1];
    for (int d = n >> 1; d > 0; d >>= 1) {
      block.sync();
      if (thid < d) {
        const int ai = offset * (2 * thid + 1) - 1;
        const int bi = offset * (2 * thid + 2) - 1;
        temp[bi] += temp[ai];
      }
      offset <<= 1;
    }
    if (thid == 0) temp[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
      offset >>= 1;
      block.sync();
      if (thid < d) {
        const int ai = offset * (2 * thid + 1) - 1;
        const int bi = offset * (2 * thid + 2) - 1;
        const float t = temp[ai];
        temp[ai] = temp[bi];
        temp[bi] += t;
      }
    }
    block.sync();
    g_odata[2 * thid] = temp[2 * thid];
    g_odata[2 * thid + 1] = temp[2 * thid + 1];
  }
};

std::string refusal(std::int64_t n) {
  return n >= 2 && n <= 2048 && std::has_single_bit(static_cast<std::uint64_t>(n))
             ? ""
             : "the printed kernel has a thread per two items in one block: a power of two, 2 to 2048 items";
}

void run(simt::Emulator& emulator, simt::Span<float> out, simt::Span<const float> in, int n) {
  emulator.launch({.threads = n / 2, .shared_bytes = sizeof(float) * static_cast<std::size_t>(n)}, Prescan{}, out, in,
                  n);
}

const simt::PrintedKernelRegistration kPrescanPrinted{{
    .about = {.id = "prescan_printed",
              .title = "The work-efficient scan, right at the price of bank conflicts",
              .source = "ME759, lecture of 16 October 2013, \"Work-efficient scan\"",
              .fault = {},
              .remark = "the code is right; its strides visit the same banks, up to all 16 of a half-warp, and padding "
                        "mends that (hso_block_padded)"},
    .refusal = refusal,
    .run = run,
}};

}  // namespace
}  // namespace scanlab::printed
