// Rows by CUB's segmented scan, of the newest CCCL: the offsets of the segments are computed by an iterator.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_segmented_scan.cuh>

#include "baselines/cub_axis.cuh"
#include "baselines/cub_newest.cuh"

namespace scanlab {
namespace {

struct BeginOfRow {
  std::int64_t row;
  __host__ __device__ std::int64_t operator()(std::int64_t i) const { return i * row; }
};

struct CubNewestSegmentedScan : CubAxis<CubNewestSegmentedScan> {
  using CubAxis::CubAxis;

  static Description describe() {
    Description about = describe_rows();
    about.id = "cub_newest_segmented_scan";
    about.title = "CUB DeviceSegmentedScan of CCCL " + newest_cccl();
    about.source = "NVIDIA CCCL " + newest_cccl() + ", cub/device/device_segmented_scan.cuh, with its defaults";
    about.label = "CUB, segmented";
    return about;
  }

  template <class Item>
  static cudaError_t enqueue(Mode mode, void* workspace, std::size_t& bytes, const Item* in, Item* out,
                             std::int64_t row, std::int64_t rows, cudaStream_t stream) {
    const auto begins = thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0), BeginOfRow{row});
    using Scan = cub::DeviceSegmentedScan;
    return mode == Mode::inclusive
               ? Scan::InclusiveSegmentedSum(workspace, bytes, in, out, begins, begins + 1, rows, stream)
               : Scan::ExclusiveSegmentedSum(workspace, bytes, in, out, begins, begins + 1, rows, stream);
  }
};

const Registration registration{cuda::cuda_scan<CubNewestSegmentedScan>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
