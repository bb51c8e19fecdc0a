// Shared by the baselines that scan by key or segments with CUB and Thrust: they differ in the function that they call.
#pragma once

#include "baselines/cub_axis.cuh"

namespace scanlab {
namespace {

/// Sums, in both modes: the base of a `Scan` that describes itself and has
///   template <class Item>
///   static cudaError_t enqueue(const Problem&, void* workspace, std::size_t& bytes, const std::uint32_t* entries,
///                              const Item* in, Item* out, cudaStream_t);
template <class Scan>
class CubSegments {
 public:
  template <class Op>
  static constexpr bool kTakes = kAxisSums<Op>;

  static Description describe_sums(Primitive primitive) {
    Description about;
    about.family = "CUB";
    about.primitive = primitive;
    about.limits = "keys or offsets of 4 bytes";
    about.bitwise_reproducible = false;
    about.cost.traffic = primitive == Primitive::scan_by_key ? "2n, and n keys" : "2n, and the offsets";
    for (const std::int64_t n : {0, 1, 1000, 1'000'003}) {
      for (const auto& [lengths, text] : kLengths) {
        about.checked.push_back({{n, 1, 1, {segments_by(primitive), 100, lengths}}});
      }
    }
    return about;
  }

  explicit CubSegments(const Problem& problem) : problem_(problem) {}

  Plan plan() const {
    if (problem_.segments.width != 4)
      return Plan::refuse(Scan::describe().id + " is compiled for keys and offsets of 4 bytes: leave out --width");
    Plan plan;
    const cudaError_t error = with_monoid(problem_.type, problem_.op, [&]<class Op>(Op) {
      using Item = typename Op::Item;
      if constexpr (kAxisSums<Op>) {
        return Scan::template enqueue<Item>(problem_, nullptr, plan.workspace_bytes, nullptr, nullptr, nullptr,
                                            nullptr);
      }
      return cudaSuccess;  // refused by whoever asked
    });
    if (error != cudaSuccess) {
      return Plan::refuse(std::string("CUB cannot say what workspace it needs: ") + cudaGetErrorString(error));
    }
    plan.chain = cub_chain(problem_);
    return plan;
  }

  template <class Op>
  void run(cudaStream_t stream, Op, const void* entries, const typename Op::Item* in, typename Op::Item* out,
           void* workspace, std::size_t bytes) const {
    if (problem_.items == 0) return;
    cuda::check(Scan::enqueue(problem_, workspace, bytes, static_cast<const std::uint32_t*>(entries), in, out, stream),
                "a vendor's scan of segments");
  }

 private:
  Problem problem_;
};

/// CUB's scan by key, of whichever CCCL the file is compiled with.
template <class Scan>
struct CubByKey : CubSegments<Scan> {
  using CubSegments<Scan>::CubSegments;

  template <class Item>
  static cudaError_t enqueue(const Problem& problem, void* workspace, std::size_t& bytes, const std::uint32_t* keys,
                             const Item* in, Item* out, cudaStream_t stream) {
    const auto scan = [&]<class Count>(Count count) {
      const ::cuda::std::equal_to<> equal;
      return problem.mode == Mode::inclusive
                 ? cub::DeviceScan::InclusiveSumByKey(workspace, bytes, keys, in, out, count, equal, stream)
                 : cub::DeviceScan::ExclusiveSumByKey(workspace, bytes, keys, in, out, count, equal, stream);
    };
    return problem.items <= kMaxIn32Bits ? scan(static_cast<std::uint32_t>(problem.items))
                                         : scan(static_cast<std::uint64_t>(problem.items));
  }
};

}  // namespace
}  // namespace scanlab
