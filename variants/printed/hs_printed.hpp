// The kernel of the slide "Hillis & Steele: Kernel Function", in the two forms in which copies of it are printed.
//
// Idea    In step d each item adds the one 2^d to its left, from one buffer to the other.
// Faults  The loop's last expression is `offset <= 1`, a comparison, where a shift was meant. Some copies of the slide
//         lack the barrier after the load.
// Source  ME759, University of Wisconsin-Madison, lecture of 16 October 2013.
#pragma once

#include "harness/simt/printed_kernel.hpp"

namespace scanlab::printed {

/// Exclusive sum of n = blockDim.x items by one block. With both, the kernel is mended.
template <bool kShifts, bool kBarrierAfterLoad>
struct HillisSteele {
  static constexpr const char* kName = "hs_printed";
  static constexpr int kMaxThreads = 1024;

  void operator()(simt::CpuBlock& block, simt::Span<float> g_odata, simt::Span<const float> g_idata, int n) const {
    auto temp = block.shared<float>(2 * n);
    const int thid = block.thread_rank();
    int pout = 0, pin = 1;
    temp[thid] = (thid == 0) ? 0 : float(g_idata[thid - 1]);
    if constexpr (kBarrierAfterLoad) block.sync();
    for (int offset = 1; offset < n; kShifts ? offset <<= 1 : offset <= 1) {
      pout = 1 - pout;
      pin = 1 - pout;
      if (thid >= offset) {
        temp[pout * n + thid] = temp[pin * n + thid] + temp[pin * n + thid - offset];
      } else {
        temp[pout * n + thid] = temp[pin * n + thid];
      }
      block.sync();
    }
    g_odata[thid] = temp[pout * n + thid];
  }
};

inline std::string hs_refusal(std::int64_t n) {
  return n >= 2 && n <= 1024 ? "" : "the printed kernel has a thread per item in one block: 2 to 1024 items";
}

template <class Kernel>
void run_hs(simt::Emulator& emulator, simt::Span<float> out, simt::Span<const float> in, int n) {
  emulator.launch({.threads = n, .shared_bytes = 2 * sizeof(float) * static_cast<std::size_t>(n)}, Kernel{}, out, in,
                  n);
}

}  // namespace scanlab::printed
