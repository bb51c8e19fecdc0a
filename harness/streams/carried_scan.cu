#if defined(__CUDACC__)
#include "harness/streams/carried_scan.hpp"

#include <cuda_runtime.h>

#include <stdexcept>

#include "harness/cuda/error.hpp"

namespace scanlab::streams {

namespace {

// i32 sums wrap: as unsigned, where that is defined.

/// One thread. first: the chunk's first item; carry: one item; both in global memory.
__global__ void add_carry(std::uint32_t* first, const std::uint32_t* carry) { *first += *carry; }

/// One thread. last: the chunk's last sum; carry: one item; both in global memory.
__global__ void leave_carry(const std::uint32_t* last, std::uint32_t* carry) { *carry = *last; }

}  // namespace

BoundKernel carried_scan(const std::string& scan, std::int64_t items) {
  const Variant* const variant = Registry::instance().find(scan);
  if (variant == nullptr) throw std::invalid_argument("there is no scan '" + scan + "'; 'scanlab list' has all");
  const BoundScan bound = variant->bind({.type = ElementType::i32, .items = items});
  if (!bound.plan.possible()) throw std::invalid_argument(scan + ": " + bound.plan.refusal);
  if (!bound.cuda) throw std::invalid_argument(scan + " does not run on a CUDA device");
  return {.workspace_bytes = bound.plan.workspace_bytes,
          .prepare = bound.prepare_cuda,
          .launch = [run = bound.cuda, items](const ChunkMemory& chunk, StreamHandle handle) {
            const auto stream = static_cast<cudaStream_t>(handle);
            auto* const in = static_cast<std::uint32_t*>(chunk.inputs[0]);
            auto* const out = static_cast<std::uint32_t*>(chunk.output);
            add_carry<<<1, 1, 0, stream>>>(in, static_cast<const std::uint32_t*>(chunk.carry_in));
            cuda::check(cudaGetLastError(), "adding the carry");
            run({.in = in, .out = out, .workspace = chunk.workspace}, handle);
            leave_carry<<<1, 1, 0, stream>>>(out + items - 1, static_cast<std::uint32_t*>(chunk.carry_out));
            cuda::check(cudaGetLastError(), "leaving the carry");
          }};
}

}  // namespace scanlab::streams
#endif
