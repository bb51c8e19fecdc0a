// peer_look_ahead: launches the kernel of peer_look_ahead.cuh, which says how it works.
#include "variants/distributed/peer_look_ahead.cuh"

#include <optional>
#include <tuple>
#include <vector>

#include "harness/distributed/algorithm.hpp"
#include "variants/distributed/peer_cut.hpp"
#include "variants/distributed/rank_device.hpp"
#include "variants/scan/look_ahead_roles.cuh"
#if defined(__CUDACC__)
#include "harness/cuda/launch.cuh"

namespace scanlab::distributed {
namespace {

constexpr scan::Shape shape_of(const TileForm& form) {
  return {.warps = form.warps, .vectors = form.vectors, .loading = form.loading};
}
static_assert(shape_of(kTileForms[0]).tile_bytes() == kTileForms[0].bytes());

struct PeerLookAhead {
  template <class Op>
  static constexpr bool kTakes = true;

  static Description describe() {
    Description about;
    about.id = "peer_look_ahead";
    about.title = "One pass over chunks dealt out to the GPUs";
    about.source = "Scanlab";
    about.family = "peer memory";
    Parameter tile{.name = "tile", .values = {kFits}, .meaning = "KiB of a tile; as the array fits", .small = "10"};
    for (const TileForm& each : kTileForms) tile.values.emplace_back(each.kib);
    about.parameters = {{.name = "chunk",
                         .values = {"128", "8", "16", "32", "64"},
                         .meaning = "tiles of a chunk, at most",
                         .small = "2"},
                        tile,
                        {.name = "tells",
                         .values = {kFits, "tile", "chunk"},
                         .meaning = "what GPUs tell each other of; as the array fits"},
                        {.name = "states",
                         .values = {"1", "2", "4"},
                         .meaning = "states per aggregate; more cost what as many times the GPUs would"}};
    about.limits = "any n; compute capability 9.0 and later; GPUs that are peers, 16 at most";
    about.cost = {.work = "about 2n", .span = "the tiles of a block", .traffic = "2n"};
    return about;
  }

  static constexpr const char* kFits = "fits";

  static PeerCut cut(const Problem& problem, int ranks) {
    return with_monoid(problem.type, problem.op, [&]<class Op>(Op) {
      constexpr auto kBytes = static_cast<std::int64_t>(sizeof(typename Op::Item));
      const std::string tile = setting(describe(), problem.settings, "tile");
      const auto most =
          static_cast<std::int64_t>(shared_bytes_of_block() / 2) - static_cast<std::int64_t>(sizeof(scan::Stage<Op>));
      const std::string tells = setting(describe(), problem.settings, "tells");
      const bool may = tells == kFits ? may_tell_of_tiles(Op::kHeavy, kBytes, ranks) : tells == "tile";
      const Share share{Op::kHeavy, kBytes, ceil_div(problem.items, ranks) * kBytes, multiprocessors_of_rank()};
      const TileForm form = tile == kFits ? tile_that_fits(share, may, ranks, most) : form_of(tile);
      const std::int64_t asked = std::stoll(setting(describe(), problem.settings, "chunk"));
      PeerCut cut = cut_in_chunks(problem.items, ranks, kBytes, form, asked);
      cut.by_tile = may && (tells != kFits || by_tile_is_faster(share, ranks, form));
      return cut;
    });
  }

  static Plan plan(const Problem& problem, int ranks) {
    if (std::string reason = peer_refusal(describe().id, ranks); !reason.empty())
      return Plan::refuse(std::move(reason));
    const PeerCut cut = PeerLookAhead::cut(problem, ranks);
    const auto [most_warps, heavy, group] = with_monoid(problem.type, problem.op, []<class Op>(Op) {
      return std::tuple{scan::kMaxReduceWarps<Op>, Op::kHeavy, std::int64_t{ToldGroups<Op>::kGroup}};
    });
    if (cut.form.warps > most_warps) {
      return Plan::refuse("peer_look_ahead has tiles of " + std::string(cut.form.kib) +
                          " KiB for operators that compute more than they move");
    }
    if (heavy && cut.by_tile) {
      return Plan::refuse(
          "peer_look_ahead tells of chunks, not of tiles, for operators that compute more than they move");
    }
    const Distribution distribution = cut.distribution(problem.items, ranks);
    // A thread's items, lanes and warps; the tiles of a chunk; the states of a group, and the groups.
    const std::int64_t in_a_tile =
        cut.form.vectors * cuda::kBulkBytes / item_bytes(problem.type, problem.op) + 5 + cut.form.warps;
    const std::int64_t groups = ceil_div(states_of_all(problem, distribution, cut), group);
    return {.distribution = distribution, .chain = in_a_tile + 8 + group / scan::kLanes + 5 + groups + 4};
  }

  static int states_per_aggregate(const Problem& problem) {
    return std::stoi(setting(describe(), problem.settings, "states"));
  }
  /// The states that GPUs tell each other.
  static std::int64_t states_of_all(const Problem& problem, const Distribution& distribution, const PeerCut& cut) {
    const std::int64_t chunks = ceil_div(problem.items, distribution.chunk);
    return chunks * (cut.by_tile ? cut.chunk_tiles : 1) * states_per_aggregate(problem);
  }

  template <class Op>
  class Rank {
   public:
    using Item = typename Op::Item;
    using Tiles = OwnTiles<Op>;
    using Told = ToldGroups<Op>;

    Rank(const Problem& problem, const Plan& plan, int rank)
        : distribution_(plan.distribution),
          cut_(cut(problem, distribution_.ranks)),
          peers_(
              ceil_div(states_of_all(problem, distribution_, cut_), Told::kGroup) * Told::kGroup * Told::State::kWords,
              distribution_.holders(), rank) {
      const std::int64_t held = distribution_.held(rank);
      const std::int64_t tiles = ceil_div(held, cut_.tile_items);
      const std::int64_t chunks = cut_.by_tile ? 0 : ceil_div(tiles, cut_.chunk_tiles);
      const std::int64_t states = chunks * Tiles::kGroup * Tiles::State::kWords;
      const auto take = [&](simt::Workspace workspace) {
        arguments_.counter = workspace.take<std::uint64_t>(1);
        arguments_.states = workspace.take<typename Tiles::State::Word>(states);
        return workspace.bytes();
      };
      memory_ = cuda::DeviceBuffer(take(simt::Workspace()));
      take(simt::Workspace(memory_.data()));
      simt::CudaMachine machine(nullptr);
      scan::prepare_tiles<typename Tiles::State::Word>(machine, arguments_.counter, scan::TileCounter::first(),
                                                       arguments_.states, states);
      cuda::check(cudaDeviceSynchronize(), "preparing states");

      const int blocks = static_cast<int>(std::min<std::int64_t>(tiles, multiprocessors_of_rank()));
      arguments_.n = held;
      arguments_.tiles = tiles;
      arguments_.mode = problem.mode;
      arguments_.shape =
          scan::with_stages<Op>(shape_of(cut_.form), ceil_div(tiles, std::max(blocks, 1)), shared_bytes_of_block());
      arguments_.in_bulk = true;  // a rank's arrays are aligned
      chunks_.chunk_tiles = cut_.chunk_tiles;
      chunks_.ranks = distribution_.ranks;
      chunks_.states = states_per_aggregate(problem);
      launch_.blocks = blocks;
      launch_.threads = arguments_.shape.threads() + scan::kLanes * PeerForm::kTells;
      launch_.shared_bytes = scan::shared_bytes<Op>(arguments_.shape);
      launch_.pdl = may_start_early();
      launch_.what = "peer_look_ahead";
      cuda::allow(kernel_, launch_);
      cuda::load(kernel_);
    }
    void connect(Communicator& communicator) {
      peers_.connect(communicator);
      chunks_.peers = peers_.peers();
    }

    void run(const Item* in, Item* out, StreamHandle stream) {
      if (arguments_.tiles == 0) return;
      arguments_.in = in;
      arguments_.out = out;
      cuda::launch(kernel_, launch_, static_cast<cudaStream_t>(stream), arguments_, chunks_);
    }

    void begin_watching() requires scan::kSpeaksForAll<Op> {
      roles_.emplace(launch_.blocks, arguments_.shape, PeerForm::kTells);
      arguments_.watched = roles_->cycles();
      kernel_ = kernel<cuda::CycleWatch>();
      cuda::allow(kernel_, launch_);
      cuda::load(kernel_);
    }
    std::vector<RoleCycles> cycles() const { return roles_->read(nullptr); }

    std::string waits_for(StreamHandle stream) const { return peers_.waits_for(static_cast<cudaStream_t>(stream)); }

   private:
    using Kernel = void (*)(scan::Arguments<Op>, PeerChunks);
    template <class Watch>
    Kernel kernel() const {
      if constexpr (!Op::kHeavy) {
        if (cut_.by_tile) return peer_look_ahead<Op, Watch, true>;
      }
      return peer_look_ahead<Op, Watch, false>;
    }

    Distribution distribution_;
    PeerCut cut_;
    PeerStateMemory peers_;
    cuda::DeviceBuffer memory_;
    scan::Arguments<Op> arguments_{};
    PeerChunks chunks_;
    cuda::LaunchShape launch_;
    Kernel kernel_ = kernel<cuda::NoWatch>();
    std::optional<scan::WatchedRoles> roles_;  ///< of a rank that is watched
  };
};

const AlgorithmRegistration kPeerLookAhead{algorithm<PeerLookAhead>(true)};

}  // namespace
}  // namespace scanlab::distributed
#endif
