// scanlab distributed cycles: where the warps of a scan spend their cycles on each GPU.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/cli/distributed.hpp"
#include "harness/measure/timing_report.hpp"

namespace scanlab::cli {

namespace {

using distributed::Communicator;
using distributed::DistributedCase;

}  // namespace

int distributed_cycles(const std::vector<std::string>& arguments, Context& context) {
  DistributedWords asked;
  std::optional<std::string> csv;
  bool force = false;
  Options options;
  asked.add_to(options, kLargeItems);
  options.file("csv", File::written, csv, "write the cycles to FILE as a table").force(force);
  if (!options.parse(arguments, context)) return kOk;
  if (!asked.words.contains("algorithm"))
    refuse("distributed cycles takes an algorithm, as in --algorithm peer_look_ahead");
  return on_every_rank(asked, context, [&](Communicator& communicator, Context& own) {
    std::vector<DistributedCase> cases = asked.large_cases(communicator.ranks());
    const auto backend = backend_of(cases, communicator);
    std::optional<WholeFile> file;
    const auto open = [&] {
      if (csv) file.emplace(*csv, force);
    };
    if (!leader_can(communicator, open)) return static_cast<int>(kBadInput);
    distributed::RankCycles seen;
    const auto watch = [&](const DistributedCase& each, distributed::BoundRank& bound) {
      constexpr std::int64_t kUntimed = 3;  // the first run finds the clocks low and the code cold
      const bool watches = bound.begin_watching();
      communicator.barrier();  // every rank has loaded its kernel before one waits for another
      if (!watches) {
        fmt::print(own.err, "skipped: {}: it has no form that watches its warps\n", each.name);
        return;
      }
      backend->time(bound, kUntimed, 1);
      seen.add(each, bound.cycles(), communicator, own.out);
    };
    distributed::DistributedSession session(cases, communicator, *backend,
                                            {.seed = asked.seed, .timed = false, .observed = watch}, nullptr, own.err);
    session.run();
    measure::print_untimed(measure::timings(cases), own.out);
    const int status = measure::status_of(measure::timings(cases));
    if (communicator.rank() != 0 || status == kFailed) return status;
    if (seen.rows().empty()) {
      throw CommandError(kBadInput,
                         "none of the chosen cases has a form that watches its warps; peer_look_ahead has one for "
                         "i32 and f32 sums");
    }
    if (file) file->write(seen.rows());
    return status;
  });
}

}  // namespace scanlab::cli
