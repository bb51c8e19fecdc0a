#include "harness/distributed/distributed_session.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "harness/host/interrupt.hpp"
#include "harness/verify/verification.hpp"

namespace scanlab::distributed {

/// An order of rank 0 to the others: which case to run how often, or to verify; or that the group has ended.
struct DistributedSession::Order {
  enum class What { sample, close, end } what = What::end;
  std::size_t index = 0;
  std::int64_t runs = 0;
};

namespace {

constexpr std::int64_t kUntimed = 3;  // the ranks begin the timed runs together, since they have waited for each other
constexpr std::int64_t kMaxRuns = 400;  // a stream takes about a thousand launches before it makes the host wait

/// Odd, so that every place of a vector is among those that are compared.
std::int64_t compared_every(std::int64_t items) { return ceil_div(items, kMaxCompared) | 1; }

/// Calls `work`; what it throws on any rank is thrown on all.
template <class Work>
void on_all(Communicator& communicator, Work work) {
  enum : int { kFine, kLacks, kFailed };
  std::string reason;
  int kind = kFine;
  try {
    work();
  } catch (const measure::LacksMemory& error) {
    reason = error.what();
    kind = kLacks;
  } catch (const std::exception& error) {
    reason = error.what();
    kind = kFailed;
  }
  reason = communicator.first_complaint(reason);
  const std::vector<int> kinds = communicator.gather(kind);
  if (reason.empty()) return;
  if (*std::ranges::max_element(kinds) == kLacks) throw measure::LacksMemory(reason);
  throw std::runtime_error(reason);
}

/// Calls `work`, in which ranks may wait for each other: what it throws on one ends them all.
template <class Work>
void together(Communicator& communicator, Work work) {
  try {
    work();
  } catch (const RankFailed&) {
    throw;
  } catch (const std::exception& error) {
    communicator.fail(error.what());
  }
}

}  // namespace

/// One per process: the first of its ranks makes it, the others of the process look at it.
struct DistributedSession::SharedOracle {
  std::optional<verify::Oracle> own;
  const verify::Oracle* oracle = nullptr;

  /// Collective.
  SharedOracle(const Problem& problem, const SessionOptions& options, Communicator& communicator) {
    const std::uint64_t process = process_number();
    const std::vector<std::uint64_t> processes = communicator.gather(process);
    const auto first = std::ranges::find(processes, process) - processes.begin();
    constexpr double kSecondsPerItem = 50e-9;  // several times what a slow core takes
    const LongStep step(communicator, std::chrono::milliseconds(static_cast<std::int64_t>(
                                          1e3 * kSecondsPerItem * static_cast<double>(problem.items))));
    on_all(communicator, [&] {
      if (first != communicator.rank()) return;
      try {
        own.emplace(problem, options.input, options.seed, compared_every(problem.items));
      } catch (const std::bad_alloc&) {
        throw measure::LacksMemory("out of host memory for the expected output");
      }
      oracle = &*own;
    });
    oracle = communicator.gather(oracle)[static_cast<std::size_t>(first)];
  }
};

void DistributedSession::run() {
  for (std::size_t i = 0; i < cases_.size();) {
    std::vector<DistributedCase*> group;
    const Problem problem = bare(cases_[i].problem);
    for (; i < cases_.size() && bare(cases_[i].problem) == problem; ++i) group.push_back(&cases_[i]);
    if (communicator_.from_leader(interrupted() ? 1 : 0) != 0) break;
    together(communicator_, [&] { run_group(std::move(group)); });  // rank 0 alone meets a full disk
  }
}

void DistributedSession::run_group(std::vector<DistributedCase*> group) {
  std::string lacks;
  try {
    // Where all have refused, there may be no such operator of the type, and nothing to expect.
    const auto possible = [](const DistributedCase* each) { return each->plan.possible(); };
    if (std::ranges::any_of(group, possible)) {
      oracle_ = std::make_shared<SharedOracle>(bare(group.front()->problem), options_, communicator_);
    }
  } catch (const measure::LacksMemory& error) {
    lacks = error.what();
  }
  std::vector<Bound> bound;
  for (DistributedCase* timed : group) {
    if (leads()) engine_.progress().show("verify " + timed->name);
    if (!timed->plan.possible()) {
      timed->skip(timed->plan.refusal);
    } else if (!lacks.empty()) {
      timed->skip(lacks);
      timed->out_of_memory = true;
    } else {
      engine_.contain(*timed, [&] { verify(*timed, bound); });
    }
    if (leads() && options_.checked) options_.checked(*timed);
  }
  if (options_.timed) leads() ? lead(group, bound) : follow(bound);
  while (!bound.empty()) bound.pop_back();  // on all ranks in one order: what they share is freed together
  communicator_.barrier();                  // no rank frees the oracle while another reads it
}

void DistributedSession::verify(DistributedCase& timed, std::vector<Bound>& bound) {
  on_all(communicator_,
         [&] { backend_.fill(bare(timed.problem), timed.plan.distribution, options_.input, options_.seed); });
  Bound made{.timed = &timed};
  on_all(communicator_, [&] { made.rank = backend_.bind(*timed.algorithm, timed.problem, timed.plan); });
  on_all(communicator_, [&] { made.rank->connect(communicator_); });
  together(communicator_, [&] { backend_.time(*made.rank, 0, 1); });
  timed.compared_every = oracle_->oracle->data().every;
  on_all(communicator_, [&] { compare(timed); });
  // Stale state of a run shows in those after it.
  together(communicator_, [&] { backend_.time(*made.rank, options_.repeat, 1); });
  on_all(communicator_, [&] { compare(timed); });
  if (options_.replayed) {
    std::unique_ptr<BoundRank> replay;
    on_all(communicator_, [&] { replay = backend_.captured(*made.rank); });
    together(communicator_, [&] { backend_.time(*replay, options_.repeat, 1); });
    on_all(communicator_, [&] { compare(timed); });
  }
  if (options_.observed) {
    together(communicator_, [&] { options_.observed(timed, *made.rank); });
    on_all(communicator_, [&] { compare(timed); });
  }
  timed.verified = true;
  bound.push_back(std::move(made));
}

/// Compares this rank's part of the output, piece by piece.
void DistributedSession::compare(DistributedCase& timed) {
  constexpr std::int64_t kPiece = std::int64_t{1} << 24;  // items
  const Kind kind = timed.algorithm->about.kind;
  if (!writes(kind)) return;
  const auto item = static_cast<std::int64_t>(item_bytes(timed.problem.type, timed.problem.op));
  const Distribution& distribution = timed.plan.distribution;
  const std::int64_t held = distribution.held(communicator_.rank());
  std::vector<std::byte> piece;
  std::int64_t begin = 0, end = 0;  // of the rank's items, those of the piece
  distribution.for_each_run(communicator_.rank(), [&](std::int64_t local, std::int64_t global, std::int64_t count) {
    for (std::int64_t done = 0; done < count;) {
      if (local + done == end) {
        begin = end;
        end = std::min(begin + kPiece, held);
        piece.resize(static_cast<std::size_t>((end - begin) * item));
        backend_.read(static_cast<std::size_t>(begin * item), piece.size(), piece.data());
      }
      const std::int64_t part = std::min(count - done, end - local - done);
      const verify::Outcome outcome = oracle_->oracle->compare_run(piece.data() + (local + done - begin) * item,
                                                                   global + done, part, timed.plan.chain, kind);
      if (!outcome.passed()) throw std::runtime_error("verification failed: " + outcome.message);
      done += part;
    }
  });
}

// ---------------------------------------------------------------------------------------------- the engine

void DistributedSession::lead(const std::vector<DistributedCase*>& group, std::vector<Bound>& bound) {
  std::vector<measure::EngineCase> all;
  for (DistributedCase* timed : group) {
    const auto is_its = [&](const Bound& each) { return each.timed == timed; };
    const auto index = static_cast<std::size_t>(std::ranges::find_if(bound, is_its) - bound.begin());
    if (timed->state == measure::Timing::State::timed) {
      engine_.progress().show("calibrate " + timed->name);
      engine_.contain(*timed, [&] {
        const double run = std::max(sample(bound, index, 1).seconds, 1e-7);
        timed->runs = std::min(static_cast<std::int64_t>(std::ceil(options_.sample_seconds / run)), kMaxRuns);
        if (run > 1) timed->repetitions = std::min(timed->repetitions, measure::kFewRepetitions);
      });
    }
    all.push_back({.timing = timed,
                   .runs = timed->runs,
                   .bytes = timed->plan.possible() ? static_cast<double>(timed->problem.ideal_bytes()) : 0,
                   .sample = [=, this, &bound](std::int64_t runs) { return sample(bound, index, runs); },
                   .close =
                       [=, this, &bound] {
                         communicator_.from_leader(Order{Order::What::close, index, 0});
                         close(bound[index]);
                       },
                   .describe = [=, this](measure::Facts& entry) { describe(*timed, communicator_.ranks(), entry); }});
  }
  engine_.run(all);
  communicator_.from_leader(Order{});
}

measure::Sample DistributedSession::sample(std::vector<Bound>& all, std::size_t index, std::int64_t runs) {
  communicator_.from_leader(Order{Order::What::sample, index, runs});
  const std::vector<double> seconds = take(all[index], runs);
  measure::Sample sample{.seconds = std::ranges::max(seconds) / static_cast<double>(runs),
                         .runs = runs,
                         .sm_clock_mhz = backend_.sm_clock_mhz()};
  measure::Facts& by_rank = sample.fields["rank_ns"] = measure::Facts::array();
  for (const double each : seconds) by_rank.push_back(each / static_cast<double>(runs) * 1e9);
  return sample;
}

void DistributedSession::follow(std::vector<Bound>& bound) {
  while (true) {
    const Order order = communicator_.from_leader(Order{});
    if (order.what == Order::What::end) return;
    try {
      if (order.what == Order::What::sample) {
        take(bound[order.index], order.runs);
      } else {
        close(bound[order.index]);
      }
    } catch (const RankFailed&) {
      throw;
    } catch (const std::exception&) {
      // Rank 0 has the same, and says it.
    }
  }
}

/// Collective: seconds of all runs, by rank.
std::vector<double> DistributedSession::take(Bound& bound, std::int64_t runs) {
  double seconds = 0;
  on_all(communicator_, [&] {
    backend_.fill(bare(bound.timed->problem), bound.timed->plan.distribution, options_.input, options_.seed);
  });
  together(communicator_, [&] { seconds = backend_.time(*bound.rank, kUntimed, runs); });
  return communicator_.gather(seconds);
}

/// Collective. Stale state of a scan shows here: earlier checks saw its first runs.
void DistributedSession::close(Bound& bound) {
  bound.timed->verified = false;
  on_all(communicator_, [&] { compare(*bound.timed); });
  bound.timed->verified = true;
}

// ---------------------------------------------------------------------------------------------- the record

void describe(const DistributedCase& timed, int ranks, measure::Facts& entry) {
  const Problem& problem = timed.problem;
  entry["kind"] = "distributed";
  entry["variant"] = timed.algorithm->about.id;
  entry["type"] = name(problem.type);
  entry["op"] = name(problem.op);
  entry["mode"] = name(problem.mode);
  entry["items"] = problem.items;
  if (problem.rows != 1 || problem.inner != 1) {
    entry["rows"] = problem.rows;
    entry["inner"] = problem.inner;
  }
  entry["ranks"] = ranks;
  entry["on"] = timed.algorithm->on_gpus ? "gpus" : "hosts";
  measure::Facts& settings = entry["settings"] = measure::Facts::object();
  for (const Parameter& parameter : timed.algorithm->about.parameters) {
    settings[parameter.name] = setting(timed.algorithm->about, problem.settings, parameter.name);
  }
  entry["chunk_items"] = timed.plan.distribution.chunk;
  entry["bytes"] = problem.ideal_bytes();
  entry["compared_every"] = timed.compared_every;
}

measure::Facts described(const Algorithm& algorithm) {
  const Description& about = algorithm.about;
  return {{"title", about.title},         {"source", about.source},
          {"kind", name(about.kind)},     {"origin", algorithm.origin == Origin::variant ? "variant" : "baseline"},
          {"family", about.family},       {"on_gpus", algorithm.on_gpus},
          {"limits", about.limits},       {"reproducible_bits", about.bitwise_reproducible},
          {"traffic", about.cost.traffic}};
}

}  // namespace scanlab::distributed
