// Shared by the baselines that select and partition with CUB, of whichever CCCL the file is compiled with.
#pragma once

#include <cub/device/device_partition.cuh>
#include <cub/device/device_select.cuh>

#include "harness/cuda/registration.cuh"
#include "variants/select/select.hpp"

namespace scanlab {
namespace {

/// DeviceSelect::Flagged or DevicePartition::Flagged: the base of a `Select` that describes itself.
template <class Select, Primitive kPrimitive>
class CubFlagged {
 public:
  template <class Op>
  static constexpr bool kTakes = select::kSelected<Op>;

  /// cccl: its name.
  static Description describe_flagged(const std::string& cccl) {
    Description about = select::describe_select(kPrimitive, true);
    about.title = std::string("CUB ") + (kPartition ? "DevicePartition" : "DeviceSelect") + " of " + cccl;
    about.source =
        "NVIDIA " + cccl + (kPartition ? ", cub/device/device_partition.cuh" : ", cub/device/device_select.cuh");
    about.family = "CUB";
    about.limits = "flags of a byte, up to 2^31 - 1 items";
    return about;
  }

  explicit CubFlagged(const Problem& problem) : problem_(problem) {}

  Plan plan() const {
    if (problem_.items > INT32_MAX) return Plan::refuse(Select::describe().id + " counts items in 32 bits");
    Plan plan;
    with_monoid(problem_.type, problem_.op, [&]<class Op>(Op) {
      if constexpr (select::kSelected<Op>) {
        cuda::check(
            enqueue<typename Op::Item>(nullptr, plan.workspace_bytes, nullptr, nullptr, nullptr, nullptr, nullptr),
            "asking CUB for its workspace");
      }
    });
    return plan;
  }

  template <class Op>
  void run(cudaStream_t stream, Op, const void* flags, const typename Op::Item* in, typename Op::Item* out,
           std::uint64_t* count, void* workspace, std::size_t bytes) const {
    cuda::check(enqueue(workspace, bytes, in, static_cast<const std::uint8_t*>(flags), out, count, stream),
                "CUB's selection");
  }

 private:
  template <class Item>
  cudaError_t enqueue(void* workspace, std::size_t& bytes, const Item* in, const std::uint8_t* flags, Item* out,
                      std::uint64_t* count, cudaStream_t stream) const {
    const int items = static_cast<int>(problem_.items);
    if constexpr (kPartition) {
      return cub::DevicePartition::Flagged(workspace, bytes, in, flags, out, count, items, stream);
    } else {
      return cub::DeviceSelect::Flagged(workspace, bytes, in, flags, out, count, items, stream);
    }
  }
  static constexpr bool kPartition = kPrimitive == Primitive::partition;

  Problem problem_;
};

}  // namespace
}  // namespace scanlab
