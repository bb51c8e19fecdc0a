// Shared by what the newest CUB does with keys, segments and flags, in shapes of its public tuning interface: for i32,
// which the claims are about.
#pragma once

#include <array>

#include "baselines/cub_chain.hpp"
#include "baselines/cub_newest.cuh"

namespace scanlab {
namespace {

struct BlockShape {
  int threads;  ///< of a block
  int items;    ///< of a thread
  std::string name() const { return std::to_string(threads) + "x" + std::to_string(items); }
};

/// The arrays of a call.
struct TunedArrays {
  const void* entries;
  const std::int32_t* in;
  std::int32_t* out;
  std::uint64_t* count;   ///< where results are counted
  std::uint32_t* unique;  ///< where keys are wanted

  const std::uint32_t* keys() const { return static_cast<const std::uint32_t*>(entries); }  ///< or offsets
};

/// The base of a `Scan` that describes itself, and has an array kShapes, a class template Tuning<BlockShape> as
/// cuda::execution::tune takes it, and
///   template <class Environment>
///   static cudaError_t enqueue(const Problem&, const TunedArrays&, const Environment&);
/// A Tuning says how items are loaded and how long look-back waits, too: as in the fastest of CUB's own policies, or
/// what a search on an H200 found to be faster.
template <class Scan>
class CubTunedShapes {
 public:
  template <class Op>
  static constexpr bool kTakes = std::is_same_v<Op, Plus<std::int32_t>>;

  /// about: of the same with CUB's defaults. call: its name in CUB.
  static Description describe_tuned(Description about, const std::string& id, const std::string& call) {
    about.id = id;
    about.title = "CUB " + call + " of CCCL " + newest_cccl() + ", tuned";
    about.source = "NVIDIA CCCL " + newest_cccl() + ", cub::" + call + ", with cuda::execution::tune";
    about.label = "CUB, tuned";
    Parameter shape{"shape", {}, "threads of a block, and items of each: those near the fastest on an H200"};
    for (const BlockShape& each : Scan::kShapes) {
      shape.values.push_back(each.name());
      const SegmentsBy by = segments_by(about.primitive);
      const Segments segments{.by = by, .mean = 100, .width = have_flags(by) ? 1 : 4};
      about.checked.push_back({{1'000'003, 1, 1, segments}, {{"shape", each.name()}}});
    }
    about.parameters.push_back(std::move(shape));
    return about;
  }

  explicit CubTunedShapes(const Problem& problem)
      : problem_(problem), enqueue_(enqueue_in(setting(Scan::describe(), problem.settings, "shape"))) {}

  Plan plan() const {
    if (problem_.segments.width != 4 && !have_flags(problem_.segments.by))
      return Plan::refuse(Scan::describe().id + " is compiled for keys and offsets of 4 bytes: leave out --width");
    if (problem_.items > kMaxIn32Bits)
      return Plan::refuse(Scan::describe().id + " counts items in 32 bits: give --items 2^31-1 or fewer");
    Plan plan;
    // It ends with an error, as a scan that gets no storage must.
    const cudaError_t error = enqueue_(problem_, {nullptr, 0, &plan.workspace_bytes}, {}, nullptr);
    if (plan.workspace_bytes == 0 && error != cudaSuccess) {
      return Plan::refuse(std::string("CUB cannot say what workspace it needs: ") + cudaGetErrorString(error));
    }
    plan.chain = cub_chain(problem_);
    return plan;
  }

  template <class Op>
  void run(cudaStream_t stream, Op, const void* entries, const std::int32_t* in, std::int32_t* out,
           std::uint64_t* count, void* unique, void* workspace, std::size_t bytes) const {
    if (problem_.items == 0 && has_mode(problem_.segments.by)) return;  // else a count of 0 is written
    const TunedArrays arrays{entries, in, out, count, static_cast<std::uint32_t*>(unique)};
    cuda::check(enqueue_(problem_, {workspace, bytes, nullptr}, arrays, stream), "CUB, tuned");
  }

 private:
  using Enqueue = cudaError_t (*)(const Problem&, const WorkspaceResource&, const TunedArrays&, cudaStream_t);

  template <BlockShape kShape>
  static cudaError_t enqueue_with(const Problem& problem, const WorkspaceResource& resource, const TunedArrays& arrays,
                                  cudaStream_t stream) {
    namespace execution = ::cuda::std::execution;
    return Scan::enqueue(problem, arrays,
                         execution::env{execution::prop{::cuda::get_stream_t{}, ::cuda::stream_ref{stream}},
                                        execution::prop{::cuda::mr::get_memory_resource_t{}, resource},
                                        ::cuda::execution::tune(typename Scan::template Tuning<kShape>{})});
  }
  static Enqueue enqueue_in(const std::string& shape) {
    Enqueue found = nullptr;
    [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
      ((Scan::kShapes[kIndex].name() == shape ? void(found = &enqueue_with<Scan::kShapes[kIndex]>) : void()), ...);
    }
    (std::make_index_sequence<Scan::kShapes.size()>());
    return found;
  }

  Problem problem_;
  Enqueue enqueue_;
};

}  // namespace
}  // namespace scanlab
