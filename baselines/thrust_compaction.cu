// Thrust's selection, and its folds, lengths and keys of runs. In the toolkit's CCCL 3.0, the first calls CUB, and the
// others have kernels of Thrust. The host waits for the number of results, and sends it to where the harness verifies
// it.
#include <thrust/copy.h>
#include <thrust/functional.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/reduce.h>
#include <thrust/unique.h>

#include "baselines/thrust_allocators.cuh"
#include "harness/cuda/registration.cuh"
#include "variants/runs/runs.hpp"
#include "variants/select/select.hpp"

namespace scanlab {
namespace {

template <Primitive kPrimitive>
class ThrustCompaction {
 public:
  /// Sums of i32 alone, as the sweeps time them: each type is compiled for counts of 32 and of 64 bits.
  template <class Op>
  static constexpr bool kTakes = std::is_same_v<Op, Plus<std::int32_t>>;

  static Description describe() {
    Description about = kPrimitive == Primitive::select ? select::describe_select(kPrimitive, true)
                                                        : runs::describe_runs(kPrimitive, true);
    const std::string function = kPrimitive == Primitive::select   ? "copy_if"
                                 : kPrimitive == Primitive::unique ? "unique_copy"
                                                                   : "reduce_by_key";
    about.id = "thrust_" + std::string(name(kPrimitive));
    about.title = "Thrust " + function;
    about.source = "NVIDIA CCCL, thrust::" + function + " with par_nosync and an allocator over a given workspace";
    about.family = "Thrust";
    about.label = "Thrust";
    if (kPrimitive != Primitive::select) {
      about.limits = "keys of 4 bytes";
      std::erase_if(about.checked, [](const CheckedShape& each) { return each.shape.segments.width != 4; });
    }
    about.waits_on_host = true;
    return about;
  }

  explicit ThrustCompaction(const Problem& problem) : problem_(problem) {}

  Plan plan() const {
    if (kPrimitive != Primitive::select && problem_.segments.width != 4) {
      return Plan::refuse(describe().id + " is compiled for keys of 4 bytes: leave out --width");
    }
    return thrust_plan(
        [&](auto& allocator) { results<std::int32_t>(allocator, {}, nullptr, nullptr, nullptr, nullptr); });
  }

  template <class Op>
  void run(cudaStream_t stream, Op, const void* entries, const typename Op::Item* in, typename Op::Item* out,
           std::uint64_t* count, void* unique, void* workspace, std::size_t bytes) const {
    BumpAllocator allocator(workspace, bytes);
    const std::uint64_t found = results(allocator, stream, entries, in, out, unique);
    cuda::check(cudaMemcpyAsync(count, &found, sizeof found, cudaMemcpyHostToDevice, stream), "sending the count");
  }

 private:
  /// Returns how many there are.
  template <class Item, class Allocator>
  std::uint64_t results(Allocator& allocator, cudaStream_t stream, const void* entries, const Item* in, Item* out,
                        void* unique) const {
    const auto policy = thrust::cuda::par_nosync(allocator).on(stream);
    const auto items = thrust::device_pointer_cast(in);
    const auto result = thrust::device_pointer_cast(out);
    if constexpr (kPrimitive == Primitive::select) {
      const auto flags = thrust::device_pointer_cast(static_cast<const std::uint8_t*>(entries));
      return thrust::copy_if(policy, items, items + problem_.items, flags, result, ::cuda::std::identity{}) - result;
    } else {
      const auto keys = thrust::device_pointer_cast(static_cast<const std::uint32_t*>(entries));
      const auto last = keys + problem_.items;
      const auto firsts = thrust::device_pointer_cast(static_cast<std::uint32_t*>(unique));
      if constexpr (kPrimitive == Primitive::unique) {
        return thrust::unique_copy(policy, keys, last, firsts) - firsts;
      } else if constexpr (kPrimitive == Primitive::reduce_by_key) {
        return thrust::reduce_by_key(policy, keys, last, items, firsts, result).first - firsts;
      } else {
        return thrust::reduce_by_key(policy, keys, last, thrust::make_constant_iterator(Item{1}), firsts, result)
                   .first -
               firsts;
      }
    }
  }

  Problem problem_;
};

const Registration of_select{cuda::cuda_scan<ThrustCompaction<Primitive::select>>(Origin::baseline)};
const Registration reduce_by_key{cuda::cuda_scan<ThrustCompaction<Primitive::reduce_by_key>>(Origin::baseline)};
const Registration run_lengths{cuda::cuda_scan<ThrustCompaction<Primitive::run_length_encode>>(Origin::baseline)};
const Registration unique{cuda::cuda_scan<ThrustCompaction<Primitive::unique>>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
