#include "harness/out_of_core/carried_scan.hpp"

#include <cuda_runtime.h>

#include <stdexcept>

#include "harness/core/operators.hpp"
#include "harness/cuda/error.hpp"

namespace scanlab::out_of_core {

namespace {

/// One thread. carry: one item; first: the chunk's first item; both in global memory.
template <Monoid Op>
__global__ void fold_carry_kernel(const typename Op::Item* carry, typename Op::Item* first) {
  fold_carry<Op>(*carry, first);
}

/// One thread. in, out: the chunk's items; carry, next: one item each, all in global memory. next_on_host: one item in
/// pinned memory, or null.
template <Monoid Op>
__global__ void leave_carry_kernel(Mode mode, const typename Op::Item* carry, const typename Op::Item* in,
                                   typename Op::Item* out, std::int64_t items, typename Op::Item* next,
                                   typename Op::Item* next_on_host) {
  *next = leave_carry<Op>(mode, *carry, in, out, items);
  if (next_on_host != nullptr) *next_on_host = *next;
}

}  // namespace

CarriedScan carried_scan(const Variant& scan, const Problem& chunk) {
  const BoundScan bound = scan.bind(chunk);
  if (!bound.plan.possible()) throw std::invalid_argument(scan.about.id + ": " + bound.plan.refusal);
  if (!bound.cuda) throw std::invalid_argument(scan.about.id + " does not run on a CUDA device");
  CarriedScan carried{.workspace_bytes = bound.plan.workspace_bytes, .prepare = bound.prepare_cuda, .launch = {}};
  with_monoid(chunk.type, chunk.op, [&]<class Op>(Op) {
    using Item = typename Op::Item;
    carried.launch = [run = bound.cuda, mode = chunk.mode, items = chunk.items](
                         const streams::ChunkMemory& memory, void* carry_on_host, StreamHandle handle) {
      const auto stream = static_cast<cudaStream_t>(handle);
      auto* const in = static_cast<Item*>(memory.inputs[0]);
      auto* const out = static_cast<Item*>(memory.output);
      const auto* const carry = static_cast<const Item*>(memory.carry_in);
      fold_carry_kernel<Op><<<1, 1, 0, stream>>>(carry, in);
      cuda::check(cudaGetLastError(), "folding the carry in");
      run({.in = in, .out = out, .workspace = memory.workspace}, handle);
      leave_carry_kernel<Op><<<1, 1, 0, stream>>>(mode, carry, in, out, items, static_cast<Item*>(memory.carry_out),
                                                  static_cast<Item*>(carry_on_host));
      cuda::check(cudaGetLastError(), "leaving the carry");
    };
  });
  return carried;
}

}  // namespace scanlab::out_of_core
