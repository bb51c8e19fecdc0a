// scanlab distributed: scans over several GPUs, or hosts. Chooses one of its commands.
#include "harness/cli/distributed.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "harness/host/interrupt.hpp"
#include "harness/measure/provenance.hpp"

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
           "mpirun -n 4 scanlab distributed bench -b 4M -e 4G -f 4 --out results/distributed.json", distributed_bench},
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

/// The commit of this build.
std::string built_from() {
  const measure::Facts build = measure::build_facts();
  return build["git_commit"].get<std::string>() + (build["git_dirty"] == "true" ? " and changes" : "");
}

}  // namespace

void agree(Communicator& communicator, const std::vector<std::string>& argv, const std::string& commit) {
  struct Started {
    std::size_t words;
    char build[60];  ///< its commit
  } own{};
  own.words =
      std::hash<std::string>{}(fmt::format("{}", fmt::join(argv.begin() + (argv.empty() ? 0 : 1), argv.end(), " ")));
  commit.copy(own.build, sizeof(own.build) - 1);
  const std::vector<Started> all = communicator.gather(own);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (std::string_view(all[rank].build) != all[0].build) {
      throw CommandError(kBadInput,
                         fmt::format("rank {} is a build of commit {}, and rank 0 of {}: mpirun must start the "
                                     "same program everywhere",
                                     rank, all[rank].build, all[0].build));
    }
    if (all[rank].words != all[0].words) {
      throw CommandError(kBadInput, fmt::format("rank {} was started with other words than rank 0: mpirun must give "
                                                "all the same",
                                                rank));
    }
  }
}

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
      ("set", list_of("NAME=VALUE"), "set an algorithm's parameter, e.g. chunk=16")                 //
      ("gpus,g", po::value<int>()->value_name("N"),
       "use N GPUs by as many threads (default 1; under mpirun a process "
       "is a rank)")                                                                                //
      ("seed", po::value<std::uint64_t>()->default_value(1)->value_name("N"), "choose the inputs")  //
      ("help,h", "show this text");
}

int on_every_rank(const po::variables_map& values, Context& context, const RankBody& body) {
  const int asked = ranks_asked(values);
  const InterruptGuard guard;  // one for all ranks of the process
  const auto run = [&](Communicator& communicator) {
    std::ostringstream silence;
    Context own{communicator.rank() == 0 ? context.out : silence, communicator.rank() == 0 ? context.err : silence,
                context.argv};
    return body(communicator, own);
  };
  int status = kOk;
  if (distributed::is_mpi_process()) {
    if (asked > 1) {
      throw CommandError(kBadInput, fmt::format("--gpus {}: under mpirun each process is a rank with one GPU; start {} "
                                                "processes instead",
                                                asked, asked));
    }
    Communicator& communicator = distributed::mpi_rank();
    try {
      agree(communicator, context.argv, built_from());
      status = run(communicator);
      communicator.joined().reset();       // before the device's library ends, and MPI
    } catch (const CommandError& error) {  // all ranks have it
      if (communicator.rank() == 0) throw;
      return error.status;
    } catch (const std::exception& error) {
      communicator.abandon(fmt::format("rank {}: {}", communicator.rank(), error.what()));
    }
    return status;
  }
  try {
    distributed::run_threads(asked, distributed::patience(), [&](Communicator& communicator) {
      const int own = run(communicator);
      if (communicator.rank() == 0) status = own;
    });
  } catch (const distributed::RankFailed& failure) {
    throw CommandError(kFailed, fmt::format("{}; every finished repetition is kept", failure.what()));
  }
  return status;
}

bool leader_can(Communicator& communicator, const std::function<void()>& open) {
  std::exception_ptr refused;
  if (communicator.rank() == 0) {
    try {
      open();
    } catch (const CommandError&) {
      refused = std::current_exception();
    }
  }
  const bool could = communicator.from_leader(refused ? 1 : 0) == 0;
  if (refused) std::rethrow_exception(refused);
  return could;
}

std::vector<DistributedCase> distributed_cases(const po::variables_map& values, const std::vector<std::int64_t>& items,
                                               int ranks) {
  OptionWords words = said(values);
  const auto types = values_of(words, "type", named_values<ElementType>());
  const auto operators = values_of(words, "op", named_values<Operator>());
  const auto modes = values_of(words, "mode", named_values<Mode>());
  Settings settings;
  if (values.count("set") != 0) {
    for (const std::string& word : option_words(values, "set")) {
      const std::size_t at = word.find('=');
      if (at == std::string::npos) throw CommandError(kBadInput, "--set takes NAME=VALUE, not '" + word + "'");
      settings[word.substr(0, at)] = word.substr(at + 1);
    }
  }
  std::vector<DistributedCase> cases;
  for (const ElementType type : types) {
    for (const Operator op : operators) {
      for (const Mode mode : modes) {
        for (const std::int64_t n : items) {
          for (const Algorithm* algorithm : chosen_algorithms(values)) {
            DistributedCase timed;
            timed.algorithm = algorithm;
            timed.problem = {.type = type, .op = op, .mode = mode, .items = n};
            for (const auto& [key, value] : settings) {
              const bool has = std::ranges::any_of(algorithm->about.parameters,
                                                   [&](const Parameter& each) { return each.name == key; });
              if (has) timed.problem.settings[key] = value;
            }
            timed.plan = algorithm->plan(timed.problem, ranks);
            timed.name = fmt::format("{}/ranks:{}", case_name(algorithm->about, timed.problem), ranks);
            cases.push_back(std::move(timed));
          }
        }
      }
    }
  }
  for (const auto& [key, value] : settings) {
    const auto takes = [&](const DistributedCase& each) { return each.problem.settings.contains(key); };
    if (std::ranges::none_of(cases, takes)) {
      throw CommandError(kBadInput,
                         fmt::format("--set {}={}: none of the chosen algorithms has this parameter", key, value));
    }
  }
  return cases;
}

std::vector<DistributedCase> large_cases(const po::variables_map& values, int ranks) {
  std::vector<std::int64_t> items = counts_of(said(values), "items");
  if (items.empty()) items = {ranks * (std::int64_t{1} << 28)};
  return distributed_cases(values, items, ranks);
}

void add_large_items(po::options_description& options) {
  options.add_options()("items", list_of("N"), "set the items of the whole array (default 2^28 per GPU)");
}

std::unique_ptr<distributed::RankBackend> backend_of(const std::vector<DistributedCase>& cases,
                                                     Communicator& communicator) {
  const auto on_gpus = [](const DistributedCase& each) { return each.algorithm->on_gpus; };
  if (cases.empty())
    throw CommandError(kBadInput, "no case is left to run: scanlab distributed list has the algorithms");
  if (std::ranges::none_of(cases, on_gpus)) return distributed::make_host_backend(communicator);
  if (!std::ranges::all_of(cases, on_gpus)) {
    throw CommandError(kBadInput, "algorithms on GPUs and on hosts run one after another: choose by --algorithm");
  }
#ifdef SCANLAB_WITH_CUDA
  return distributed::make_gpu_backend(communicator);
#else
  throw CommandError(kNoDevice, "this build has no CUDA: choose an algorithm on hosts, --on-hosts");
#endif
}

}  // namespace scanlab::cli
