// The baselines of the newest CCCL share this: its version, and the environments through which its users ask for an
// algorithm. Compiled against the headers that the build found in SCANLAB_CCCL, and left out where it found none.
//
// Two versions of CCCL meet in one program. CUB and Thrust carry their version in the names of their symbols; libcu++
// does not, and the linker would keep one of the two versions of each of its inline functions. The build gives the
// newest one's an inline namespace of their own (_LIBCUDACXX_ABI_NAMESPACE), and a test compares the symbols.
#pragma once

#include <cuda/memory_resource>
#include <cuda/std/execution>
#include <cuda/stream_ref>

#include <new>
#include <type_traits>
#include <utility>

#include "baselines/cub_compiled.hpp"
#include "baselines/cub_scan.cuh"

namespace scanlab {
namespace {

inline std::string newest_cccl() {
  return std::to_string(CCCL_MAJOR_VERSION) + "." + std::to_string(CCCL_MINOR_VERSION) + "." +
         std::to_string(CCCL_PATCH_VERSION);
}

/// The memory resource of an environment. CUB asks it for temporary storage in every call and gives it back after the
/// launch: this one hands out the workspace that the harness owns, so that a timing of CUB is not one of an allocator.
struct WorkspaceResource {
  void* memory;
  std::size_t bytes;
  std::size_t* asked;  ///< if not null, where to write what CUB asks for, before anything is enqueued

  void* allocate(::cuda::stream_ref, std::size_t wanted, std::size_t) { return allocate_sync(wanted, 0); }
  void deallocate(::cuda::stream_ref, void*, std::size_t, std::size_t) {}
  void* allocate_sync(std::size_t wanted, std::size_t) {
    if (asked != nullptr) *asked = wanted;
    if (memory == nullptr || wanted > bytes) throw std::bad_alloc();
    return memory;
  }
  void deallocate_sync(void*, std::size_t, std::size_t) {}
  bool operator==(const WorkspaceResource&) const = default;
};

/// DeviceScan in an environment: on `stream`, with storage from `resource`, and with what is wished for, a requirement
/// or a tuning. Exclusive scans are compiled where `exclusive` is true; `mode` is not looked at elsewhere. Inclusive
/// sums are added by `Add`, or by what CUB chooses where that is void.
template <class Op, bool exclusive, class Add = void, class Count, class Wish>
cudaError_t device_scan_in(Mode mode, const WorkspaceResource& resource, const typename Op::Item* in,
                           typename Op::Item* out, Count count, cudaStream_t stream, const Wish& wish) {
  namespace execution = ::cuda::std::execution;
  using Scan = cub::DeviceScan;
  const execution::env environment{execution::prop{::cuda::get_stream_t{}, ::cuda::stream_ref{stream}},
                                   execution::prop{::cuda::mr::get_memory_resource_t{}, resource}, wish};
  const auto from = cub_items(in);
  const auto to = cub_items(out);
  if constexpr (Op::kOperator == Operator::plus) {
    if constexpr (exclusive) {
      if (mode == Mode::exclusive) return Scan::ExclusiveSum(from, to, count, environment);
    }
    if constexpr (std::is_void_v<Add>) {
      return Scan::InclusiveSum(from, to, count, environment);
    } else {
      return Scan::InclusiveScan(from, to, Add{}, count, environment);
    }
  } else {
    const auto op = cub_operator<Op>();
    if constexpr (exclusive) {
      if (mode == Mode::exclusive) {
        return Scan::ExclusiveScan(from, to, op, cub_item(Op::identity()), count, environment);
      }
    }
    return Scan::InclusiveScan(from, to, op, count, environment);
  }
}

/// DeviceScan in an environment: the base of a `Scan` that describes itself and has a `with_wish<Op>(items, f)`, which
/// calls f with the requirement or the tuning that it asks CUB for, and may name the `Add` of device_scan_in.
/// `refusal<Op>(items)` may say why it cannot.
template <class Scan>
class CubScanIn {
 public:
  static constexpr bool kCountsSumsIn64Bits = true;
  template <class Op>
  static constexpr bool takes_exclusive() {
    return true;
  }
  template <class Op>
  static std::string refusal(std::int64_t) {
    return {};
  }

  explicit CubScanIn(const Problem& problem)
      : problem_(problem), enqueue_(find_compiled_cub_scan(problem, {Scan::describe().id, {}})) {}

  Plan plan() const {
    if (std::string reason = too_many_items<Scan>(problem_); !reason.empty()) return Plan::refuse(std::move(reason));
    Plan plan;
    with_monoid(problem_.type, problem_.op, [&]<class Op>(Op) {
      if (!Scan::template takes_exclusive<Op>() && problem_.mode == Mode::exclusive) {
        plan.refusal = Scan::describe().id + " is compiled for exclusive scans of i32 sums alone";
      } else {
        plan.refusal = Scan::template refusal<Op>(problem_.items);
      }
    });
    if (plan.possible()) {
      // It ends with an error, as a scan that gets no storage must.
      const cudaError_t error =
          enqueue_(problem_.mode, nullptr, 0, &plan.workspace_bytes, nullptr, nullptr, problem_.items, nullptr);
      if (plan.workspace_bytes == 0) {
        plan.refusal = std::string("CUB cannot say what workspace it needs: ") + cudaGetErrorString(error);
      }
    }
    plan.chain = cub_chain(problem_) + kLookAheadChain;
    return plan;
  }

  template <class Op>
  void run(cudaStream_t stream, Op, const typename Op::Item* in, typename Op::Item* out, void* workspace,
           std::size_t bytes) const {
    cuda::check(enqueue_(problem_.mode, workspace, bytes, nullptr, in, out, problem_.items, stream), "cub::DeviceScan");
  }

 private:
  Problem problem_;
  EnqueueCub enqueue_;
};

template <class Scan, class Op>
cudaError_t enqueue_in(Mode mode, void* storage, std::size_t bytes, std::size_t* asked, const void* in, void* out,
                       std::int64_t items, cudaStream_t stream) {
  using Item = typename Op::Item;
  return with_count<Scan, Op>(items, [&](auto count) {
    return Scan::template with_wish<Op>(
        items, [&]<class Add = void>(const auto& wish) {
          return device_scan_in<Op, Scan::template takes_exclusive<Op>(), Add>(
              mode, {storage, bytes, asked}, static_cast<const Item*>(in), static_cast<Item*>(out), count, stream,
              wish);
        });
  });
}

/// Registers a CubScanIn. This object file has one of `kParts` parts of its scans, which are about as much work.
template <class Scan, int kPart = 0, int kParts = 1>
bool add_cub_scan() {
  if constexpr (kPart == 0) Registration{cuda::cuda_scan<Scan>(Origin::baseline)};
  for_each_monoid([]<class Op>(ElementType type, Operator op, Op) {
    constexpr int kIndex = Op::kOperator.id[1] + static_cast<int>(kElementType<typename Op::Element>);
    if constexpr (takes<Scan, Op>() && kIndex % kParts == kPart) {
      compiled_cub_scans().push_back({type, op, {Scan::describe().id, {}}, enqueue_in<Scan, Op>});
    }
  });
  return true;
}

}  // namespace
}  // namespace scanlab
