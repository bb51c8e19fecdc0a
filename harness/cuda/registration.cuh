// Makes a Variant of plain CUDA code: a user's own kernel that has no form for the SIMT emulator, or a vendor's
// library.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "harness/core/scan_variant.hpp"
#include "harness/cuda/error.hpp"

namespace scanlab::cuda {

/// Binds the instrumented forms of a scan, if it has any.
template <class Op, class Scan>
void bind_watch(const Scan& scan, BoundScan& bound) {
  using Item = typename Op::Item;
  if constexpr (requires(const Item* in, Item* out) { scan->watch(cudaStream_t{}, Op{}, in, out, nullptr); }) {
    bound.cuda_watch = [scan](const Buffers& buffers, StreamHandle stream) {
      return scan->watch(static_cast<cudaStream_t>(stream), Op{}, static_cast<const Item*>(buffers.in),
                         static_cast<Item*>(buffers.out), buffers.workspace);
    };
  }
  if constexpr (requires(const Item* in, Item* out) {
                  scan->timeline(cudaStream_t{}, Op{}, in, out, nullptr, nullptr);
                }) {
    bound.cuda_timeline = [scan](const Buffers& buffers, void* ns, StreamHandle stream) {
      return scan->timeline(static_cast<cudaStream_t>(stream), Op{}, static_cast<const Item*>(buffers.in),
                            static_cast<Item*>(buffers.out), buffers.workspace, ns);
    };
  }
}

/// Wraps a class
///   struct MyScan {
///     static Description describe();
///     explicit MyScan(const Problem&);
///     Plan plan() const;                    // the workspace, or why it cannot; may ask the device, enqueues nothing
///     template <class Op>
///     void run(cudaStream_t, Op, const Op::Item* in, Op::Item* out, void* workspace, std::size_t bytes) const;
///                                           // by key or segment: with `const void* entries` before `in`; that
///                                           // selects: with `std::uint64_t* count`, too, behind `out`, and that
///                                           // folds runs: with `void* unique` behind this
///     template <class Op>
///     void prepare(cudaStream_t, Op, void* workspace, std::size_t bytes) const;   // optional: see BoundScan
///     template <class Op>                         // optional: an instrumented form
///     std::vector<RoleCycles> watch(cudaStream_t, Op, const Op::Item* in, Op::Item* out, void* workspace) const;
///   };
/// `run` only enqueues on the stream: it allocates nothing and never synchronises; it throws CudaError if a launch is
/// refused. `bytes` is what `plan` asked for. The variant is verified and timed on the device; `explain` says that it
/// has no form for the SIMT emulator.
template <class Scan, class = CompiledOperators>
Variant cuda_scan(Origin origin = Origin::variant) {
  return scan_variant<Scan>(
      origin, {.cuda = true}, []<class Op>(Op, const auto& scan, const Problem&, BoundScan& bound) {
        using Item = typename Op::Item;
        constexpr bool kTakesEntries = requires(const Item* in, Item* out, const void* entries) {
          scan->run(cudaStream_t{}, Op{}, entries, in, out, nullptr, std::size_t{});
        };
        constexpr bool kCounts = requires(const Item* in, Item* out, const void* entries, std::uint64_t* count) {
          scan->run(cudaStream_t{}, Op{}, entries, in, out, count, nullptr, std::size_t{});
        };
        constexpr bool kFoldsRuns =
            requires(const Item* in, Item* out, const void* entries, std::uint64_t* count, void* unique) {
          scan->run(cudaStream_t{}, Op{}, entries, in, out, count, unique, nullptr, std::size_t{});
        };
        static_assert(
            kTakesEntries || kCounts || kFoldsRuns ||
                requires(const Item* in, Item* out) {
                  scan->run(cudaStream_t{}, Op{}, in, out, nullptr, std::size_t{});
                },
            "a scan runs: it lacks `void run(cudaStream_t, Op, const Op::Item* in, Op::Item* out, void* workspace, "
            "std::size_t bytes) const` for this operator and type: name the supported ones in kTakes");
        if constexpr (requires(void* workspace) { scan->prepare(cudaStream_t{}, Op{}, workspace, std::size_t{}); }) {
          bound.prepare_cuda = [scan, bytes = bound.plan.workspace_bytes](void* workspace, StreamHandle stream) {
            scan->prepare(static_cast<cudaStream_t>(stream), Op{}, workspace, bytes);
          };
        }
        bind_watch<Op>(scan, bound);
        bound.cuda = [scan, bytes = bound.plan.workspace_bytes](const Buffers& buffers, StreamHandle stream) {
          const auto on = static_cast<cudaStream_t>(stream);
          const auto* in = static_cast<const Item*>(buffers.in);
          auto* out = static_cast<Item*>(buffers.out);
          if constexpr (kFoldsRuns) {
            scan->run(on, Op{}, buffers.entries, in, out, buffers.count, buffers.unique, buffers.workspace, bytes);
          } else if constexpr (kCounts) {
            scan->run(on, Op{}, buffers.entries, in, out, buffers.count, buffers.workspace, bytes);
          } else if constexpr (kTakesEntries) {
            scan->run(on, Op{}, buffers.entries, in, out, buffers.workspace, bytes);
          } else {
            scan->run(on, Op{}, in, out, buffers.workspace, bytes);
          }
        };
      });
}

}  // namespace scanlab::cuda
