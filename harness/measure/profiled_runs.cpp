#include "harness/measure/profiled_runs.hpp"

#include <fmt/ostream.h>

#include "harness/host/interrupt.hpp"
#include "harness/host/status.hpp"
#include "harness/measure/record.hpp"

namespace scanlab::measure {

ProfiledRuns run_each_once(const std::vector<TimedCase>& cases, const Backends& backends, std::ostream& out) {
  ProfiledRuns runs{.status = kOk};
  for (const TimedCase& timed : cases) {
    if (interrupted()) {
      runs.status = kInterrupted;
      break;
    }
    if (!timed.bound.plan.possible()) {
      fmt::print(out, "{}: skipped: {}\n", timed.name, timed.bound.plan.refusal);
      continue;
    }
    try {
      backends.backend_for(timed).run_once(timed);
      fmt::print(out, "{}: ran once\n", timed.name);
      Facts& range = runs.ranges.emplace_back(Facts{{"name", timed.name}});
      describe(timed, range);
      for (const char* of_timing : {"cache", "launch", "prepare_ns"}) range.erase(of_timing);
    } catch (const LacksMemory& lack) {
      fmt::print(out, "{}: skipped: {}\n", timed.name, lack.what());
      runs.status = kOutOfMemory;
    }
  }
  return runs;
}

}  // namespace scanlab::measure
