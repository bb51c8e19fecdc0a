// device_scan: scanlab::DeviceScan, the header for use in other programs, called as its users call it.
//
// Idea    One launch while the array fits into one_block, redundant_reduce or one_wave; then a small kernel that
//         prepares temporary storage, and look_ahead. A captured call takes one_cluster while the array fits, and
//         prepares the storage of one_wave, too.
// Work, span, traffic
//         of the kernel that is chosen: one of these, or decoupled_lookback.
// Bits    Fixed from compute capability 9.0 on for arrays of items as large as results that begin at multiples of 16
//         bytes; decoupled_lookback scans all others.
// Source  cub::DeviceScan for the signatures; the kernels are ours.
#if defined(__CUDACC__)
#include "include/scanlab/device_scan.cuh"

#include "harness/core/operators.hpp"
#include "harness/cuda/registration.cuh"
#include "variants/scan/tile_plan.hpp"

template <>
inline constexpr bool scanlab::kIsNumber<scanlab::Half> = true;

namespace scanlab::scan {
namespace {

class HeaderScan {
 public:
  static Description describe() {
    Description about;
    about.id = "device_scan";
    about.title = "scanlab::DeviceScan, the header for other programs";
    about.source = "cub::DeviceScan for the signatures";
    about.family = "tuned choice";
    about.overview = false;
    about.in_place = true;
    about.bitwise_reproducible = cuda::compute_capability() >= 90;
    about.cost = {.work = "of the chosen", .span = "of the chosen", .traffic = "2n"};
    return about;
  }

  /// Sums of all types; of 4 bytes a function without identity, and one whose operands may not change places.
  template <class Op>
  static constexpr bool kTakes = Op::kOperator == Operator::plus ||
                                 (sizeof(typename Op::Element) == 4 &&
                                  (Op::kOperator == Operator::max || Op::kOperator == Operator::affine));

  explicit HeaderScan(const Problem& problem) : problem_(problem) {}

  Plan plan() const {
    std::size_t bytes = 0;
    with_monoid(problem_.type, problem_.op, [&]<class Op>(Op op) {
      if constexpr (takes<HeaderScan, Op>()) scan<Op>(nullptr, bytes, op, nullptr, nullptr, nullptr);
    });
    // At worst that of look-back: every tile adds its aggregate to its neighbour's prefix.
    const auto items = static_cast<std::int64_t>(item_bytes(problem_.type, problem_.op));
    return {.workspace_bytes = bytes,
            .chain = problem_.items * items / (16 << 10) + 2 * tile_chain(problem_, 15, kMaxWarps)};
  }

  template <class Op>
  void run(cudaStream_t stream, Op op, const typename Op::Item* in, typename Op::Item* out, void* storage,
           std::size_t bytes) const {
    cuda::check(scan(storage, bytes, op, in, out, stream), "scanlab::DeviceScan");
  }

 private:
  template <class Op>
  cudaError_t scan(void* storage, std::size_t& bytes, Op op, const typename Op::Item* in, typename Op::Item* out,
                   cudaStream_t stream) const {
    const std::int64_t n = problem_.items;
    if constexpr (Op::kOperator == Operator::plus) {
      return problem_.mode == Mode::inclusive ? DeviceScan::InclusiveSum(storage, bytes, in, out, n, stream)
                                              : DeviceScan::ExclusiveSum(storage, bytes, in, out, n, stream);
    } else {
      return problem_.mode == Mode::inclusive
                 ? DeviceScan::InclusiveScan(storage, bytes, in, out, op, n, stream)
                 : DeviceScan::ExclusiveScan(storage, bytes, in, out, op, Op::identity(), n, stream);
    }
  }

  Problem problem_;
};

const Registration kHeaderScan{cuda::cuda_scan<HeaderScan>()};

}  // namespace
}  // namespace scanlab::scan
#endif
