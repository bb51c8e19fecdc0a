// scanlab distributed cycles: where the warps of a scan spend their cycles on each GPU.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/cli/distributed.hpp"
#include "harness/measure/timing_report.hpp"
#include "harness/simt/role_cycles.hpp"

namespace scanlab::cli {

namespace {

using distributed::Communicator;
using distributed::DistributedCase;

po::options_description make_options() {
  po::options_description options("options");
  add_distributed_options(options);
  add_large_items(options);
  options.add_options()                                             //
      ("csv", text("FILE"), "write the cycles to FILE as a table")  //
      ("force", "replace FILE if it holds something");
  return options;
}

/// Collective: the roles of each rank.
std::vector<std::vector<RoleCycles>> of_all_ranks(Communicator& communicator, const std::vector<RoleCycles>& own) {
  std::vector<std::vector<RoleCycles>> all(static_cast<std::size_t>(communicator.ranks()), own);
  const auto gather = [&](double mine, auto place) {
    const std::vector<double> values = communicator.gather(mine);
    for (std::size_t rank = 0; rank < all.size(); ++rank) place(all[rank]) = values[rank];
  };
  for (std::size_t i = 0; i < own.size(); ++i) {
    gather(own[i].total, [&](auto& roles) -> double& { return roles[i].total; });
    for (const auto& [what, cycles] : own[i].waiting) {
      gather(cycles, [&, &kind = what](auto& roles) -> double& { return roles[i].waiting[kind]; });
    }
  }
  return all;
}

/// Of rank 0: what was seen, printed and kept as rows.
class Seen {
 public:
  void add(const DistributedCase& of, const std::vector<std::vector<RoleCycles>>& ranks, std::ostream& out) {
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      const auto ran = [](const RoleCycles& role) { return role.total > 0; };
      if (!std::ranges::all_of(ranks[rank], ran)) continue;  // it holds nothing of the array
      simt::print(fmt::format("{}/rank:{}", of.name, rank), ranks[rank], out);
      const simt::RunColumns columns{{"variant", of.algorithm->about.id},
                                     {"items", std::to_string(of.problem.items)},
                                     {"type", std::string(name(of.problem.type))},
                                     {"ranks", std::to_string(ranks.size())},
                                     {"rank", std::to_string(rank)}};
      if (rows_.empty()) rows_ = simt::csv_head(columns, ranks[rank]);
      rows_ += simt::csv_rows(columns, ranks[rank]);
    }
  }
  const std::string& rows() const { return rows_; }

 private:
  std::string rows_;
};

}  // namespace

int distributed_cycles(const std::vector<std::string>& arguments, Context& context) {
  po::variables_map values;
  if (!parse_options(arguments, make_options(), {}, distributed_command("cycles"), context, values)) return kOk;
  if (values.count("algorithm") == 0) {
    throw CommandError(kBadInput, "distributed cycles takes an algorithm, as in --algorithm peer_look_ahead");
  }
  return on_every_rank(values, context, [&](Communicator& communicator, Context& own) {
    std::vector<DistributedCase> cases = large_cases(values, communicator.ranks());
    const auto backend = backend_of(cases, communicator);
    std::optional<WholeFile> file;
    const auto open = [&] {
      if (values.count("csv") != 0) file.emplace(values["csv"].as<std::string>(), values.count("force") != 0);
    };
    if (!leader_can(communicator, open)) return static_cast<int>(kBadInput);
    Seen seen;
    const auto watch = [&](const DistributedCase& each, distributed::BoundRank& bound) {
      constexpr std::int64_t kUntimed = 3;  // the first run finds the clocks low and the code cold
      const bool watches = bound.begin_watching();
      communicator.barrier();  // every rank has loaded its kernel before one waits for another
      if (!watches) {
        fmt::print(own.err, "skipped: {}: it has no form that watches its warps\n", each.name);
        return;
      }
      backend->time(bound, kUntimed, 1);
      const auto ranks = of_all_ranks(communicator, bound.cycles());
      if (communicator.rank() == 0) seen.add(each, ranks, own.out);
    };
    distributed::DistributedSession session(
        cases, communicator, *backend, {.seed = values["seed"].as<std::uint64_t>(), .timed = false, .observed = watch},
        nullptr, own.err);
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
