// Makes a Variant of plain CUDA code: a user's own kernel that has no executor form, or a vendor's library.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "harness/cuda/error.hpp"
#include "harness/model/monoid.hpp"
#include "harness/model/variant.hpp"

namespace scanlab::cuda {

/// Wraps a class
///   struct MyScan {
///     static Description describe();
///     explicit MyScan(const Problem&);
///     Plan plan() const;                    // the workspace, or why it cannot; may ask the device, enqueues nothing
///     template <class Op>
///     void run(cudaStream_t, Op, const Op::Item* in, Op::Item* out, void* workspace, std::size_t bytes) const;
///   };
/// `run` only enqueues on the stream: it allocates nothing and never synchronises; it throws CudaError if a launch is
/// refused. `bytes` is what `plan` asked for. The variant is verified and timed on the device; `explain` says that it
/// has no executor form.
template <class Scan>
Variant cuda_scan(Origin origin = Origin::variant) {
  Variant variant;
  variant.about = Scan::describe();
  variant.origin = origin;
  variant.machines.cuda = true;
  variant.bind = [about = variant.about](const Problem& problem) {
    BoundScan bound;
    if (std::string why = unsupported(about, problem); !why.empty()) {
      bound.plan = Plan::refuse(std::move(why));
      return bound;
    }
    const auto scan = std::make_shared<const Scan>(problem);
    bound.plan = scan->plan();
    if (!bound.plan.possible()) return bound;
    with_monoid(problem.type, problem.op, [&]<class Op>(Op) {
      using Item = typename Op::Item;
      bound.cuda = [scan, bytes = bound.plan.workspace_bytes](const Buffers& buffers, StreamHandle stream) {
        scan->run(static_cast<cudaStream_t>(stream), Op{}, static_cast<const Item*>(buffers.in),
                  static_cast<Item*>(buffers.out), buffers.workspace, bytes);
      };
    });
    return bound;
  };
  return variant;
}

}  // namespace scanlab::cuda
