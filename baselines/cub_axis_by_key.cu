// Rows by CUB's scan by key, of the toolkit: the key of an item is the number of its row, which an iterator computes.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "baselines/cub_axis.cuh"

namespace scanlab {
namespace {

template <class Index>
struct RowOfItem {
  Index row;
  __host__ __device__ Index operator()(Index i) const { return i / row; }
};

struct CubAxisByKey : CubAxis<CubAxisByKey> {
  using CubAxis::CubAxis;

  static Description describe() {
    Description about = describe_rows();
    about.id = "cub_axis_by_key";
    about.title = "CUB DeviceScan by key, keys computed";
    about.source = "NVIDIA CCCL, cub/device/device_scan.cuh: InclusiveSumByKey over a transform iterator";
    about.label = "CUB, by key";
    return about;
  }

  template <class Item>
  static cudaError_t enqueue(Mode mode, void* workspace, std::size_t& bytes, const Item* in, Item* out,
                             std::int64_t row, std::int64_t rows, cudaStream_t stream) {
    const std::int64_t n = row * rows;
    const auto scan = [&]<class Index>(Index count) {
      const auto keys = thrust::make_transform_iterator(
          thrust::counting_iterator<Index>(0), RowOfItem<Index>{static_cast<Index>(std::max<std::int64_t>(row, 1))});
      const ::cuda::std::equal_to<> equal;
      return mode == Mode::inclusive
                 ? cub::DeviceScan::InclusiveSumByKey(workspace, bytes, keys, in, out, count, equal, stream)
                 : cub::DeviceScan::ExclusiveSumByKey(workspace, bytes, keys, in, out, count, equal, stream);
    };
    return n <= kMaxIn32Bits ? scan(static_cast<std::uint32_t>(n)) : scan(static_cast<std::uint64_t>(n));
  }
};

const Registration registration{cuda::cuda_scan<CubAxisByKey>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
