// Shared parts of the baselines that call cub::DeviceScan.
//
// They are compiled against different versions of CCCL and linked into one program. Whatever here depends on CCCL is
// therefore in an unnamed namespace: each file has its own.
#pragma once

#include <cuda_fp16.h>

#include <cstddef>
#include <cub/device/device_scan.cuh>
#include <cub/version.cuh>
#include <cuda/functional>
#include <cuda/std/functional>
#include <limits>
#include <string>
#include <utility>

#include "baselines/cub_chain.hpp"
#include "harness/cuda/registration.cuh"

namespace scanlab {
namespace {

// CUB's users write __half; it is the same 16 bits.
static_assert(sizeof(Half) == sizeof(__half) && alignof(Half) == alignof(__half));

template <class Item>
const Item* cub_items(const Item* items) {
  return items;
}
template <class Item>
Item* cub_items(Item* items) {
  return items;
}
inline const __half* cub_items(const Half* items) { return reinterpret_cast<const __half*>(items); }
inline __half* cub_items(Half* items) { return reinterpret_cast<__half*>(items); }

template <class Item>
Item cub_item(Item item) {
  return item;
}
inline __half cub_item(Half item) { return __half(__half_raw{item.bits}); }

#if CUB_VERSION >= 200800
using Maximum = ::cuda::maximum<>;
using Minimum = ::cuda::minimum<>;
#else
using Maximum = cub::Max;
using Minimum = cub::Min;
#endif

/// The operator as a user of CUB would name it, so that CUB recognises it and may choose its tuned policies.
template <class Op>
constexpr auto cub_operator() {
  if constexpr (Op::kOperator == Operator::plus) {
    return ::cuda::std::plus<>{};
  } else if constexpr (Op::kOperator == Operator::max) {
    return Maximum{};
  } else if constexpr (Op::kOperator == Operator::min) {
    return Minimum{};
  } else {
    return Op{};
  }
}

/// Calls DeviceScan. With a null workspace it only writes the bytes it needs.
template <class Op, class Count>
cudaError_t device_scan(Mode mode, void* workspace, std::size_t& bytes, const typename Op::Item* in,
                        typename Op::Item* out, Count count, cudaStream_t stream) {
  using Scan = cub::DeviceScan;
  const auto from = cub_items(in);
  const auto to = cub_items(out);
  if constexpr (Op::kOperator == Operator::plus) {
    return mode == Mode::inclusive ? Scan::InclusiveSum(workspace, bytes, from, to, count, stream)
                                   : Scan::ExclusiveSum(workspace, bytes, from, to, count, stream);
  } else {
    const auto op = cub_operator<Op>();
    return mode == Mode::inclusive
               ? Scan::InclusiveScan(workspace, bytes, from, to, op, count, stream)
               : Scan::ExclusiveScan(workspace, bytes, from, to, op, cub_item(Op::identity()), count, stream);
  }
}

// Counts of more than 31 bits came with CUB 2.7; before, DeviceScan took an int. They double the time that an operator
// takes to compile, and are compiled for sums alone.
constexpr bool kHas64BitCounts = CUB_VERSION >= 200700;
constexpr std::int64_t kMaxIn32Bits = std::numeric_limits<int>::max();

template <class Scan, class Op>
constexpr bool takes_64_bit_counts() {
  return kHas64BitCounts && Scan::kCountsSumsIn64Bits && Op::kOperator == Operator::plus;
}

/// Why `problem` has too many items for `Scan`; empty if it does not.
template <class Scan>
std::string too_many_items(const Problem& problem) {
  const bool in_64_bits =
      with_monoid(problem.type, problem.op, []<class Op>(Op) { return takes_64_bit_counts<Scan, Op>(); });
  if (in_64_bits || problem.items <= kMaxIn32Bits) return {};
  if (!kHas64BitCounts) return "this version of CUB counts items in 32 bits";
  return Scan::describe().id + " is compiled for at most 2^31 - 1 items" +
         (Scan::kCountsSumsIn64Bits ? " with other operators than plus" : "");
}

/// Calls `f(count)`, 32-bit wherever that suffices, as a caller who knows n would.
template <class Scan, class Op, class F>
auto with_count(std::int64_t items, F f) {
  if constexpr (takes_64_bit_counts<Scan, Op>()) {
    if (items > kMaxIn32Bits) return f(items);
  }
  return f(static_cast<int>(items));
}

/// DeviceScan with its defaults, as CUB's manual calls it: the base of a `Scan` that describes itself.
template <class Scan>
class CubScan {
 public:
  static constexpr bool kCountsSumsIn64Bits = true;

  explicit CubScan(const Problem& problem) : problem_(problem) {}

  Plan plan() const {
    if (std::string reason = too_many_items<Scan>(problem_); !reason.empty()) return Plan::refuse(std::move(reason));
    Plan plan;
    const cudaError_t error = with_monoid(problem_.type, problem_.op, [&]<class Op>(Op) {
      return enqueue<Op>(nullptr, plan.workspace_bytes, nullptr, nullptr, nullptr);
    });
    if (error != cudaSuccess) {
      return Plan::refuse(std::string("CUB cannot say what workspace it needs: ") + cudaGetErrorString(error));
    }
    plan.chain = cub_chain(problem_);
    return plan;
  }

  template <class Op>
  void run(cudaStream_t stream, Op, const typename Op::Item* in, typename Op::Item* out, void* workspace,
           std::size_t bytes) const {
    cuda::check(enqueue<Op>(workspace, bytes, in, out, stream), "cub::DeviceScan");
  }

 private:
  template <class Op>
  cudaError_t enqueue(void* workspace, std::size_t& bytes, const typename Op::Item* in, typename Op::Item* out,
                      cudaStream_t stream) const {
    return with_count<Scan, Op>(problem_.items, [&](auto count) {
      return device_scan<Op>(problem_.mode, workspace, bytes, in, out, count, stream);
    });
  }

  Problem problem_;
};

}  // namespace
}  // namespace scanlab
