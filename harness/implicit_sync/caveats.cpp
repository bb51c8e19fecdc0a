#include "harness/implicit_sync/caveats.hpp"

namespace scanlab::streams {

Verdict verdict(const Trials& trials) {
  if (!trials.why_not.empty()) return Verdict::not_applicable;
  const int all = trials.count();
  const int no = all - trials.yes;
  if (all == 0) return Verdict::unclear;
  if (4 * trials.yes >= 3 * all) return Verdict::yes;
  if (4 * no >= 3 * all) return Verdict::no;
  return Verdict::unclear;
}

bool differs(const Finding& finding) {
  const Verdict answer = finding.answer();
  return (finding.experiment->said == Said::yes && answer == Verdict::no) ||
         (finding.experiment->said == Said::no && answer == Verdict::yes);
}

const std::vector<std::string>& controls() {
  static const std::vector<std::string> names{"nothing.streams", "device_synchronize.host",
                                              "device_synchronize.streams"};
  return names;
}

}  // namespace scanlab::streams
