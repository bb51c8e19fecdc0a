// The standard library's scan on all cores: std::execution::par, which libstdc++ runs on oneTBB.
#include <algorithm>
#include <numeric>

#ifdef SCANLAB_WITH_TBB
#include <execution>
#endif

#include "harness/core/scan_variant.hpp"

namespace scanlab {
namespace {

#ifdef SCANLAB_WITH_TBB
/// libstdc++'s parallel scans of floating-point items begin with 0, whatever the operator's identity is (seen in GCC 12
/// and 13): right for sums, wrong for maxima of negative numbers. Asking it is surer than a list of versions.
template <class Op>
bool begins_with_the_identity(Mode mode) {
  const typename Op::Item identities[] = {Op::identity(), Op::identity()};
  typename Op::Item scanned[2] = {};
  if (mode == Mode::inclusive) {
    std::inclusive_scan(std::execution::par, identities, identities + 2, scanned, Op{});
  } else {
    std::exclusive_scan(std::execution::par, identities, identities + 2, scanned, Op::identity(), Op{});
  }
  return scanned[0] == Op::identity() && scanned[1] == Op::identity();
}
#endif

class CpuParallel {
 public:
  static Description describe() {
    return {
        .id = "cpu_parallel",
        .title = "std::inclusive_scan and std::exclusive_scan, std::execution::par",
        .source = "ISO/IEC 14882:2017, <execution>; libstdc++ on oneTBB",
        .family = "CPU",
        .label = "CPU, all cores",
        .limits = "any n; needs a build with oneTBB",
        .cost = {.work = "O(n)", .span = "O(n / cores + log n)", .traffic = "3n", .operations = {}, .swaps = {}},
    };
  }

  /// Other types take long to compile, and are not timed here.
  template <class Op>
  static constexpr bool kTakes = kBasic<Op>;

  explicit CpuParallel(const Problem& problem) : problem_(problem), items_(problem.items), mode_(problem.mode) {}

  Plan plan() const {
#ifdef SCANLAB_WITH_TBB
    const bool right = with_monoid(problem_.type, problem_.op,
                                   [&]<class Op>(Op) { return begins_with_the_identity<Op>(problem_.mode); });
    if (!right) {
      return Plan::refuse("this standard library's parallel scan of floating-point items begins with 0, wrong for " +
                          std::string(name(problem_.op)));
    }
    // How the range is split is the library's affair: the longest chain that any split can make.
    Plan plan;
    plan.chain = std::max<std::int64_t>(items_ - 1, 0);
    return plan;
#else
    return Plan::refuse("cpu_parallel needs oneTBB, which this build does not have");
#endif
  }

  template <class Op>
  void run([[maybe_unused]] Op op, [[maybe_unused]] const typename Op::Item* in,
           [[maybe_unused]] typename Op::Item* out) const {
#ifdef SCANLAB_WITH_TBB
    if (mode_ == Mode::inclusive) {
      std::inclusive_scan(std::execution::par, in, in + items_, out, op);
    } else {
      std::exclusive_scan(std::execution::par, in, in + items_, out, Op::identity(), op);
    }
#endif
  }

 private:
  Problem problem_;
  std::int64_t items_;
  [[maybe_unused]] Mode mode_;
};

const Registration registration{host_scan<CpuParallel>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
