// my_scan: one thread adds up everything. The slowest scan there is, and a complete variant.
//
// Idea     The thread reads an item, adds it to the sum of all before, and writes the result.
// Work     n additions.
// Span     n.
// Traffic  2n items.
// Source   folklore
#include "harness/simt/registration.hpp"

namespace scanlab::scan {
namespace {

struct MyScanKernel {
  static constexpr const char* kName = "my_scan";
  static constexpr int kMaxThreads = 1;

  template <simt::ThreadBlock Block, Monoid Op>
  SCANLAB_HD void operator()(Block&, simt::Global<Block, const typename Op::Item> in,
                             simt::Global<Block, typename Op::Item> out, std::int64_t n, Mode mode, Op op) const {
    using Item = typename Op::Item;
    Item sum = Op::identity();
    for (std::int64_t i = 0; i < n; ++i) {
      const Item item = in[i];
      if (mode == Mode::exclusive) out[i] = sum;
      sum = op(sum, item);
      if (mode == Mode::inclusive) out[i] = sum;
    }
  }
};

struct MyScan {
  // The types and operators that it is compiled for; without this, all of them.
  template <class Op>
  static constexpr bool kTakes = true;

  explicit MyScan(const Problem& problem) : problem_(problem) {}

  static Description describe() {
    Description about;
    about.id = "my_scan";  // the file's name
    about.title = "One thread adds up everything";
    about.source = "folklore";
    about.cost = {.work = "n", .span = "n", .traffic = "2n"};
    return about;
  }

  // Refuses the problem, or plans it. `chain` is the longest chain of additions: the d of the error bound. A scan with
  // workspace asks for it here: .workspace_bytes = tiles * item_bytes(problem_.type, problem_.op).
  Plan plan() const {
    if (problem_.items > 1 << 24) return Plan::refuse("my_scan takes 2^24 items at most: one thread adds them up");
    return {.chain = problem_.items};
  }

  // Only enqueues: allocates nothing, never synchronises. The memory for which plan asked is
  // machine.global(workspace.take<Item>(tiles), tiles, "its name").
  template <class Machine, Monoid Op>
  void run(Machine& machine, Op op, simt::Arrays<Machine, typename Op::Item> arrays,
           simt::Workspace /*workspace*/) const {
    machine.launch({.blocks = 1, .threads = 1}, MyScanKernel{}, arrays.in, arrays.out, problem_.items, problem_.mode,
                   op);
  }

 private:
  Problem problem_;
};

const Registration kMyScan{simt::portable_scan<MyScan>()};

}  // namespace
}  // namespace scanlab::scan
