// Where the cycles of a look_ahead block's roles went, as its kernel with a CycleWatch says. On the host.
#pragma once

#include <vector>

#include "harness/core/variant.hpp"
#include "variants/scan/look_ahead_ring.cuh"
#if defined(__CUDACC__)
#include "harness/cuda/buffer.hpp"

namespace scanlab::scan {

/// The operators of which there are further kernels, that watch or that lack one of the ideas: sums of four bytes,
/// which speak for all.
template <class Op>
inline constexpr bool kSpeaksForAll = Op::kOperator == Operator::plus && sizeof(typename Op::Item) == 4;

/// Memory for the cycles of each warp of a grid, on the current device.
class WatchedRoles {
 public:
  /// tells: warps of a block that tell other GPUs of its tiles.
  WatchedRoles(int blocks, const Shape& shape, int tells)
      : reduce_warps_(shape.warps),
        tells_(tells),
        warps_(shape.threads() / kLanes + tells),
        cycles_(static_cast<std::size_t>(blocks * warps_) * sizeof(cuda::WarpCycles)) {}

  /// For the arguments of the kernel.
  cuda::WarpCycles* cycles() const { return cycles_.as<cuda::WarpCycles>(); }

  /// The cycles of the latest run in the stream, whose end it waits for.
  std::vector<RoleCycles> read(cudaStream_t stream) const {
    std::vector<cuda::WarpCycles> seen(cycles_.bytes() / sizeof(cuda::WarpCycles));
    cuda::check(cudaMemcpyAsync(seen.data(), cycles_.data(), cycles_.bytes(), cudaMemcpyDeviceToHost, stream),
                "reading cycles");
    cuda::check(cudaStreamSynchronize(stream), "watching a run");
    std::vector<RoleCycles> roles{{"load"}, {"look ahead"}, {"reduce"}, {"scan"}};
    if (tells_ > 0) roles.push_back({"tell"});
    for (RoleCycles& role : roles) {
      for (const char* what : cuda::kWaitNames) role.waiting[what] = 0;  // also where no warp has run
    }
    for (std::size_t i = 0; i < seen.size(); ++i) {
      RoleCycles& sum = roles[role_of(static_cast<int>(i) % warps_)];
      sum.total += static_cast<double>(seen[i].total);
      for (int w = 0; w < cuda::kWaits; ++w) {
        sum.waiting[cuda::kWaitNames[w]] += static_cast<double>(seen[i].waiting[w]);
      }
    }
    return roles;
  }

 private:
  /// As LookAheadBlock::run deals them out where one warp looks ahead, as it does for these operators.
  std::size_t role_of(int warp) const {
    if (warp < 2) return static_cast<std::size_t>(warp);
    return warp < 2 + reduce_warps_ ? 2 : warp < 2 + 2 * reduce_warps_ ? 3 : 4;
  }

  int reduce_warps_;
  int tells_;
  int warps_;  ///< of a block
  cuda::DeviceBuffer cycles_;
};

}  // namespace scanlab::scan
#endif
