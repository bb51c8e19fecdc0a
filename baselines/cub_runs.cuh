// Shared by the baselines that fold, measure or deduplicate runs with CUB, of whichever CCCL the file is compiled with.
#pragma once

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_select.cuh>

#include "baselines/cub_axis.cuh"
#include "variants/runs/runs.hpp"

namespace scanlab {
namespace {

template <Primitive kPrimitive, class Op>
constexpr bool kCubFolds = kAxisSums<Op>&& runs::kFolded<kPrimitive, Op>;

/// How CUB calls what a primitive computes of runs.
struct CubName {
  const char* id;
  const char* header;
  const char* function;
};
constexpr CubName cub_name(Primitive primitive) {
  switch (primitive) {
    case Primitive::reduce_by_key:
      return {"reduce_by_key", "device_reduce.cuh", "DeviceReduce::ReduceByKey"};
    case Primitive::unique:
      return {"unique", "device_select.cuh", "DeviceSelect::Unique"};
    default:
      return {"run_lengths", "device_run_length_encode.cuh", "DeviceRunLengthEncode::Encode"};
  }
}

/// The base of a `Runs` that describes itself.
template <class Runs, Primitive kPrimitive>
class CubRuns {
 public:
  template <class Op>
  static constexpr bool kTakes = kCubFolds<kPrimitive, Op>;

  /// release: "", or what the newest has in its ids. version: of CCCL.
  static Description describe_cub_runs(const std::string& release, const std::string& version) {
    Description about;
    constexpr CubName kName = cub_name(kPrimitive);
    about.id = "cub_" + release + kName.id;
    about.title = std::string("CUB ") + kName.function + " of CCCL " + version;
    about.source = "NVIDIA CCCL " + version + ", cub/device/" + kName.header;
    about.primitive = kPrimitive;
    about.family = "CUB";
    about.limits = "keys of 4 bytes, up to 2^31 - 1 items";
    about.bitwise_reproducible = false;
    about.cost.traffic = runs::describe_runs(kPrimitive, false).cost.traffic;
    for (const std::int64_t n : {0, 1, 1000, 1'000'003}) {
      for (const std::int64_t mean : {1, 100}) {
        about.checked.push_back({{n, 1, 1, {segments_by(kPrimitive), mean, Lengths::random}}});
      }
    }
    return about;
  }

  explicit CubRuns(const Problem& problem) : problem_(problem) {}

  Plan plan() const {
    const std::string id = Runs::describe().id;
    if (problem_.segments.width != 4) return Plan::refuse(id + " is compiled for keys of 4 bytes: leave out --width");
    if (problem_.items > INT32_MAX) return Plan::refuse(id + " counts items in 32 bits: give --items 2^31-1 or fewer");
    Plan plan;
    with_monoid(problem_.type, problem_.op, [&]<class Op>(Op) {
      if constexpr (kCubFolds<kPrimitive, Op>) {
        cuda::check(enqueue<typename Op::Item>(nullptr, plan.workspace_bytes, nullptr, nullptr, nullptr, nullptr,
                                               nullptr, nullptr),
                    "asking CUB for its workspace");
      }
    });
    plan.chain = cub_chain(problem_);
    return plan;
  }

  template <class Op>
  void run(cudaStream_t stream, Op, const void* keys, const typename Op::Item* in, typename Op::Item* out,
           std::uint64_t* count, void* unique, void* workspace, std::size_t bytes) const {
    cuda::check(enqueue(workspace, bytes, static_cast<const std::uint32_t*>(keys), in,
                        static_cast<std::uint32_t*>(unique), out, count, stream),
                "CUB's fold of runs");
  }

 private:
  template <class Item>
  cudaError_t enqueue(void* workspace, std::size_t& bytes, const std::uint32_t* keys, const Item* in,
                      std::uint32_t* unique, Item* out, std::uint64_t* count, cudaStream_t stream) const {
    const auto items = static_cast<int>(problem_.items);
    if constexpr (kPrimitive == Primitive::reduce_by_key) {
      return cub::DeviceReduce::ReduceByKey(workspace, bytes, keys, unique, in, out, count, ::cuda::std::plus<>{},
                                            items, stream);
    } else if constexpr (kPrimitive == Primitive::unique) {
      return cub::DeviceSelect::Unique(workspace, bytes, keys, unique, count, items, stream);
    } else {
      return cub::DeviceRunLengthEncode::Encode(workspace, bytes, keys, unique, out, count, items, stream);
    }
  }
  Problem problem_;
};

}  // namespace
}  // namespace scanlab
