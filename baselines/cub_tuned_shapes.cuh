// Shared by the newest CUB's scans by key and of segments in shapes of their public tuning interface: for sums of i32,
// which the claims are about.
#pragma once

#include <array>

#include "baselines/cub_newest.cuh"
#include "baselines/cub_segments.cuh"

namespace scanlab {
namespace {

struct BlockShape {
  int threads;  ///< of a block
  int items;    ///< of a thread
  std::string name() const { return std::to_string(threads) + "x" + std::to_string(items); }
};

/// The base of a `Scan` that describes itself, and has an array kShapes and, as `environment` says,
///   template <BlockShape, class Environment>
///   static cudaError_t enqueue(const Problem&, const std::uint32_t* entries, const std::int32_t* in,
///                              std::int32_t* out, const Environment& environment);
template <class Scan>
class CubTunedShapes {
 public:
  template <class Op>
  static constexpr bool kTakes = std::is_same_v<Op, Plus<std::int32_t>>;

  static Description describe_tuned(Primitive primitive) {
    Description about = CubSegments<Scan>::describe_sums(primitive);
    about.label = "CUB, tuned";
    Parameter shape{"shape", {}, "threads of a block, and items of each: those near the fastest on an H200"};
    for (const BlockShape& each : Scan::kShapes) {
      shape.values.push_back(each.name());
      about.checked.push_back({{1'000'003, 1, 1, {segments_by(primitive), 100}}, {{"shape", each.name()}}});
    }
    about.parameters.push_back(std::move(shape));
    return about;
  }

  explicit CubTunedShapes(const Problem& problem)
      : problem_(problem), enqueue_(enqueue_in(setting(Scan::describe(), problem.settings, "shape"))) {}

  Plan plan() const {
    if (problem_.segments.width != 4)
      return Plan::refuse(Scan::describe().id + " is compiled for keys and offsets of 4 bytes: leave out --width");
    if (problem_.items > kMaxIn32Bits)
      return Plan::refuse(Scan::describe().id + " counts items in 32 bits: give --items 2^31-1 or fewer");
    Plan plan;
    // It ends with an error, as a scan that gets no storage must.
    const cudaError_t error =
        enqueue_(problem_, {nullptr, 0, &plan.workspace_bytes}, nullptr, nullptr, nullptr, nullptr);
    if (plan.workspace_bytes == 0 && error != cudaSuccess) {
      return Plan::refuse(std::string("CUB cannot say what workspace it needs: ") + cudaGetErrorString(error));
    }
    plan.chain = cub_chain(problem_);
    return plan;
  }

  template <class Op>
  void run(cudaStream_t stream, Op, const void* entries, const std::int32_t* in, std::int32_t* out, void* workspace,
           std::size_t bytes) const {
    if (problem_.items == 0) return;
    cuda::check(
        enqueue_(problem_, {workspace, bytes, nullptr}, static_cast<const std::uint32_t*>(entries), in, out, stream),
        "CUB's scan of segments");
  }

 private:
  using Enqueue = cudaError_t (*)(const Problem&, const WorkspaceResource&, const std::uint32_t*, const std::int32_t*,
                                  std::int32_t*, cudaStream_t);

  template <BlockShape kShape>
  static cudaError_t enqueue(const Problem& problem, const WorkspaceResource& resource, const std::uint32_t* entries,
                             const std::int32_t* in, std::int32_t* out, cudaStream_t stream) {
    namespace execution = ::cuda::std::execution;
    return Scan::template enqueue<kShape>(
        problem, entries, in, out,
        execution::env{execution::prop{::cuda::get_stream_t{}, ::cuda::stream_ref{stream}},
                       execution::prop{::cuda::mr::get_memory_resource_t{}, resource},
                       ::cuda::execution::tune(typename Scan::template Tuning<kShape>{})});
  }
  static Enqueue enqueue_in(const std::string& shape) {
    Enqueue found = nullptr;
    [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
      ((Scan::kShapes[kIndex].name() == shape ? void(found = &enqueue<Scan::kShapes[kIndex]>) : void()), ...);
    }
    (std::make_index_sequence<Scan::kShapes.size()>());
    return found;
  }

  Problem problem_;
  Enqueue enqueue_;
};

}  // namespace
}  // namespace scanlab
