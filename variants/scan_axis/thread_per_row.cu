// thread_per_row: each thread scans a line along the axis by itself.
//
// Idea    Lines are independent, so that no thread need know another. PyTorch scans columns like this: neighbouring
//         threads have neighbouring columns, whose items lie side by side, and a warp reads them together. In rows
//         (inner 1), each lane reads a line of memory of its own, and of each sector one item. And there are as many
//         threads as lines: few and long lines leave the device empty.
// Work    n.
// Span    the axis.
// Traffic 2 n; of rows, up to 8 times that in sectors of 32 bytes that hold 4-byte items.
// Bits    Fixed: from first to last.
// Source  PyTorch, ScanKernels (tensor_kernel_scan_outer_dim).
#include "harness/simt/registration.hpp"
#include "variants/scan_axis/axis.hpp"

namespace scanlab::scan_axis {
namespace {

struct ThreadPerRowKernel {
  static constexpr const char* kName = "thread_per_row";
  static constexpr int kMaxThreads = 256;

  /// in, out: `lines` lines of `axis` items each, `inner` apart; may be the same array.
  template <simt::ThreadBlock Block, Monoid Op>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, const typename Op::Item> in,
                             simt::Global<Block, typename Op::Item> out, std::int64_t lines, std::int64_t axis,
                             std::int64_t inner, Mode mode, Op op) const {
    using Item = typename Op::Item;
    const std::int64_t line = block.group_index() * block.num_threads() + block.thread_rank();
    if (line >= lines) return;
    const std::int64_t first = line / inner * axis * inner + line % inner;
    Item running = Op::identity();
    for (std::int64_t i = first; i < first + axis * inner; i += inner) {
      const Item item = in[i];
      const Item next = op(running, item);
      out[i] = mode == Mode::exclusive ? running : next;
      running = next;
    }
  }
};

class ThreadPerRow {
 public:
  template <class Op>
  static constexpr bool kTakes = kAxis<Op>;

  static Description describe() {
    Description about = describe_axis(false);
    about.id = "thread_per_row";
    about.title = "A thread for each line along the axis";
    about.source = "PyTorch, ScanKernels.cu";
    about.family = "lines alone";
    about.limits = "any shape";
    about.cost.work = "n";
    about.cost.span = "the axis";
    about.cost.operations = [](const Problem& problem) { return std::optional(problem.items); };
    about.cost.swaps = [](const Problem&) { return std::optional(std::int64_t{0}); };
    return about;
  }

  explicit ThreadPerRow(const Problem& problem) : problem_(problem) {}
  Plan plan() const { return {.chain = problem_.axis()}; }

  template <class Machine, Monoid Op>
  void run(Machine& machine, Op op, simt::Arrays<Machine, typename Op::Item> arrays, simt::Workspace) const {
    const std::int64_t lines = problem_.rows * problem_.inner;
    machine.launch(
        {.blocks = ceil_div(lines, ThreadPerRowKernel::kMaxThreads), .threads = ThreadPerRowKernel::kMaxThreads},
        ThreadPerRowKernel{}, arrays.in, arrays.out, lines, problem_.axis(), problem_.inner, problem_.mode, op);
  }

 private:
  Problem problem_;
};

const Registration kThreadPerRow{simt::portable_scan<ThreadPerRow>()};

}  // namespace
}  // namespace scanlab::scan_axis
