// axis_exchange: every GPU folds the lines that it holds of a tensor, they exchange a fold for each column, every GPU
// scans its lines. axis_apart: the tensor is cut along another axis than that of the scan, and nobody exchanges
// anything.
//
// Idea    A recurrence along a sequence that is cut in one part per GPU needs, for each column, one item of the GPUs
//         before: what comes before its part. So each GPU reads its lines once for their folds, all gather these by
//         NCCL, and each scans from the fold of those before its own. A GPU with few columns cuts its own part again:
//         then strips of columns have a block each, and the second pass need not exchange anything.
// Work    3 n, and for each column and part a fold of the parts before it.
// Traffic 3 n: two reads and a write; over the links an item per column and part. axis_apart: 2 n, and nothing.
// Bits    Not reproducible for floats, as axis_columns.
// Source  Reduce-then-scan (Dotsenko et al. 2008), with a GPU as a block; for models, the passing of states between
//         parts of a sequence, as in Dao and Gu, "Transformers are SSMs", 2024.
#include "variants/distributed/axis_shards.cuh"

#include "variants/distributed/nccl_exchange.cuh"
#include "variants/scan_axis/fold_lines.cuh"
#if defined(__CUDACC__)
#include "harness/cuda/launch.cuh"

namespace scanlab::distributed {
namespace {

using scan_axis::Extents;

struct AxisExchange {
  template <class Op>
  static constexpr bool kTakes = kOfShards<Op>;

  static Description describe() {
    Description about = describe_shards();
    about.id = "axis_exchange";
    about.title = "Fold lines, gather by NCCL, scan lines";
    about.source = "Dotsenko et al. 2008, with a GPU as a block";
    about.family = "three passes";
    about.cost = {.work = "about 3n", .span = "of a GPU's scan", .traffic = "3n"};
    return about;
  }

  /// A rank has as many as give every multiprocessor a strip of the usual width, and divide the lines of all ranks.
  template <class Op>
  static std::int64_t parts(const Problem& problem, const Distribution& distribution) {
    constexpr std::int64_t kStrip = 256, kMostParts = 8;  // bytes of a line, and parts
    const std::int64_t most = multiprocessors_of_rank() * kStrip;
    const std::int64_t line = problem.rows * problem.inner * static_cast<std::int64_t>(sizeof(typename Op::Item));
    const std::int64_t lines = distribution.chunk / problem.inner, rest = problem.axis() % lines;
    std::int64_t parts = 1;
    while (2 * parts <= kMostParts && 2 * parts * line <= most && lines % (2 * parts) == 0 && rest % (2 * parts) == 0)
      parts *= 2;
    return parts;
  }
  /// Parts of rows, as rows.
  template <class Op>
  static Extents held(const Problem& problem, const Distribution& distribution, int rank) {
    const std::int64_t parts = AxisExchange::parts<Op>(problem, distribution);
    return {problem.rows * parts, distribution.held_of_row(rank) / problem.inner / parts, problem.inner};
  }

  template <class Op>
  static scan_axis::LineFold<Op> fold_of(const Extents& held) {
    return {held, multiprocessors_of_rank()};
  }

  static Plan plan(const Problem& problem, int ranks) {
    constexpr std::int64_t kMostColumns = std::int64_t{1} << 28;  // so that each has a thread, and a grid of parts fits
    if (problem.rows * problem.inner > kMostColumns) {
      return Plan::refuse("axis_exchange takes 2^28 rows and columns in all: choose smaller --rows or --inner");
    }
    const std::int64_t lines = std::max<std::int64_t>(ceil_div(problem.axis(), ranks), 1);
    Plan plan{.distribution = {problem.items, ranks, lines * problem.inner, problem.rows}};
    plan.chain = with_shard_monoid(problem, [&]<class Op>(Op) {
      const Extents first = held<Op>(problem, plan.distribution, 0);
      return fold_of<Op>(first).chain() + ShardScan<Op>::chain(first) + ranks * parts<Op>(problem, plan.distribution);
    });
    return with_nccl(std::move(plan));
  }

  template <class Op>
  class Rank {
   public:
    using Item = typename Op::Item;
    Rank(const Problem& problem, const Plan& plan, int rank)
        : parts_{.rows = problem.rows, .parts = parts<Op>(problem, plan.distribution), .inner = problem.inner},
          leads_(rank == 0 && parts_.parts == 1),
          fold_(fold_of<Op>(held<Op>(problem, plan.distribution, rank))),
          partial_(fold_.workspace_bytes()),
          folds_(static_cast<std::size_t>(parts_.count()) * sizeof(Item)),
          exchange_(rank, plan.distribution.ranks, parts_),
          scan_(held<Op>(problem, plan.distribution, rank), problem.mode) {}
    void connect(Communicator& communicator) { exchange_.connect(communicator); }
    /// The scan begins with whatever is in memory.
    void rehearse(const Item* in, Item* out, StreamHandle stream) {
      fold(in, static_cast<cudaStream_t>(stream));
      scan(in, out, static_cast<cudaStream_t>(stream));
    }

    void run(const Item* in, Item* out, StreamHandle handle) {
      const auto stream = static_cast<cudaStream_t>(handle);
      fold(in, stream);
      exchange_.run(folds_.template as<Item>(), stream);
      scan(in, out, stream);
    }

   private:
    void fold(const Item* in, cudaStream_t stream) const {
      cuda::check(fold_.try_run(partial_.data(), in, folds_.template as<Item>(), stream), "folding lines");
    }
    void scan(const Item* in, Item* out, cudaStream_t stream) const {
      scan_.run(in, out, leads_ ? nullptr : exchange_.before(), stream);
    }

    PartFolds parts_;
    bool leads_;  ///< nothing comes before it
    scan_axis::LineFold<Op> fold_;
    cuda::DeviceBuffer partial_;
    cuda::DeviceBuffer folds_;
    NcclExchange<Op> exchange_;
    ShardScan<Op> scan_;
  };
};

struct AxisApart {
  template <class Op>
  static constexpr bool kTakes = kOfShards<Op>;

  static Description describe() {
    Description about = describe_shards();
    about.id = "axis_apart";
    about.title = "A tensor cut along rows or columns: no exchange";
    about.source = "Scanlab";
    about.family = "no exchange";
    about.parameters = {{.name = "along", .values = {"columns", "rows"}, .meaning = "the axis that is cut"}};
    about.cost = {.work = "about 2n", .span = "of a GPU's scan", .traffic = "2n"};
    return about;
  }

  static bool by_rows(const Problem& problem) { return setting(describe(), problem.settings, "along") == "rows"; }
  static Extents held(const Problem& problem, const Distribution& distribution, int rank) {
    const std::int64_t items = distribution.held(rank), axis = problem.axis();
    if (items == 0) return {0, axis, problem.inner};
    if (by_rows(problem)) return {items / (axis * problem.inner), axis, problem.inner};
    return {problem.rows, axis, items / (problem.rows * axis)};
  }

  static Plan plan(const Problem& problem, int ranks) {
    const std::int64_t lines = std::max<std::int64_t>(problem.rows * problem.axis(), 1);
    const auto share = [&](std::int64_t count) { return std::max<std::int64_t>(ceil_div(count, ranks), 1); };
    Plan plan{.distribution = {problem.items, ranks, share(problem.inner), lines}};
    if (by_rows(problem))
      plan.distribution = {problem.items, ranks,
                           share(problem.rows) * std::max<std::int64_t>(problem.axis(), 1) * problem.inner};
    plan.chain = with_shard_monoid(
        problem, [&]<class Op>(Op) { return ShardScan<Op>::chain(held(problem, plan.distribution, 0)); });
    return plan;
  }

  template <class Op>
  class Rank {
   public:
    using Item = typename Op::Item;
    Rank(const Problem& problem, const Plan& plan, int rank)
        : scan_(held(problem, plan.distribution, rank), problem.mode) {}
    void run(const Item* in, Item* out, StreamHandle stream) {
      scan_.run(in, out, nullptr, static_cast<cudaStream_t>(stream));
    }

   private:
    ShardScan<Op> scan_;
  };
};

const AlgorithmRegistration kAxisExchange{algorithm<AxisExchange>(true)};
const AlgorithmRegistration kAxisApart{algorithm<AxisApart>(true)};

}  // namespace
}  // namespace scanlab::distributed
#endif
