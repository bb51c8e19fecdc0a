// Compiles every SCANLAB_PARTS-th candidate, from SCANLAB_PART on.
#include "baselines/cub_candidates/candidates.hpp"
#include "baselines/cub_compiled.hpp"
#include "baselines/cub_shape.cuh"

namespace scanlab {
namespace {

template <class Op, auto kShape>
cudaError_t enqueue(Mode, void* storage, std::size_t bytes, std::size_t* asked, const void* in, void* out,
                    std::int64_t items, cudaStream_t stream) {
  using Item = typename Op::Item;
  return device_scan_in<Op, false, CubAdd<Op, kShape>>(
      Mode::inclusive, {storage, bytes, asked}, static_cast<const Item*>(in), static_cast<Item*>(out),
      static_cast<int>(items), stream, ::cuda::execution::tune(CubTuning<kShape>{}));
}

/// Adds the candidates of one list, behind so many of other lists, that belong to this part.
template <class Op, auto kList, std::size_t kBefore>
void add_list() {
  constexpr std::size_t kFirst = (SCANLAB_PARTS + SCANLAB_PART - kBefore % SCANLAB_PARTS) % SCANLAB_PARTS;
  constexpr std::size_t kHere = kList.count > kFirst ? (kList.count - kFirst + SCANLAB_PARTS - 1) / SCANLAB_PARTS : 0;
  [&]<std::size_t... k>(std::index_sequence<k...>) {
    (compiled_cub_scans().push_back(
         {kElementType<typename Op::Element>,
          Op::kOperator,
          {kList.shapes[kFirst + k * SCANLAB_PARTS].kVariant, kList.shapes[kFirst + k * SCANLAB_PARTS].settings()},
          enqueue<Op, kList.shapes[kFirst + k * SCANLAB_PARTS]>}),
     ...);
  }
  (std::make_index_sequence<kHere>{});
}

/// The rows of all monoids one after another, so that each part gets as many as the next.
template <std::size_t kBefore, class Op, class... Rest>
void add_lists(std::tuple<Op, Rest...>) {
  constexpr auto kAhead = cub_look_ahead_candidates<Op>();
  constexpr auto kBack = cub_look_back_candidates<Op>();
  add_list<Op, kAhead, kBefore>();
  add_list<Op, kBack, kBefore + kAhead.count>();
  if constexpr (sizeof...(Rest) > 0) add_lists<kBefore + kAhead.count + kBack.count>(std::tuple<Rest...>{});
}

const bool added = [] {
  add_lists<0>(CubMonoids{});
  return true;
}();

}  // namespace
}  // namespace scanlab
