// The two kernels of the ME759 slides (16 October 2013), kept as controls: written on the executor as the slides print
// them. Whoever types them in finds out here what is wrong with them.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "harness/core/variant.hpp"
#include "harness/simt/executor.hpp"

namespace scanlab::simt {
namespace {

/// "Hillis & Steele: Kernel Function". Exclusive scan of n = blockDim.x items, one block. As printed, the loop's last
/// expression is `offset <= 1`, a comparison, where a shift was meant: offset stays 1. The barrier after the load is
/// printed in the transcript that Scanlab has; other copies of the slide lack it, so both forms are kept.
struct HillisSteeleAsPrinted {
  static constexpr const char* kName = "hillis_steele_as_printed";
  static constexpr int kMaxThreads = 1024;
  bool loop_advances;
  bool barrier_after_load;

  void operator()(CpuBlock& block, Span<float> g_odata, Span<const float> g_idata, int n) const {
    auto temp = block.shared<float>(2 * n);
    const int thid = block.thread_rank();
    int pout = 0, pin = 1;
    temp[thid] = (thid == 0) ? 0 : float(g_idata[thid - 1]);
    if (barrier_after_load) block.sync();
    for (int offset = 1; offset < n; loop_advances ? offset <<= 1 : offset <= 1) {
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

/// Slide "Work-efficient scan", lines 01 to 48: right for n = 2 blockDim.x a power of two, at the price of conflicts.
struct PrescanAsPrinted {
  static constexpr const char* kName = "prescan_as_printed";
  static constexpr int kMaxThreads = 1024;
  void operator()(CpuBlock& block, Span<float> g_odata, Span<const float> g_idata, int n) const {
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

template <class Kernel>
struct Outcome {
  Report report;
  std::vector<float> out;
};

template <class Kernel>
Outcome<Kernel> run(const Kernel& kernel, int n, int threads, std::size_t shared_bytes) {
  std::vector<float> in(n);
  std::iota(in.begin(), in.end(), 1.0F);
  Outcome<Kernel> outcome{{}, std::vector<float>(n, -1.0F)};
  Executor executor({.max_barriers = 200});
  try {
    executor.launch({.threads = threads, .shared_bytes = shared_bytes}, kernel,
                    Span<float>(outcome.out.data(), n, "g_odata"), Span<const float>(in.data(), n, "g_idata"), n);
  } catch (const LaunchFailure&) {
  }
  outcome.report = executor.report();
  return outcome;
}

std::vector<float> exclusive_sums(int n) {
  std::vector<float> sums(n);
  for (int i = 1; i < n; ++i) sums[i] = sums[i - 1] + static_cast<float>(i);
  return sums;
}

bool has(const Report& report, FaultKind kind) {
  for (const Fault& fault : report.faults) {
    if (fault.kind == kind && fault.where.find("source_kernels_test.cu:") != std::string::npos) return true;
  }
  return false;
}

constexpr int kItems = 64;

TEST(SourceKernels, HillisSteeleAsPrintedNeverAdvances) {
  const auto outcome = run(HillisSteeleAsPrinted{false, true}, kItems, kItems, 2 * kItems * sizeof(float));
  EXPECT_TRUE(has(outcome.report, FaultKind::no_progress));
}

TEST(SourceKernels, HillisSteeleWithoutTheBarrierAfterTheLoadRaces) {
  const auto outcome = run(HillisSteeleAsPrinted{true, false}, kItems, kItems, 2 * kItems * sizeof(float));
  EXPECT_TRUE(has(outcome.report, FaultKind::race) || has(outcome.report, FaultKind::never_written));
  EXPECT_TRUE(has(outcome.report, FaultKind::race));
}

TEST(SourceKernels, HillisSteeleMendedIsRight) {
  const auto outcome = run(HillisSteeleAsPrinted{true, true}, kItems, kItems, 2 * kItems * sizeof(float));
  EXPECT_TRUE(outcome.report.faults.empty());
  EXPECT_EQ(outcome.out, exclusive_sums(kItems));
}

TEST(SourceKernels, PrescanIsRightAndConflicts) {
  const int n = 2048;
  const auto outcome = run(PrescanAsPrinted{}, n, n / 2, n * sizeof(float));
  EXPECT_TRUE(outcome.report.faults.empty());
  EXPECT_EQ(outcome.out, exclusive_sums(n));
  const BankCounts banks16 = outcome.report.totals().banks16;
  EXPECT_EQ(banks16.max_degree, 16) << "slides: 'two-way, four-way, …' up to all 16 threads of a half-warp";
  // Loading neighbours: a two-way conflict, as the slides say.
  EXPECT_EQ(outcome.report.launches.at(0).steps.at(0).counts.banks16.max_degree, 2);
}

}  // namespace
}  // namespace scanlab::simt
