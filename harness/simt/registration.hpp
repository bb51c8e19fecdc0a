// Makes a Variant of a scan written once for both backends.
#pragma once

#include <type_traits>

#include "harness/core/scan_variant.hpp"
#include "harness/simt/emulator.hpp"
#include "harness/simt/workspace.hpp"
#if defined(__CUDACC__)
#include "harness/cuda/registration.cuh"
#include "harness/simt/gpu_block.cuh"
#endif

namespace scanlab::simt {

/// Wraps a class
///   struct MyScan {
///     static Description describe();
///     explicit MyScan(const Problem&);
///     Plan plan() const;                                       // refuses what it cannot take
///     template <class Machine, class Op>
///     void run(Machine&, Op, Arrays<Machine, Op::Item>, Workspace) const;   // only enqueues
///     template <class Machine, class Op>
///     void prepare(Machine&, Op, Workspace) const;             // optional: see BoundScan; only enqueues
///     template <class Op>
///     std::vector<RoleCycles> watch(…) const;                  // optional, on a GPU: see cuda_scan
///   };
/// that is written against ThreadBlock. It runs on the emulator always and on the GPU when nvcc compiles it.
template <class Scan, class = CompiledOperators>
Variant portable_scan(Origin origin = Origin::variant) {
  SupportedBackends backends{.simt = true};
#if defined(__CUDACC__)
  backends.cuda = true;
#endif
  return scan_variant<Scan>(
      origin, backends, []<class Op>(Op, const auto& scan, const Problem& problem, BoundScan& bound) {
        using Item = typename Op::Item;
        static_assert(
            requires(Emulator & machine, const Arrays<Emulator, Item>& arrays) {
              scan->run(machine, Counted<Op>{}, arrays, Workspace());
            },
            "a scan runs: it lacks `void run(Machine&, Op, simt::Arrays<Machine, typename Op::Item>, simt::Workspace) "
            "const`, or takes not this operator of this type, which kTakes would have to say");
        const std::size_t bytes = bound.plan.workspace_bytes;
        const auto run_on = [scan, bytes, n = problem.items](auto& machine, auto op, const Buffers& buffers) {
          using Machine = std::remove_reference_t<decltype(machine)>;
          scan->run(machine, op,
                    Arrays<Machine, Item>{machine.global(static_cast<const Item*>(buffers.in), n, "in"),
                                          machine.global(static_cast<Item*>(buffers.out), n, "out"), buffers.entries,
                                          buffers.count, buffers.unique},
                    Workspace(buffers.workspace, bytes));
        };
        constexpr bool kPrepares = requires(Emulator & emulator) {
          scan->prepare(emulator, Counted<Op>{}, Workspace());
        };
        if constexpr (kPrepares) {
          bound.prepare_simt = [scan, bytes](void* workspace, Emulator& emulator) {
            scan->prepare(emulator, Counted<Op>{}, Workspace(workspace, bytes));
          };
        }
        bound.simt = [run_on](const Buffers& buffers, Emulator& emulator) { run_on(emulator, Counted<Op>{}, buffers); };
#if defined(__CUDACC__)
        if constexpr (kPrepares) {
          bound.prepare_cuda = [scan, bytes](void* workspace, StreamHandle stream) {
            CudaMachine machine(static_cast<cudaStream_t>(stream));
            scan->prepare(machine, Op{}, Workspace(workspace, bytes));
          };
        }
        bound.cuda = [run_on](const Buffers& buffers, StreamHandle stream) {
          CudaMachine machine(static_cast<cudaStream_t>(stream));
          run_on(machine, Op{}, buffers);
        };
        cuda::bind_watch<Op>(scan, bound);
#endif
      });
}

}  // namespace scanlab::simt
