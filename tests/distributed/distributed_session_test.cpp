// The session, with scans over ranks that are threads: right ones, and ones with a fault each.
#include "harness/distributed/distributed_session.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/results/results_file.hpp"
#include "harness/verify/input.hpp"
#include "harness/verify/verification.hpp"
#include "tests/distributed/wrapped_backend.hpp"
#include "tests/test_folder.hpp"

namespace scanlab::distributed {
namespace {

using measure::Timing;

enum class Fault { none, forgets_a_rank, is_stale, fails_on_a_rank, has_no_memory };

/// Blocks of each row, whose folds each rank gathers, an item a column: as axis_exchange, by the host.
template <Fault kFault>
struct ByThreads {
  template <class Op>
  static constexpr bool kTakes = true;

  static Description describe() {
    Description about;
    about.id = "by_threads";
    about.primitive = Primitive::scan_axis;
    about.parameters = {{.name = "chunk", .values = {"whole", "3"}, .meaning = "items"}};
    return about;
  }
  static Plan plan(const Problem& problem, int ranks) {
    const std::int64_t lines = std::max<std::int64_t>(ceil_div(problem.axis(), ranks), 1);
    return {.distribution = {problem.items, ranks, lines * problem.inner, problem.rows}, .chain = problem.items + 1};
  }

  template <class Op>
  class Rank {
   public:
    using Item = typename Op::Item;
    Rank(const Problem& problem, const Plan& plan, int rank)
        : of_row_(plan.distribution.held_of_row(rank)),
          inner_(problem.inner),
          columns_(static_cast<std::size_t>(problem.rows * problem.inner)),
          mode_(problem.mode) {
      if (kFault == Fault::has_no_memory && rank == 1) throw measure::LacksMemory("out of it");
    }
    void connect(Communicator& communicator) {
      communicator_ = &communicator;
      communicator.barrier();
    }
    void run(const Item* in, Item* out, StreamHandle) {
      if (kFault == Fault::fails_on_a_rank && communicator_->rank() == 2) throw std::runtime_error("this GPU is tired");
      if (kFault == Fault::is_stale && runs_++ > 0) return;
      std::vector<Item> folds(columns_, Op::identity());
      const auto held = static_cast<std::int64_t>(columns_) / inner_ * of_row_;
      const auto column = [&](std::int64_t i) { return static_cast<std::size_t>(i / of_row_ * inner_ + i % inner_); };
      for (std::int64_t i = 0; i < held; ++i) folds[column(i)] = Op{}(folds[column(i)], in[i]);
      std::vector<Item> all(columns_ * static_cast<std::size_t>(communicator_->ranks()));
      communicator_->all_gather(folds.data(), columns_ * sizeof(Item), all.data());
      std::ranges::fill(folds, Op::identity());
      const auto before = columns_ * static_cast<std::size_t>(communicator_->rank());
      for (std::size_t i = kFault == Fault::forgets_a_rank ? columns_ : 0; i < before; ++i) {
        folds[i % columns_] = Op{}(folds[i % columns_], all[i]);
      }
      for (std::int64_t i = 0; i < held; ++i) {
        const Item next = Op{}(folds[column(i)], in[i]);
        out[i] = mode_ == Mode::exclusive ? folds[column(i)] : next;
        folds[column(i)] = next;
      }
    }

   private:
    Communicator* communicator_ = nullptr;
    std::int64_t of_row_;
    std::int64_t inner_;
    std::size_t columns_;
    Mode mode_;
    int runs_ = 0;
  };
};

/// The results on rank 0.
struct Ended {
  std::vector<Timing> timings;
  std::string err;
  std::vector<int> timed_by_rank;  ///< how many cases each rank holds for timed
};

template <Fault kFault>
Ended run(std::vector<Problem> problems, SessionOptions options, measure::ResultsFile* file = nullptr, int ranks = 3) {
  const Algorithm tested = algorithm<ByThreads<kFault>>(false);
  Ended ended;
  ended.timed_by_rank.assign(static_cast<std::size_t>(ranks), 0);
  run_threads(ranks, std::chrono::seconds(20), [&](Communicator& communicator) {
    std::vector<DistributedCase> cases;
    for (const Problem& problem : problems) {
      DistributedCase timed;
      timed.name = "by_threads/items:" + std::to_string(problem.items);
      timed.algorithm = &tested;
      timed.problem = problem;
      timed.plan = tested.plan(problem, ranks);
      timed.repetitions = 2;
      cases.push_back(std::move(timed));
    }
    const auto backend = make_host_backend(communicator);
    std::ostringstream err;
    measure::Engine engine({}, nullptr, err, communicator.rank() == 0 ? file : nullptr);
    DistributedSession session(cases, communicator, *backend, options, engine);
    session.run();
    for (const DistributedCase& each : cases) {
      if (each.state == Timing::State::timed) ++ended.timed_by_rank[static_cast<std::size_t>(communicator.rank())];
    }
    if (communicator.rank() != 0) return;
    ended.err = err.str();
    for (const DistributedCase& each : cases) ended.timings.push_back(each);
  });
  return ended;
}

const SessionOptions kShort{.sample_seconds = 1e-4};

TEST(DistributedSession, VerifiesAndTimesOnEveryRank) {
  std::vector<Problem> problems;
  for (const std::int64_t items : {0, 1, 2, 3, 100, 4097}) problems.push_back({.items = items});
  problems.push_back({.type = ElementType::f32, .op = Operator::affine, .mode = Mode::exclusive, .items = 1001});
  problems.push_back({.op = Operator::affine, .items = 3 * 50 * 7, .rows = 3, .inner = 7});
  problems.push_back({.mode = Mode::exclusive, .items = 40 * 2 * 5, .rows = 40, .inner = 5});
  const Ended ended = run<Fault::none>(problems, kShort);
  EXPECT_EQ(ended.timed_by_rank, (std::vector<int>{9, 9, 9}));
  for (const Timing& each : ended.timings) {
    EXPECT_EQ(each.state, Timing::State::timed) << each.name << ": " << each.reason;
    EXPECT_TRUE(each.verified) << each.name;
    EXPECT_EQ(each.nanoseconds.size(), 2u) << each.name;
  }
}

TEST(DistributedSession, ARecordHasItsCaseAndTheTimesOfTheRanks) {
  const TestFolder folder;
  const std::filesystem::path path = folder / "out.json";
  {
    measure::ResultsFile file(path, {{"schema", measure::kResultsSchema}}, false);
    run<Fault::none>({{.items = 1000, .settings = {{"chunk", "3"}}}}, kShort, &file);
  }
  const auto document = nlohmann::json::parse(std::ifstream(path));
  ASSERT_EQ(document["benchmarks"].size(), 2u);
  for (const auto& entry : document["benchmarks"]) {
    EXPECT_EQ(entry["kind"], "distributed");
    EXPECT_EQ(entry["variant"], "by_threads");
    EXPECT_EQ(entry["items"], 1000);
    EXPECT_EQ(entry["ranks"], 3);
    EXPECT_EQ(entry["on"], "hosts");
    EXPECT_EQ(entry["settings"]["chunk"], "3");
    EXPECT_EQ(entry["bytes"], 8000);
    ASSERT_EQ(entry["rank_ns"].size(), 3u);
    const double slowest = std::ranges::max(entry["rank_ns"].get<std::vector<double>>());
    EXPECT_DOUBLE_EQ(entry["real_time"].get<double>(), slowest) << "the time is that of the slowest rank";
    EXPECT_EQ(entry["verified"], true);
  }
}

TEST(DistributedSession, AWrongPrefixOnOneRankIsFound) {
  const Ended ended = run<Fault::forgets_a_rank>({{.items = 100}}, kShort);
  ASSERT_EQ(ended.timings.size(), 1u);
  EXPECT_EQ(ended.timings[0].state, Timing::State::failed);
  EXPECT_NE(ended.timings[0].reason.find("rank 1: verification failed"), std::string::npos) << ended.timings[0].reason;
  EXPECT_EQ(ended.timed_by_rank, (std::vector<int>{0, 0, 0})) << "all ranks know";
  EXPECT_NE(ended.err.find("rank 1"), std::string::npos);
}

/// Keeps runs, on hosts: a replay is a run, or writes nothing.
class KeepsRuns : public WrappedBackend {
 public:
  KeepsRuns(const Communicator& communicator, bool writes, int& replays)
      : WrappedBackend(communicator), writes_(writes), replays_(replays) {}
  std::unique_ptr<BoundRank> captured(BoundRank& bound) override {
    class Replay : public BoundRank {
     public:
      Replay(BoundRank& kept, bool writes, int& count) : kept_(kept), writes_(writes), count_(count) {}
      void run(const void* in, void* out, StreamHandle stream) override {
        ++count_;
        if (writes_) kept_.run(in, out, stream);
      }

     private:
      BoundRank& kept_;
      bool writes_;
      int& count_;
    };
    return std::make_unique<Replay>(bound, writes_, replays_);
  }

 private:
  bool writes_;
  int& replays_;
};

TEST(DistributedSession, ReplaysAreCheckedToo) {
  const Algorithm tested = algorithm<ByThreads<Fault::none>>(false);
  const auto outcome = [&](bool keeps, bool writes, int& replays) {
    Timing timing;
    run_threads(3, std::chrono::seconds(20), [&](Communicator& communicator) {
      std::vector<DistributedCase> cases(1);
      cases[0].algorithm = &tested;
      cases[0].problem = {.items = 100};
      cases[0].plan = tested.plan(cases[0].problem, 3);
      int own = 0;
      auto backend = make_host_backend(communicator);
      if (keeps) backend = std::make_unique<KeepsRuns>(communicator, writes, own);
      std::ostringstream err;
      measure::Engine engine({}, nullptr, err);
      DistributedSession(cases, communicator, *backend, {.timed = false, .repeat = 4, .replayed = true}, engine).run();
      if (communicator.rank() != 1) return;
      replays = own;
      timing = cases[0];
    });
    return timing;
  };
  int replays = 0;
  EXPECT_TRUE(outcome(true, true, replays).verified);
  EXPECT_EQ(replays, 5) << "four, and one that is compared";
  EXPECT_EQ(outcome(true, false, replays).state, Timing::State::failed) << "the runs before left what is right";
  EXPECT_EQ(outcome(false, true, replays).reason, "rank 0: a run is captured in a CUDA graph on GPUs alone");
}

TEST(DistributedSession, OutputThatTheFirstRunLeftIsNotTakenForTheSeconds) {
  const Ended ended = run<Fault::is_stale>({{.items = 100}}, kShort);
  EXPECT_EQ(ended.timings[0].state, Timing::State::failed);
}

TEST(DistributedSession, AnErrorOfOneRankIsTheCasesAndTheNextIsTimed) {
  const Ended ended = run<Fault::has_no_memory>({{.items = 100}, {.items = 200}}, kShort);
  for (const Timing& each : ended.timings) {
    EXPECT_EQ(each.state, Timing::State::skipped);
    EXPECT_TRUE(each.out_of_memory);
    EXPECT_EQ(each.reason, "rank 1: out of it");
  }
}

TEST(DistributedSession, AnOperatorThatATypeLacksIsSkippedAndTheNextIsTimed) {
  const Ended ended = run<Fault::none>(
      {{.type = ElementType::i8, .op = Operator{"arg_max"}, .items = 100}, {.type = ElementType::i8, .items = 100}},
      kShort);
  ASSERT_EQ(ended.timings.size(), 2u);
  EXPECT_EQ(ended.timings[0].state, Timing::State::skipped);
  EXPECT_NE(ended.timings[0].reason.find("arg_max"), std::string::npos) << ended.timings[0].reason;
  EXPECT_EQ(ended.timings[1].state, Timing::State::timed);
}

TEST(DistributedSession, OfALargeArrayAFewOutputsPerTileAreCompared) {
  const verify::Oracle sparse({.items = 10007}, InputKind::random, 1, 64);
  const verify::Oracle all({.items = 10007}, InputKind::random, 1);
  std::vector<std::int32_t> out(10007);
  std::int32_t sum = 0;
  for (std::int64_t i = 0; i < 10007; ++i) {
    sum = Plus<std::int32_t>{}(sum, verify::input_item<Plus<std::int32_t>>(InputKind::random, 1, i, 10007));
    out[static_cast<std::size_t>(i)] = sum;
  }
  ASSERT_TRUE(all.compare(out.data(), 1, Kind::scan).passed());
  EXPECT_TRUE(sparse.compare(out.data(), 1, Kind::scan).passed());
  EXPECT_TRUE(sparse.compare_run(out.data() + 500, 500, 300, 1, Kind::scan).passed());
  out[639] += 1;  // of those that are kept
  EXPECT_FALSE(sparse.compare(out.data(), 1, Kind::scan).passed());
  EXPECT_FALSE(sparse.compare_run(out.data() + 600, 600, 40, 1, Kind::scan).passed());
  EXPECT_TRUE(sparse.compare_run(out.data() + 600, 600, 39, 1, Kind::scan).passed());
  EXPECT_NE(sparse.compare(out.data(), 1, Kind::scan).message.find("639"), std::string::npos);
}

TEST(DistributedSession, ARankThatFailsWhileOthersWaitForItEndsThemAll) {
  try {
    run<Fault::fails_on_a_rank>({{.items = 100}}, kShort);
    FAIL() << "it went on";
  } catch (const RankFailed& failure) {
    EXPECT_STREQ(failure.what(), "rank 2 has failed: this GPU is tired");
  }
}

}  // namespace
}  // namespace scanlab::distributed
