// hs_block: Hillis and Steele's scan, one block, double-buffered.
//
// Idea    In step d every item adds the item 2^d to its left; after ceil(log2 n) steps each has added all of them.
//         Two buffers, so that no thread overwrites what another still reads.
// Work    n ceil(log2 n) - 2^ceil(log2 n) + 1 additions: not work-efficient, a factor of log2 n over sequential.
// Span    ceil(log2 n) steps, each behind one barrier.
// Source  Hillis and Steele, "Data parallel algorithms", CACM 29(12), 1986; the form taught in ME759 (2013).
#include "variants/scan/hs_steps.cuh"

namespace scanlab::scan {
namespace {

constexpr int kMaxItems = 1024;  // one item a thread, and a block has at most 1024 threads

struct HsBlockKernel {
  static constexpr const char* kName = "hs_block";
  static constexpr int kMaxThreads = kMaxItems;

  /// in, out: n items in global memory, n <= threads a block. One block. Shared memory: 2 n items.
  template <simt::ThreadBlock Block, Monoid Op>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, const typename Op::Item> in,
                             simt::Global<Block, typename Op::Item> out, int n, Mode mode, Op op) const {
    using Item = typename Op::Item;
    block.step("load", 0);
    const int t = block.thread_rank();
    // An exclusive scan is the inclusive scan of the input shifted right by one.
    const int source = mode == Mode::exclusive ? t - 1 : t;
    Item item = Op::identity();
    if (source >= 0 && t < n) item = in[source];
    item = hs_scan_tile(block, block.template shared<Item>(2 * n), n, item, op);
    if (t < n) out[t] = item;
  }
};

struct HsBlock {
  explicit HsBlock(const Problem& problem) : problem_(problem) {}

  template <class Op>
  static constexpr bool kTakes = kClassic<Op>;

  static Description describe() {
    Description about;
    about.id = "hs_block";
    about.title = "Hillis-Steele, one block, double-buffered";
    about.source = "Hillis and Steele 1986";
    about.family = "Hillis–Steele";
    about.overview = false;
    about.limits = "n <= 1024";
    about.cost = hs_cost("2n");
    return about;
  }

  Plan plan() const {
    if (problem_.items > kMaxItems) return Plan::refuse("hs_block scans within one block: n <= 1024");
    return {.chain = ceil_log2(problem_.items)};
  }

  template <class Machine, Monoid Op>
  void run(Machine& machine, Op op, simt::Arrays<Machine, typename Op::Item> arrays, simt::Workspace) const {
    const int n = static_cast<int>(problem_.items);
    if (n == 0) return;
    machine.launch({.blocks = 1, .threads = n, .shared_bytes = 2 * n * sizeof(typename Op::Item)}, HsBlockKernel{},
                   arrays.in, arrays.out, n, problem_.mode, op);
  }

 private:
  Problem problem_;
};

const Registration kHsBlock{simt::portable_scan<HsBlock>()};

}  // namespace
}  // namespace scanlab::scan
