// Thrust's scan: the interface through which most users meet CUB.
#include <thrust/functional.h>
#include <thrust/scan.h>

#include "baselines/cub_scan.cuh"
#include "baselines/thrust_allocators.cuh"

namespace scanlab {
namespace {

template <class Op>
auto thrust_operator() {
  using Item = decltype(cub_item(Op::identity()));
  if constexpr (Op::kOperator == Operator::plus) {
    return thrust::plus<Item>{};
  } else if constexpr (Op::kOperator == Operator::max) {
    return thrust::maximum<Item>{};
  } else if constexpr (Op::kOperator == Operator::min) {
    return thrust::minimum<Item>{};
  } else {
    return Op{};
  }
}

class ThrustScan {
 public:
  /// The cases that the full sweep times: sums of every type, every operator of two. Thrust compiles each for counts of
  /// 32 and of 64 bits, and the rest takes longer to compile than all of cub_device_scan.
  template <class Op>
  static constexpr bool kTakes = Op::kOperator == Operator::plus ||
                                 (kBasic<Op> && (std::is_same_v<typename Op::Element, std::int32_t> ||
                                                 std::is_same_v<typename Op::Element, float>));

  static Description describe() {
    return {
        .id = "thrust_scan",
        .title = "Thrust inclusive_scan and exclusive_scan",
        .source = "NVIDIA CCCL, thrust/scan.h, with thrust::cuda::par_nosync and an allocator over a given workspace",
        .family = "Thrust",
        .label = "Thrust",
        .overview = false,
        .limits = "sums of every type; max, min and affine on i32 and f32",
        .in_place = true,               // "first may equal result", says its documentation
        .bitwise_reproducible = false,  // it calls CUB's scan, which promises none
        .cost = {.work = "O(n)", .span = "O(log n) a tile, then a chain of tiles", .traffic = "2n"},
    };
  }

  explicit ThrustScan(const Problem& problem) : problem_(problem) {}

  Plan plan() const {
    Plan plan = with_monoid(problem_.type, problem_.op, [&]<class Op>(Op) -> Plan {
      if constexpr (takes<ThrustScan, Op>()) {
        const typename Op::Item* const none = nullptr;
        return thrust_plan([&](auto& allocator) { scan<Op>(allocator, none, nullptr, nullptr); });
      }
      return {};  // refused by whoever asked
    });
    plan.chain = cub_chain(problem_);  // Thrust calls CUB's scan
    return plan;
  }

  template <class Op>
  void run(cudaStream_t stream, Op, const typename Op::Item* in, typename Op::Item* out, void* workspace,
           std::size_t bytes) const {
    BumpAllocator allocator(workspace, bytes);
    scan<Op>(allocator, in, out, stream);
  }

 private:
  template <class Op, class Allocator>
  void scan(Allocator& allocator, const typename Op::Item* in, typename Op::Item* out, cudaStream_t stream) const {
    const auto policy = thrust::cuda::par_nosync(allocator).on(stream);
    const auto first = thrust::device_pointer_cast(cub_items(in));
    const auto result = thrust::device_pointer_cast(cub_items(out));
    const auto op = thrust_operator<Op>();
    if (problem_.mode == Mode::inclusive) {
      thrust::inclusive_scan(policy, first, first + problem_.items, result, op);
    } else {
      thrust::exclusive_scan(policy, first, first + problem_.items, result, cub_item(Op::identity()), op);
    }
  }

  Problem problem_;
};

const Registration registration{cuda::cuda_scan<ThrustScan>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
