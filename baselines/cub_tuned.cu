// The newest CUB's scan in the shapes that `scanlab tune --rival cub` found to be the fastest on a device: tuned as
// `best` is, through CUB's public tuning interface. data/tuned/cub/ has the table: for each size of item a shape for
// small arrays and one for large ones, and others for operators that compute more than they move.
//
// An instantiation takes seconds to compile: none is spent on counts of 64 bits, and of exclusive scans only on that of
// i32 sums, which is timed.
#include "baselines/cub_shape.cuh"
#include "cub_tuned.hpp"
#include "harness/cuda/launch.cuh"

namespace scanlab {
namespace {

template <class Tuned>
constexpr std::size_t kItemBytes = with_monoid(Tuned::kType, Tuned::kOp,
                                               []<class Op>(Op) { return sizeof(typename Op::Item); });

/// Whether a shape was found for `Op` itself: for its operator, and items of its size.
template <class Op, class Tuned>
constexpr bool kIsOwn = Tuned::kOp == Op::kOperator&& kItemBytes<Tuned> == sizeof(typename Op::Item);

/// Whether it was found for what only moves items of that size, which most operators do.
template <class Op, class Tuned>
constexpr bool kIsOfSize =
    (Tuned::kOp == Operator::plus || Tuned::kOp == Operator::affine) && kItemBytes<Tuned> == sizeof(typename Op::Item);

/// The rows for `Op`: its own, or else those of its size.
template <class Op, class Tuned, class... Rest>
constexpr auto rows_for(std::tuple<Tuned, Rest...>) {
  if constexpr (kIsOwn<Op, Tuned> || (kIsOfSize<Op, Tuned> && !(kIsOwn<Op, Rest> || ...))) {
    return typename Tuned::Rows{};
  } else {
    static_assert(sizeof...(Rest) > 0, "the table of data/tuned/cub/ has no shape for items of this size");
    return rows_for<Op>(std::tuple<Rest...>{});
  }
}

/// Calls f with the last row that begins at n or before.
template <class F, class Row, class... Rest>
auto with_row(std::int64_t n, std::tuple<Row, Rest...>, F f) {
  if constexpr (sizeof...(Rest) > 0) {
    if (n >= std::tuple_element_t<0, std::tuple<Rest...>>::kFrom) return with_row(n, std::tuple<Rest...>{}, f);
  }
  return f(Row{});
}

struct CubTuned : CubScanIn<CubTuned> {
  using CubScanIn::CubScanIn;

  static constexpr bool kCountsSumsIn64Bits = false;
  template <class Op>
  static constexpr bool takes_exclusive() {
    return std::is_same_v<Op, Plus<std::int32_t>>;
  }

  static Description describe() {
    return {
        .id = "cub_tuned",
        .title = "CUB DeviceScan of CCCL " + newest_cccl() + ", tuned on " + kCubTunedOn,
        .source = "NVIDIA CCCL " + newest_cccl() +
                  ", cub/device/device_scan.cuh, with cuda::execution::tune: of both of its algorithms the shapes that "
                  "`scanlab tune --rival cub` found to be the fastest for the size of the item, by n",
        .family = "CUB",
        .label = "CUB, tuned",
        .limits = "up to 2^31 - 1 items; exclusive: i32 sums; shapes that look ahead: compute capability 9.0 and later",
        .in_place = true,               // "When d_in and d_out are equal, the scan is performed in-place"
        .bitwise_reproducible = false,  // without the requirement CUB promises none
        .cost = {.work = "O(n)", .span = "O(log n) a tile, then a chain of tiles", .traffic = "2n"},
    };
  }

  template <class Op>
  static std::string refusal(std::int64_t items) {
    return with_row(items, rows_for<Op>(CubTunedShapes{}), []<class Row>(Row) {
      constexpr bool kLooksAhead = std::is_same_v<std::remove_cvref_t<decltype(Row::kShape)>, CubLookAhead>;
      return kLooksAhead ? look_ahead_refusal(describe().id, cuda::compute_capability()) : std::string{};
    });
  }

  template <class Op, class F>
  static cudaError_t with_wish(std::int64_t items, F f) {
    return with_row(items, rows_for<Op>(CubTunedShapes{}), [&]<class Row>(Row) -> cudaError_t {
      return f.template operator()<CubAdd<Op, Row::kShape>>(::cuda::execution::tune(CubTuning<Row::kShape>{}));
    });
  }
};

const bool added = add_cub_scan<CubTuned, SCANLAB_PART, SCANLAB_PARTS>();

}  // namespace
}  // namespace scanlab
