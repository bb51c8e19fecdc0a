// Thrust's scan by key: the interface through which most users meet CUB's.
#include <thrust/scan.h>

#include "baselines/cub_segments.cuh"
#include "baselines/thrust_allocators.cuh"

namespace scanlab {
namespace {

struct ThrustByKey : CubSegments<ThrustByKey> {
  using CubSegments::CubSegments;

  static Description describe() {
    Description about = describe_sums(Primitive::scan_by_key);
    about.id = "thrust_by_key";
    about.title = "Thrust scan by key";
    about.source = "NVIDIA CCCL, thrust/scan.h: inclusive_scan_by_key, exclusive_scan_by_key";
    about.family = "Thrust";
    about.label = "Thrust";
    return about;
  }

  template <class Item>
  static cudaError_t enqueue(const Problem& problem, void* workspace, std::size_t& bytes, const std::uint32_t* keys,
                             const Item* in, Item* out, cudaStream_t stream) {
    const auto scan = [&](auto& allocator) {
      const auto policy = thrust::cuda::par_nosync(allocator).on(stream);
      const auto first = thrust::device_pointer_cast(keys);
      const auto values = thrust::device_pointer_cast(in);
      const auto results = thrust::device_pointer_cast(out);
      if (problem.mode == Mode::inclusive) {
        thrust::inclusive_scan_by_key(policy, first, first + problem.items, values, results);
      } else {
        thrust::exclusive_scan_by_key(policy, first, first + problem.items, values, results);
      }
    };
    try {
      if (workspace == nullptr) {
        bytes = asked_bytes(scan);
      } else {
        BumpAllocator allocator(workspace, bytes);
        scan(allocator);
      }
    } catch (const thrust::system_error& error) {
      return static_cast<cudaError_t>(error.code().value());
    }
    return cudaSuccess;
  }
};

const Registration registration{cuda::cuda_scan<ThrustByKey>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
