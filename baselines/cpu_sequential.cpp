// The standard library's scan on one thread: what the speed-up of a GPU has been quoted against since 2007.
#include <algorithm>
#include <numeric>

#include "harness/core/scan_variant.hpp"

namespace scanlab {
namespace {

class CpuSequential {
 public:
  static Description describe() {
    return {
        .id = "cpu_sequential",
        .title = "std::inclusive_scan and std::exclusive_scan, one thread",
        .source = "ISO/IEC 14882:2017, <numeric>",
        .family = "CPU",
        .label = "CPU, one thread",
        .overview = false,
        .cost = {.work = "n - 1",
                 .span = "n - 1",
                 .traffic = "2n",
                 .operations = [](const Problem& problem) { return std::max<std::int64_t>(problem.items - 1, 0); },
                 .swaps = [](const Problem&) { return std::int64_t{0}; }},
    };
  }

  explicit CpuSequential(const Problem& problem) : items_(problem.items), mode_(problem.mode) {}
  Plan plan() const {
    Plan plan;
    plan.chain = std::max<std::int64_t>(items_ - 1, 0);
    return plan;
  }

  template <class Op>
  void run(Op op, const typename Op::Item* in, typename Op::Item* out) const {
    if (mode_ == Mode::inclusive) {
      std::inclusive_scan(in, in + items_, out, op);
    } else {
      std::exclusive_scan(in, in + items_, out, Op::identity(), op);
    }
  }

 private:
  std::int64_t items_;
  Mode mode_;
};

const Registration registration{host_scan<CpuSequential>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
