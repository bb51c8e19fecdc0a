// peer_axis: several GPUs scan along an axis of one tensor in one pass, each by the kernel of axis_columns.
//
// Idea    The lines of the tensor are dealt out in chunks of a few bands of tiles, so that all GPUs work on
// neighbouring
//         parts of it at any time. Each tile's folds, one for each column, are stored in every GPU's copy of the states
//         as soon as they are known. A block folds the tiles of all GPUs since its own last one.
// Work    As axis_columns, where a team is as many times larger as there are GPUs.
// Traffic 2 n over all GPUs; over the links, for each tile and peer, two bytes for each byte of a line.
// Bits    Not reproducible for floats, as axis_columns.
// Safe    See peer_states.cuh; on each GPU as axis_columns. A strip has the same blocks on each GPU, and a block waits
//         for those of its strip alone, and a bounded time for other strips of its GPU. Blocks start in the order of
//         their numbers, as one_wave counts on, too: so the first strips have blocks on every GPU.
// Source  Scanlab.
#include "variants/distributed/axis_shards.cuh"
#include "variants/distributed/peer_columns.cuh"
#if defined(__CUDACC__)

namespace scanlab::distributed {
namespace {

struct PeerAxis {
  template <class Op>
  static constexpr bool kTakes = kOfShards<Op>;

  static Description describe() {
    Description about = describe_shards();
    about.id = "peer_axis";
    about.title = "One pass along an axis, over lines dealt out to the GPUs";
    about.source = "Scanlab";
    about.family = "peer memory";
    about.parameters = {{.name = "chunk",
                         .values = {"2", "1", "4", "8", "16"},
                         .meaning = "bands of tiles that are dealt out together"}};
    about.limits = "lines of a multiple of 16 bytes; compute capability 9.0 and later; GPUs that are peers, 16 at most";
    about.cost = {.work = "about 2n", .span = "the tiles of a block", .traffic = "2n"};
    return about;
  }

  /// How the lines of each rank are cut, on all ranks alike but for the number of bands; and the bands of a chunk.
  struct Cut {
    scan_axis::ColumnTiles tiles;
    int chunk;
    std::int64_t chunk_items(std::int64_t inner) const { return std::int64_t{chunk} * tiles.lines() * inner; }
  };
  template <class Op>
  static Cut cut(const Problem& problem, int ranks) {
    using Block = scan_axis::ColumnBlock<Op, true, PeerColumns>;
    const std::int64_t lines = ceil_div(problem.rows * problem.axis(), ranks);
    const scan_axis::ColumnTiles tiles(1, lines, problem.inner / Block::kVector, Block::kUnit, true,
                                       multiprocessors_of_rank(), Kernel<Op>::stage_bytes(shared_bytes_of_block()),
                                       sizeof(typename Block::Items), ranks);
    return {tiles, std::stoi(setting(describe(), problem.settings, "chunk"))};
  }

  static Plan plan(const Problem& problem, int ranks) {
    if (std::string reason = peer_refusal(describe().id, ranks); !reason.empty())
      return Plan::refuse(std::move(reason));
    const auto line = problem.inner * static_cast<std::int64_t>(item_bytes(problem.type, problem.op));
    if (line % 16 != 0) {
      return Plan::refuse("peer_axis takes lines of a multiple of 16 bytes, not of " + std::to_string(line) +
                          ": choose another --inner, or axis_exchange");
    }
    return with_shard_monoid(problem, [&]<class Op>(Op) -> Plan {
      const Cut cut = PeerAxis::cut<Op>(problem, ranks);
      return {.distribution = {problem.items, ranks, cut.chunk_items(problem.inner)},
              .chain = std::min(cut.tiles.chain() + ranks * cut.tiles.bands, problem.axis())};
    });
  }

  template <class Op>
  using Kernel = scan_axis::ColumnKernel<Op, true, PeerColumns>;

  template <class Op>
  class Rank {
   public:
    using Item = typename Op::Item;
    using State = typename Kernel<Op>::Block::State;

    Rank(const Problem& problem, const Plan& plan, int rank)
        : cut_(cut<Op>(problem, plan.distribution.ranks)),
          tiles_(ceil_div(problem.rows * problem.axis(), std::int64_t{cut_.tiles.lines()}) * cut_.tiles.strips),
          peers_(PeerColumns::words(tiles_, cut_.tiles.width, State::kWords), plan.distribution.holders(), rank) {
      arguments_.lines = plan.distribution.held(rank) / problem.inner;
      arguments_.inner = problem.inner;
      arguments_.rows = scan_axis::Rows(std::max<std::int64_t>(problem.axis(), 1));
      arguments_.cut = cut_.tiles;
      arguments_.cut.stack_lines = arguments_.lines;
      arguments_.cut.bands = ceil_div(arguments_.lines, std::int64_t{cut_.tiles.lines()});
      prepare_counters(arguments_.cut);
      arguments_.mode = problem.mode;
      arguments_.form.chunk = cut_.chunk;
      arguments_.form.ranks = plan.distribution.ranks;
      arguments_.form.tiles = PeerColumns::even(tiles_);
      cuda::check(Kernel<Op>::try_allow(shared_bytes_of_block()), "asking for shared memory");
      cuda::load(scan_axis::axis_columns<Op, true, PeerColumns>);
    }
    void connect(Communicator& communicator) {
      peers_.connect(communicator);
      arguments_.form.peers = peers_.peers();
    }

    void run(const Item* in, Item* out, StreamHandle stream) {
      if (arguments_.lines == 0) return;
      arguments_.in = in;
      arguments_.out = out;
      cuda::check(Kernel<Op>::try_launch(arguments_, multiprocessors_of_rank(), may_start_early(),
                                         static_cast<cudaStream_t>(stream)),
                  "launching peer_axis");
    }

    std::string waits_for(StreamHandle stream) const { return peers_.waits_for(static_cast<cudaStream_t>(stream)); }

   private:
    void prepare_counters(const scan_axis::ColumnTiles& tiles) {
      const auto strips = static_cast<std::size_t>(tiles.strips), steps = static_cast<std::size_t>(tiles.steps());
      counters_ = cuda::DeviceBuffer(strips * sizeof(std::uint64_t) + steps * sizeof(std::uint32_t));
      cuda::check(cudaMemset(counters_.data(), 0, counters_.bytes()), "preparing counters");
      cuda::check(cudaDeviceSynchronize(), "preparing counters");
      arguments_.counters = counters_.template as<std::uint64_t>();
      arguments_.begun = reinterpret_cast<std::uint32_t*>(arguments_.counters + strips);
    }

    Cut cut_;
    std::int64_t tiles_;  ///< of all ranks
    PeerStateMemory peers_;
    cuda::DeviceBuffer counters_;
    scan_axis::ColumnArguments<Op, PeerColumns> arguments_{.rows = scan_axis::Rows(1), .cut = cut_.tiles};
  };
};

const AlgorithmRegistration kPeerAxis{algorithm<PeerAxis>(true)};

}  // namespace
}  // namespace scanlab::distributed
#endif
