// Thrust's scan: the interface through which most users meet CUB.
//
// `par_nosync` leaves out the synchronisation that Thrust's algorithms end with, and the allocator hands out the
// workspace that the harness owns: without the two, a timing of Thrust is a timing of cudaMalloc and a host round trip.
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/scan.h>
#include <thrust/system_error.h>

#include <cstddef>
#include <limits>
#include <new>

#include "baselines/cub_scan.cuh"

namespace scanlab {
namespace {

constexpr std::size_t kAlignment = 256;

constexpr std::size_t padded(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// Hands out one piece of memory from its start; throws std::bad_alloc rather than reach past its end.
class BumpAllocator {
 public:
  using value_type = char;
  BumpAllocator(void* memory, std::size_t bytes) : next_(static_cast<char*>(memory)), left_(bytes) {}

  char* allocate(std::ptrdiff_t bytes) {
    const std::size_t piece = padded(static_cast<std::size_t>(bytes));
    if (piece > left_) throw std::bad_alloc();
    left_ -= piece;
    return std::exchange(next_, next_ + piece);
  }
  void deallocate(char*, std::size_t) {}

 private:
  char* next_;
  std::size_t left_;
};

/// Learns what Thrust asks for: throws it back before anything is enqueued.
class AskingAllocator {
 public:
  struct Asked {
    std::size_t bytes;
  };
  using value_type = char;
  char* allocate(std::ptrdiff_t bytes) { throw Asked{padded(static_cast<std::size_t>(bytes))}; }
  void deallocate(char*, std::size_t) {}
};

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
    Plan plan;
    try {
      plan.workspace_bytes = with_monoid(problem_.type, problem_.op, [&]<class Op>(Op) -> std::size_t {
        if constexpr (takes<ThrustScan, Op>()) return asked_bytes<Op>();
        return 0;  // refused by whoever asked
      });
    } catch (const thrust::system_error& error) {
      return Plan::refuse(std::string("Thrust cannot say what workspace it needs: ") + error.what());
    }
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
  template <class Op>
  std::size_t asked_bytes() const {
    AskingAllocator allocator;
    try {
      scan<Op>(allocator, static_cast<const typename Op::Item*>(nullptr), nullptr, nullptr);
    } catch (const AskingAllocator::Asked& asked) {
      return asked.bytes;
    }
    return 0;
  }

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
