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
int ranks_asked(const po::variables_map& values) {
  if (values.count("gpus") == 0) return 1;
  const int asked = option_number(values, "gpus", 1, 1024);
  if (!any_algorithm_on_gpus()) {
    throw CommandError(kNoDevice, fmt::format("--gpus {}: this build has no CUDA. Scans on hosts have processes for "
                                              "ranks: mpirun -n {} scanlab distributed …",
                                              asked, asked));
  }
  return asked;
}

std::vector<const Algorithm*> chosen_algorithms(const po::variables_map& values) {
  if (values.count("algorithm") != 0) {
    return matching<Algorithm>(option_words(values, "algorithm"), [](const std::string& glob) {
      unknown("--algorithm", glob, Algorithms::instance().ids());
    });
  }
  std::vector<const Algorithm*> all;
  const bool any_gpu = any_algorithm_on_gpus();
  for (const auto& [id, each] : Algorithms::instance().all()) {
    const bool fits_here = each.on_gpus ? values.count("on-hosts") == 0 : values.count("on-hosts") != 0 || !any_gpu;
    if (fits_here) all.push_back(&each);
  }
  return all;
}

}  // namespace

Command distributed_command(const std::string& name) {
  Command command = *std::ranges::find(group().commands, name, &Command::name);
  command.name = "distributed " + name;
  return command;
}

int distributed(const std::vector<std::string>& arguments, Context& context) {
  return dispatch(group(), arguments, context);
}

int distributed_list(const std::vector<std::string>& arguments, Context& context) {
  po::options_description options("options");
  options.add_options()("help,h", "show this text");
  po::variables_map values;
  if (!parse_options(arguments, options, {}, distributed_command("list"), context, values)) return kOk;
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

void add_distributed_options(po::options_description& options) {
  options.add_options()                                                                             //
      ("algorithm", list_of("ID"), "choose algorithms by id or glob (default all on GPUs)")         //
      ("on-hosts", "choose all algorithms in the hosts' memory instead")                            //
      ("type", list_of("TYPE")->default_value({"i32"}, "i32"), all_names<ElementType>().c_str())    //
      ("op", list_of("OP")->default_value({"plus"}, "plus"), all_names<Operator>().c_str())         //
      ("mode", list_of("MODE")->default_value({"inclusive"}, "inclusive"), "inclusive, exclusive")  //
      ("set", list_of("PARAMETER=VALUE"), "set an algorithm's parameter, e.g. chunk=16")            //
      ("gpus,g", po::value<int>()->value_name("N"),
       "use N GPUs by as many threads (default 1; under mpirun a process "
       "is a rank)")                                                                                //
      ("seed", po::value<std::uint64_t>()->default_value(1)->value_name("N"), "choose the inputs")  //
      ("help,h", "show this text");
}

int on_every_rank(const po::variables_map& values, Context& context, const RankBody& body) {
  const int asked = ranks_asked(values);
  const InterruptGuard guard;  // one for all ranks of the process
  return distributed::run_on_ranks(asked, context.argv, [&](Communicator& communicator) {
    std::ostringstream silence;
    Context own{communicator.rank() == 0 ? context.out : silence, communicator.rank() == 0 ? context.err : silence,
                context.argv};
    return body(communicator, own);
  });
}

distributed::DistributedSelection selected_algorithms(const po::variables_map& values) {
  OptionWords words = said(values);
  distributed::DistributedSelection selection{.algorithms = chosen_algorithms(values),
                                              .types = values_of(words, "type", named_values<ElementType>()),
                                              .operators = values_of(words, "op", named_values<Operator>()),
                                              .modes = values_of(words, "mode", named_values<Mode>())};
  selection.settings = settings_of(words, selection.algorithms);
  return selection;
}

std::vector<DistributedCase> large_cases(const po::variables_map& values, int ranks) {
  std::vector<std::int64_t> items = counts_of(said(values), "items");
  if (items.empty()) items = {ranks * (std::int64_t{1} << 28)};
  return cases_of(selected_algorithms(values), items, ranks);
}

void add_large_items(po::options_description& options) {
  options.add_options()("items", list_of("N"), "set the items of the whole array (default 2^28 per GPU)");
}

}  // namespace scanlab::cli
