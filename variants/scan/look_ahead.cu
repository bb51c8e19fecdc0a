// look_ahead: launches the kernel of look_ahead.cuh, which says how it works, in one of several shapes.
#include "variants/scan/look_ahead.cuh"

#include "variants/scan/look_ahead_experiments.cuh"
#include "variants/scan/look_ahead_roles.cuh"
#include "variants/scan/tile_plan.hpp"
#if defined(__CUDACC__)
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cuda/buffer.hpp"
#include "harness/cuda/error.hpp"
#include "harness/cuda/launch.cuh"
#include "harness/cuda/registration.cuh"

namespace scanlab::scan {
namespace {

/// The size of a tile in KiB, and the shape that gives it. Fewer, larger tiles cost less; more, smaller ones fill
/// the device sooner. Shapes of 14 warps are for heavy operators.
struct NamedShape {
  std::string_view tile;
  Shape shape;
};
constexpr NamedShape kShapes[] = {
    {"30", {.warps = 4, .vectors = 15, .loading = 2}}, {"36", {.warps = 8, .vectors = 9, .loading = 2}},
    {"28", {.warps = 8, .vectors = 7, .loading = 2}},  {"26", {.warps = 4, .vectors = 13, .loading = 2}},
    {"22", {.warps = 4, .vectors = 11, .loading = 3}}, {"18", {.warps = 4, .vectors = 9, .loading = 3}},
    {"12", {.warps = 8, .vectors = 3, .loading = 3}},  {"10", {.warps = 4, .vectors = 5, .loading = 4}},
    {"63", {.warps = 14, .vectors = 9, .loading = 2}}, {"49", {.warps = 14, .vectors = 7, .loading = 2}},
    {"35", {.warps = 14, .vectors = 5, .loading = 2}},
};

class LookAhead {
 public:
  static Description describe() {
    Description about;
    about.id = "look_ahead";
    about.title = "Persistent blocks, bulk copies, warp specialisation";
    about.source = "CUB's look-ahead scan for Blackwell (CCCL 3.4), in a form of its own";
    about.family = "single pass";
    Parameter tile{.name = "tile", .meaning = "KiB of a tile, and with it how a block is cut up"};
    for (const NamedShape& each : kShapes) tile.values.emplace_back(each.tile);
    about.parameters = {
        tile,
        {.name = "piece", .values = {"4", "1"}, .meaning = "KiB of a bulk load"},
        {.name = "stages",
         .values = {"all", "2", "3", "4", "5"},
         .meaning = "stages of the ring, at most; all that fit",
         .experiment = true},
        {.name = "loading",
         .values = {"tile", "1", "2", "3", "4", "all"},
         .meaning = "stages in flight; as the tile has them, or all that are free",
         .experiment = true},
        {.name = "assignment",
         .values = {"dynamic", "static"},
         .meaning = "tiles drawn by an atomic counter, or every k-th of k blocks",
         .experiment = true},
        {.name = "asking",
         .values = {"late", "at_once"},
         .meaning = "for states of a tile's own group after those before it, if tiles are many, or at once",
         .experiment = true},
        {.name = "folding",
         .values = {"kept", "repeated"},
         .meaning = "of heavy operators, what the reduce warps folded, kept for the scan warps or folded by them again",
         .experiment = true},
        {.name = "arrivals",
         .values = {"warp", "lane"},
         .meaning = "at a barrier, one per warp behind __syncwarp(), or one per lane",
         .experiment = true},
        {.name = "pdl", .values = {"yes", "no"}, .meaning = "programmatic dependent launch", .experiment = true}};
    about.limits = "any n; compute capability 9.0 and later";
    about.in_place = true;
    about.cost = {.work = "about 2n", .span = "the tiles of a block", .traffic = "2n"};
    return about;
  }

  explicit LookAhead(const Problem& problem)
      : problem_(problem),
        multiprocessors_(cuda::multiprocessors()),
        shape_(find_shape(problem.settings)),
        experiments_(asked_for()),
        pdl_(given("pdl") == "yes"),
        item_bytes_(static_cast<std::int64_t>(item_bytes(problem.type, problem.op))),
        tiles_(ceil_div(problem.items * item_bytes_, shape_.tile_bytes())) {
    with_monoid(problem.type, problem.op, [&]<class Op>(Op) {
      shape_.looking = looking_beside<Op>(shape_.warps);
      shape_ =
          with_stages<Op>(shape_, tiles_per_block(), cuda::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
    });
    if (const std::string most = given("stages"); most != "all")
      shape_ = shape_.of_stages(std::min(shape_.stages, std::stoi(most)));
    if (const std::string most = given("loading"); most == "all") {
      shape_.loading = shape_.stages;
    } else if (most != "tile") {
      shape_.loading = std::stoi(most);
    }
    shape_.loading = std::min(shape_.loading, shape_.stages);
  }

  Plan plan() const {
    if (cuda::compute_capability() < 90)
      return Plan::refuse("look_ahead needs compute capability 9.0: it copies in bulk");
    const int most_warps = with_monoid(problem_.type, problem_.op, []<class Op>(Op) { return kMaxReduceWarps<Op>; });
    if (shape_.warps > most_warps) {
      return Plan::refuse("look_ahead has tiles of " + setting(describe(), problem_.settings, "tile") +
                          " KiB for operators that compute more than they move");
    }
    if (experiments_.size() > 1) {
      return Plan::refuse("look_ahead takes one of " + words(experiments_.front()) + " and " +
                          words(experiments_.back()) + " at a time");
    }
    const std::size_t needs =
        with_monoid(problem_.type, problem_.op, [&]<class Op>(Op) { return shared_bytes<Op>(shape_); });
    const int most = cuda::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    if (needs > static_cast<std::size_t>(most)) {
      return Plan::refuse("look_ahead needs " + std::to_string(needs) + " bytes of shared memory for " +
                          std::to_string(shape_.stages) + " tiles of " + std::to_string(shape_.tile_bytes() >> 10) +
                          " KiB; a block of this device has " + std::to_string(most));
    }
    const bool known = with_monoid(problem_.type, problem_.op, [&]<class Op>(Op) {
      const LookAheadKernel<Op> asked = kernel<Op>();
      if (asked != nullptr) cuda::allow(asked, launch_shape<Op>());
      return asked != nullptr;
    });
    if (!known) {
      return Plan::refuse("look_ahead with " + words(experiments_.front()) + " is an experiment, and takes " +
                          std::string(experiments_.front().takes));
    }
    simt::Workspace workspace;
    const AggregateMemory parts(workspace, tiles_);
    return {.workspace_bytes = workspace.bytes(), .chain = shape_.chain(item_bytes_, tiles_)};
  }

  template <class Op>
  void prepare(cudaStream_t stream, Op, void* memory, std::size_t) const {
    simt::Workspace workspace(memory);
    AggregateMemory(workspace, tiles_).prepare<typename Op::Item>(stream, TileCounter::first());
  }

  template <class Op>
  void run(cudaStream_t stream, Op, const typename Op::Item* in, typename Op::Item* out, void* memory,
           std::size_t) const {
    if (tiles_ == 0) return;
    launch(kernel<Op>(), stream, in, out, memory, nullptr);
  }

  /// As `run`, once, with clocks; waits for its end.
  template <class Op>
  requires(kSpeaksForAll<Op>) std::vector<RoleCycles> watch(cudaStream_t stream, Op, const typename Op::Item* in,
                                                            typename Op::Item* out, void* memory)
  const {
    const cuda::LaunchShape shape = launch_shape<Op>();
    cuda::allow(look_ahead<Op, cuda::CycleWatch>, shape);
    const WatchedRoles roles(shape.blocks, shape_, 0);
    launch(look_ahead<Op, cuda::CycleWatch>, stream, in, out, memory, roles.cycles());
    return roles.read(stream);
  }

  /// As `run`; see BoundScan.
  template <class Op>
  requires(kSpeaksForAll<Op>) int timeline(cudaStream_t stream, Op, const typename Op::Item* in, typename Op::Item* out,
                                           void* memory, void* ns) const {
    if (tiles_ > cuda::kMaxWatchedTiles) return 0;
    cuda::allow(look_ahead<Op, cuda::PointWatch>, launch_shape<Op>());
    launch(look_ahead<Op, cuda::PointWatch>, stream, in, out, memory, ns);
    return static_cast<int>(tiles_);
  }

 private:
  std::vector<ExperimentalKernel> asked_for() const {
    std::vector<ExperimentalKernel> all;
    std::ranges::copy_if(kExperimentalKernels, std::back_inserter(all),
                         [&](const ExperimentalKernel& each) { return given(each.parameter) == each.value; });
    return all;
  }
  static std::string words(const ExperimentalKernel& experiment) {
    return std::string(experiment.parameter) + "=" + experiment.value;
  }

  static Shape find_shape(const Settings& settings) {
    const std::string tile = setting(describe(), settings, "tile");
    Shape shape = std::ranges::find(kShapes, tile, &NamedShape::tile)->shape;
    shape.piece_bytes = 1024 * std::stoi(setting(describe(), settings, "piece"));
    return shape;
  }

  std::string given(const char* parameter) const { return setting(describe(), problem_.settings, parameter); }
  std::int64_t tiles_per_block() const { return ceil_div(tiles_, std::max(multiprocessors_, 1)); }
  /// A block an SM.
  template <class Op>
  cuda::LaunchShape launch_shape() const {
    return {.blocks = static_cast<int>(std::min<std::int64_t>(tiles_, multiprocessors_)),
            .threads = shape_.threads(),
            .shared_bytes = shared_bytes<Op>(shape_),
            .pdl = pdl_};
  }

  /// nullptr: there is none for the experiment and the operator.
  template <class Op>
  LookAheadKernel<Op> kernel() const {
    return experiments_.empty() ? look_ahead<Op, cuda::NoWatch> : experimental_kernel<Op>(experiments_.front().what);
  }

  template <class Op>
  void launch(LookAheadKernel<Op> kernel, cudaStream_t stream, const typename Op::Item* in, typename Op::Item* out,
              void* memory, void* watched) const {
    using Item = typename Op::Item;
    simt::Workspace workspace(memory);
    const AggregateMemory parts(workspace, tiles_);
    const auto in_bulk =
        simt::CudaMachine::aligned(in, cuda::kBulkBytes) && simt::CudaMachine::aligned(out, cuda::kBulkBytes);
    cuda::launch(kernel, launch_shape<Op>(), stream,
                 Arguments<Op>{.in = in,
                               .out = out,
                               .n = problem_.items,
                               .tiles = tiles_,
                               .mode = problem_.mode,
                               .shape = shape_,
                               .in_bulk = in_bulk,
                               .counter = parts.number<std::uint64_t>(),
                               .states = parts.states<Item>(),
                               .watched = watched});
  }

  Problem problem_;
  int multiprocessors_;
  Shape shape_;
  std::vector<ExperimentalKernel> experiments_;  ///< that are asked for: one, if any
  bool pdl_;                                     ///< decided once: a launch must cost the host little
  std::int64_t item_bytes_;
  std::int64_t tiles_;
};

const Registration kLookAhead{cuda::cuda_scan<LookAhead>()};

}  // namespace
}  // namespace scanlab::scan
#endif
