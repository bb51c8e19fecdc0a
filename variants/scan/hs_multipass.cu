// hs_multipass: Hillis and Steele's scan over global memory, one launch a step, any n.
//
// Idea    The end of a launch is the barrier that a grid otherwise lacks. The two buffers are the output and one
//         workspace array; the first step reads the input, and the parity of the number of steps decides which buffer
//         it writes, so that the last step writes the output.
// Work    n ceil(log2 n) - 2^ceil(log2 n) + 1 additions.
// Span    ceil(log2 n) launches.
// Traffic about 3 n ceil(log2 n): each step reads every item, the item 2^d to its left, and writes every item.
// Source  Hillis and Steele, "Data parallel algorithms", CACM 29(12), 1986.
#include "variants/scan/hs_steps.cuh"

namespace scanlab::scan {
namespace {

constexpr int kThreads = 256;

struct HsStepKernel {
  static constexpr const char* kName = "hs_step";
  static constexpr int kMaxThreads = kThreads;

  /// Writes to[i] = op(from(i - offset), from(i)), with from(i) = from[i - shift] and the identity left of that.
  /// from, to: n items in global memory, different arrays. `shift` is 1 in the first step of an exclusive scan (which
  /// is the inclusive scan of the input shifted right by one), else 0. offset 0 only copies.
  template <simt::ThreadBlock Block, Monoid Op>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, const typename Op::Item> from,
                             simt::Global<Block, typename Op::Item> to, std::int64_t n, std::int64_t offset, int shift,
                             Op op) const {
    using Item = typename Op::Item;
    block.step("step", offset);
    const std::int64_t i = block.group_index() * block.num_threads() + block.thread_rank();
    if (i >= n) return;
    Item item = Op::identity();
    if (i >= shift) item = from[i - shift];
    if (offset > 0 && i >= offset) {
      Item left = Op::identity();
      if (i - offset >= shift) left = from[i - offset - shift];
      item = op(left, item);
    }
    to[i] = item;
  }
};

struct HsMultipass {
  explicit HsMultipass(const Problem& problem) : problem_(problem) {}

  template <class Op>
  static constexpr bool kTakes = kClassic<Op>;

  static Description describe() {
    Description about;
    about.id = "hs_multipass";
    about.title = "Hillis-Steele over global memory, one launch a step";
    about.source = "Hillis and Steele 1986";
    about.family = "Hillis–Steele";
    about.cost = hs_cost("about 3 n ceil(log2 n)");
    return about;
  }

  Plan plan() const {
    simt::Workspace workspace;
    workspace.take<std::byte>(problem_.items * static_cast<std::int64_t>(item_bytes(problem_.type, problem_.op)));
    return {.workspace_bytes = workspace.bytes(), .chain = ceil_log2(problem_.items)};
  }

  template <class Machine, Monoid Op>
  void run(Machine& machine, Op op, simt::Arrays<Machine, typename Op::Item> arrays, simt::Workspace workspace) const {
    using Item = typename Op::Item;
    using ConstItems = typename Machine::template Global<const Item>;
    const std::int64_t n = problem_.items;
    auto target = arrays.out;
    auto other = machine.global(workspace.take<Item>(n), n, "workspace");
    const int steps = ceil_log2(n);
    if (steps % 2 == 0) std::swap(target, other);
    ConstItems from = arrays.in;
    const simt::Grid grid{.blocks = ceil_div(n, kThreads), .threads = kThreads};
    if (steps == 0) {  // n = 1: nothing to add, but the item must still arrive
      machine.launch(grid, HsStepKernel{}, from, arrays.out, n, std::int64_t{0}, shift(), op);
    }
    for (int d = 0; d < steps; ++d) {
      machine.launch(grid, HsStepKernel{}, from, target, n, std::int64_t{1} << d, d == 0 ? shift() : 0, op);
      from = target;
      std::swap(target, other);
    }
  }

 private:
  int shift() const { return problem_.mode == Mode::exclusive ? 1 : 0; }
  Problem problem_;
};

const Registration kHsMultipass{simt::portable_scan<HsMultipass>()};

}  // namespace
}  // namespace scanlab::scan
