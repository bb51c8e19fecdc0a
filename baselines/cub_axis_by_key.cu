// Rows by CUB's scan by key, of the toolkit: the key of an item is the number of its row, which an iterator computes.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "baselines/cub_axis.cuh"
#include "variants/scan_axis/segments.cuh"

namespace scanlab {
namespace {

/// The number of an item's row, by a multiplication: a division takes dozens of instructions.
/// Source: Lemire, Kaser and Kurz, "Faster remainder by direct computation", 2019, for numbers of 32 bits.
template <class Index>
struct RowOfItem {
  std::uint64_t reciprocal;  ///< ceil(2^64 / items of a row); 0 for 1
  explicit RowOfItem(std::uint64_t row) : reciprocal(~std::uint64_t{0} / row + 1) {}
  __host__ __device__ Index operator()(Index i) const {
#if defined(__CUDA_ARCH__)
    return reciprocal == 0 ? i : static_cast<Index>(__umul64hi(reciprocal, i));
#else
    __extension__ using Wide = unsigned __int128;
    return reciprocal == 0 ? i : static_cast<Index>(Wide{reciprocal} * i >> 64);
#endif
  }
};
/// Beyond 32 bits, where its row begins, which serves as well.
template <>
struct RowOfItem<std::uint64_t> {
  scan_axis::Rows rows;
  explicit RowOfItem(std::uint64_t row) : rows(static_cast<std::int64_t>(row)) {}
  __host__ __device__ std::uint64_t operator()(std::uint64_t i) const {
    const auto place = static_cast<std::int64_t>(i);
    return static_cast<std::uint64_t>(place - rows.column(place));
  }
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
      const auto keys =
          thrust::make_transform_iterator(thrust::counting_iterator<Index>(0),
                                          RowOfItem<Index>(static_cast<std::uint64_t>(std::max<std::int64_t>(row, 1))));
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
