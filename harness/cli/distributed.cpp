// scanlab distributed: scans over several GPUs, or hosts. Chooses one of its commands.
#include "harness/cli/distributed.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <sstream>

#include "harness/host/interrupt.hpp"

namespace scanlab::cli {

using distributed::Algorithm;
using distributed::Algorithms;
using distributed::Communicator;
using distributed::DistributedCase;

namespace {

const CommandGroup& group() {
  static const CommandGroup all{
      "scanlab distributed",
      "verify and time scans of one array over several GPUs or hosts",
      "scanlab distributed bench --gpus 4",
      {
          {"list", "print every algorithm: id, title, traffic, needs", "scanlab distributed list", distributed_list},
          {"verify", "check algorithms against the oracle, on sizes where scans break",
           "scanlab distributed verify --gpus 2 --algorithm peer_look_ahead", distributed_verify},
          {"bench", "verify and time algorithms over a range of sizes, with the flags of nccl-tests",
           "mpirun -n 4 scanlab distributed bench -b 4MiB -e 4GiB -f 4 --out results/distributed.json",
           distributed_bench},
          {"cycles", "print the stall cycles of each warp role on each GPU",
           "scanlab distributed cycles --gpus 2 --items 2^25,2^29 --csv results/ranks_prefix_wait.csv",
           distributed_cycles},
          {"trace", "record what each GPU did in a few runs, by CUPTI",
           "scanlab distributed trace --gpus 4 --algorithm peer_look_ahead,nccl_cub --out results/ranks_trace.json",
           distributed_trace},
      }};
  return all;
}

bool any_algorithm_on_gpus() {
  return std::ranges::any_of(Algorithms::instance().all(), [](const auto& entry) { return entry.second.on_gpus; });
}

/// How many ranks --gpus asks for. Throws CommandError (status 2, and 3 where this build has none).
int ranks_asked(const DistributedWords& asked) {
  if (!asked.gpus) return 1;
  if (!any_algorithm_on_gpus()) {
    throw CommandError(kNoDevice, fmt::format("--gpus {0}: this build has no CUDA. Scans on hosts have processes for "
                                              "ranks: mpirun -n {0} scanlab distributed …",
                                              *asked.gpus));
  }
  return *asked.gpus;
}

std::vector<const Algorithm*> chosen_algorithms(const DistributedWords& asked) {
  if (asked.words.contains("algorithm")) {
    return matching<Algorithm>(words_of(asked.words, "algorithm"), [](const std::string& glob) {
      unknown("--algorithm", glob, Algorithms::instance().ids());
    });
  }
  std::vector<const Algorithm*> all;
  const bool any_gpu = any_algorithm_on_gpus();
  for (const auto& [id, each] : Algorithms::instance().all()) {
    if (each.on_gpus ? !asked.on_hosts : asked.on_hosts || !any_gpu) all.push_back(&each);
  }
  return all;
}

}  // namespace

int distributed(const std::vector<std::string>& arguments, Context& context) {
  return dispatch(group(), arguments, context);
}

int distributed_list(const std::vector<std::string>& arguments, Context& context) {
  Options options;
  if (!options.parse(arguments, context)) return kOk;
  std::size_t width = 2;
  for (const auto& [id, each] : Algorithms::instance().all()) width = std::max(width, id.size());
  fmt::print(context.out, "{:<{}}  {:<5}  {:<15}  {:<12}  {}\n", "id", width, "on", "traffic", "reproducible", "title");
  for (const auto& [id, each] : Algorithms::instance().all()) {
    fmt::print(context.out, "{:<{}}  {:<5}  {:<15}  {:<12}  {}\n", id, width, each.on_gpus ? "GPUs" : "hosts",
               each.about.cost.traffic, each.about.fixed_bits ? "yes" : "no", each.about.title);
  }
  fmt::print(
      context.out,
      "reproducible: whether floating-point results are the same bits on every run of one n and number of ranks.\n");
  if (!distributed::has_mpi()) fmt::print(context.out, "This build has no MPI: ranks are threads of one process.\n");
  return kOk;
}

void DistributedWords::add_to(Options& options, const char* items) {
  options.list("algorithm", "ID", words, "choose algorithms by id or glob (default all on GPUs)")
      .flag("on-hosts", on_hosts, "choose all algorithms in the hosts' memory instead")
      .list("set", "PARAMETER=VALUE", words, "set an algorithm's parameter, e.g. chunk=16")
      .number("gpus,g", gpus, 1, 1024, "use N GPUs by as many threads (default 1; under mpirun a process is a rank)")
      .seed(seed, "choose the inputs");
  add_problem_options(options, words, "default i32 and plus");
  if (items != nullptr) options.list("items", "LIST", words, items);
}

int on_every_rank(const DistributedWords& asked, Context& context, const RankBody& body) {
  const int ranks = ranks_asked(asked);
  const InterruptGuard guard;  // one for all ranks of the process
  return distributed::run_on_ranks(ranks, context.argv, [&](Communicator& communicator) {
    std::ostringstream silence;
    Context own{communicator.rank() == 0 ? context.out : silence, communicator.rank() == 0 ? context.err : silence,
                context.argv};
    return body(communicator, own);
  });
}

distributed::DistributedSelection DistributedWords::selection() const {
  OptionWords all = words;
  for (const auto& [option, otherwise] : {std::pair{"type", "i32"}, {"op", "plus"}, {"mode", "inclusive"}})
    all.try_emplace(option, Words{otherwise});
  distributed::DistributedSelection selection{.algorithms = chosen_algorithms(*this),
                                              .types = values_of(all, "type", named_values<ElementType>()),
                                              .operators = values_of(all, "op", named_values<Operator>()),
                                              .modes = values_of(all, "mode", named_values<Mode>())};
  selection.settings = settings_of(all, selection.algorithms);
  return selection;
}

std::vector<DistributedCase> DistributedWords::large_cases(int ranks) const {
  std::vector<std::int64_t> items = counts_of(words, "items");
  if (items.empty()) items = {ranks * (std::int64_t{1} << 28)};
  return cases_of(selection(), items, ranks);
}

}  // namespace scanlab::cli
