// Shared by the baselines that scan rows with CUB: they differ in the function that they call.
#pragma once

#include "baselines/cub_scan.cuh"

namespace scanlab {

/// Sums of four and of eight bytes: what the claims are about. Each takes CUB seconds to compile.
template <class Op>
inline constexpr bool kAxisSums = Op::kOperator == Operator::plus && sizeof(typename Op::Element) >= 4;

namespace {

/// Sums of rows, in both modes: the base of a `Scan` that describes itself and has
///   template <class Item>
///   static cudaError_t enqueue(Mode, void* workspace, std::size_t& bytes, const Item* in, Item* out,
///                              std::int64_t row, std::int64_t rows, cudaStream_t);
template <class Scan>
class CubAxis {
 public:
  template <class Op>
  static constexpr bool kTakes = kAxisSums<Op>;

  static Description describe_rows() {
    Description about;
    about.family = "CUB";
    about.primitive = Primitive::scan_axis;
    about.limits = "rows whose items lie side by side (inner 1)";
    about.bitwise_reproducible = false;
    about.cost.traffic = "2n";
    for (const Shape& shape :
         std::vector<Shape>{{0}, {1}, {1, 1000}, {33, 63}, {257, 1000}, {4096, 513}, {65537, 40}}) {
      about.checked.push_back({shape});
    }
    return about;
  }

  explicit CubAxis(const Problem& problem) : problem_(problem) {}

  Plan plan() const {
    if (problem_.inner != 1) return Plan::refuse(Scan::describe().id + " takes rows: leave out --inner");
    Plan plan;
    const cudaError_t error = with_monoid(problem_.type, problem_.op, [&]<class Op>(Op) {
      if constexpr (kAxisSums<Op>) return enqueue<Op>(nullptr, plan.workspace_bytes, nullptr, nullptr, nullptr);
      return cudaSuccess;  // refused by whoever asked
    });
    if (error != cudaSuccess) {
      return Plan::refuse(std::string("CUB cannot say what workspace it needs: ") + cudaGetErrorString(error));
    }
    plan.chain = std::min(cub_chain(problem_), problem_.axis());
    return plan;
  }

  template <class Op>
  void run(cudaStream_t stream, Op, const typename Op::Item* in, typename Op::Item* out, void* workspace,
           std::size_t bytes) const {
    if (problem_.items != 0) cuda::check(enqueue<Op>(workspace, bytes, in, out, stream), "CUB's scan of rows");
  }

 private:
  template <class Op>
  cudaError_t enqueue(void* workspace, std::size_t& bytes, const typename Op::Item* in, typename Op::Item* out,
                      cudaStream_t stream) const {
    return Scan::enqueue(problem_.mode, workspace, bytes, in, out, problem_.axis(), problem_.rows, stream);
  }

  Problem problem_;
};

}  // namespace
}  // namespace scanlab
