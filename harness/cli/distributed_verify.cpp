// scanlab distributed verify: checks algorithms against the oracle.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>

#include "harness/cli/distributed.hpp"
#include "harness/measure/timing_report.hpp"

namespace scanlab::cli {

namespace {

using distributed::DistributedCase;

/// Nothing; less than an item per rank; around a tile and a chunk of each rank; uneven shares.
std::vector<std::int64_t> default_items(int ranks) {
  std::vector<std::int64_t> all{0, 1, 2, 3, 33, 1000, 4097};
  for (const std::int64_t per_rank : {std::int64_t{1} << 14, std::int64_t{1} << 18, (std::int64_t{1} << 21) + 4321}) {
    all.push_back(per_rank * ranks - 1);
    all.push_back(per_rank * ranks + 7);
  }
  return all;
}

po::options_description make_options() {
  po::options_description options("options");
  add_distributed_options(options);
  options.add_options()                                                                                       //
      ("items", list_of("N"), "set the items of the whole array (default sizes around tiles and shares)")     //
      ("input", list_of("KIND"), "choose random, constant, alternating, one_hot, extremes (default random)")  //
      ("repeat", po::value<int>()->default_value(1)->value_name("N"),
       "run N times back to back before the second check, e.g. 1000");
  return options;
}

}  // namespace

int distributed_verify(const std::vector<std::string>& arguments, Context& context) {
  po::variables_map values;
  if (!parse_options(arguments, make_options(), {}, distributed_command("verify"), context, values)) return kOk;
  const int repeat = option_number(values, "repeat", 1, 1000000);
  return on_every_rank(values, context, [&](distributed::Communicator& communicator, Context& own) {
    const OptionWords words = said(values);
    std::vector<std::int64_t> items = counts_of(words, "items");
    if (items.empty()) items = default_items(communicator.ranks());
    std::vector<std::pair<InputKind, std::string_view>> kinds;
    for (const InputKind kind : kInputKinds) kinds.emplace_back(kind, name(kind));
    std::vector<InputKind> inputs = values_of(words, "input", kinds);
    if (inputs.empty()) inputs = {InputKind::random};

    std::unique_ptr<distributed::RankBackend> backend;
    int status = kOk;
    std::size_t passed = 0;
    for (const InputKind input : inputs) {
      std::vector<DistributedCase> cases = distributed_cases(values, items, communicator.ranks());
      std::erase_if(cases,
                    [](const DistributedCase& each) { return each.algorithm->about.kind == Kind::empty_launch; });
      if (backend == nullptr) backend = backend_of(cases, communicator);
      distributed::DistributedSession session(
          cases, communicator, *backend,
          {.seed = values["seed"].as<std::uint64_t>(), .input = input, .timed = false, .repeat = repeat}, nullptr,
          own.err);
      session.run();
      measure::print_untimed(measure::timings(cases), own.out);
      passed += static_cast<std::size_t>(std::ranges::count_if(cases, &DistributedCase::verified));
      status = std::max(status, measure::status_of(measure::timings(cases)));
    }
    fmt::print(own.out, "{} checks passed on {} ranks\n", passed, communicator.ranks());
    return passed == 0 && status == kOk ? static_cast<int>(kFailed) : status;
  });
}

}  // namespace scanlab::cli
