// CUB's segmented scan, of the newest CCCL.
#include <cub/device/device_segmented_scan.cuh>

#include "baselines/cub_newest.cuh"
#include "baselines/cub_segments.cuh"

namespace scanlab {
namespace {

struct CubNewestSegments : CubSegments<CubNewestSegments> {
  using CubSegments::CubSegments;

  static Description describe() {
    Description about = describe_sums(Primitive::segmented_scan);
    about.id = "cub_newest_segments";
    about.title = "CUB DeviceSegmentedScan of CCCL " + newest_cccl();
    about.source = "NVIDIA CCCL " + newest_cccl() + ", cub/device/device_segmented_scan.cuh, with its defaults";
    about.label = "CUB, segmented";
    return about;
  }

  template <class Item>
  static cudaError_t enqueue(const Problem& problem, void* workspace, std::size_t& bytes, const std::uint32_t* offsets,
                             const Item* in, Item* out, cudaStream_t stream) {
    using Scan = cub::DeviceSegmentedScan;
    const std::int64_t segments = problem.segments.entries(problem.items) - 1;
    return problem.mode == Mode::inclusive
               ? Scan::InclusiveSegmentedSum(workspace, bytes, in, out, offsets, offsets + 1, segments, stream)
               : Scan::ExclusiveSegmentedSum(workspace, bytes, in, out, offsets, offsets + 1, segments, stream);
  }
};

const Registration registration{cuda::cuda_scan<CubNewestSegments>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
