// Traces of runs over ranks that are threads, whose activities a stand-in for CUPTI records.
#include "harness/distributed/run_trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <sstream>

#include "harness/host/clock.hpp"
#include "tests/distributed/wrapped_backend.hpp"

namespace scanlab::distributed {
namespace {

using Kind = streams::Activity::Kind;
using Recorded = std::vector<streams::Activity>;

std::int64_t now() { return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count(); }

/// Copies what a rank holds.
struct Copies {
  template <class Op>
  static constexpr bool kTakes = true;

  static Description describe() {
    Description about;
    about.id = "copies";
    about.kind = scanlab::Kind::copy;
    about.parameters = {{.name = "chunk", .values = {"8", "16"}, .meaning = "tiles"}};
    return about;
  }
  static Plan plan(const Problem& problem, int ranks) { return Plan::of_blocks(problem, ranks); }

  template <class Op>
  struct Rank {
    using Item = typename Op::Item;
    Rank(const Problem&, const Plan& plan, int rank) : held(plan.distribution.held(rank)) {}
    void run(const Item* in, Item* out, StreamHandle) { std::copy(in, in + held, out); }
    std::int64_t held;
  };
};

/// A rank in the host's memory that says it is GPU 10 + rank, and records its runs alone.
class NumberedBackend : public WrappedBackend {
 public:
  NumberedBackend(Communicator& communicator, Recorded& recorded, std::mutex& mutex)
      : WrappedBackend(communicator), rank_(communicator.rank()), recorded_(recorded), mutex_(mutex) {}
  double time(BoundRank& bound, std::int64_t untimed, std::int64_t runs) override {
    record("untraced", Kind::kernel, 0);
    return WrappedBackend::time(bound, untimed, runs);
  }
  void run_alone(BoundRank& bound, const std::function<void()>& meet) override {
    record("", Kind::memset, 0);  // the poison
    WrappedBackend::run_alone(bound, meet);
    record(kHoldsBack, Kind::kernel, 5);
    record("first", Kind::kernel, 10 + rank_);
    record("", Kind::copy, 20);
    spin_until(Clock::now() + std::chrono::microseconds(50));
  }
  int device() const override { return 10 + rank_; }

 private:
  void record(const char* name, Kind kind, std::int64_t after) {
    const std::scoped_lock lock(mutex_);
    recorded_.push_back({kind, device(), name, now() + after, now() + after + 7, 64});
  }

  int rank_;
  Recorded& recorded_;
  std::mutex& mutex_;
};

/// `change` of what was recorded, before the entries are made.
measure::Facts traced(int ranks, int runs, const std::function<void(Recorded&)>& change = {}) {
  const Algorithm copies = algorithm<Copies>(false);
  measure::Facts entries;
  Recorded recorded;
  std::mutex mutex;
  RunTracer tracer(runs, now);
  run_threads(ranks, std::chrono::seconds(20), [&](Communicator& communicator) {
    std::vector<DistributedCase> cases(1);
    cases[0].name = "copies";
    cases[0].algorithm = &copies;
    cases[0].problem = {.items = 1001, .settings = {{"chunk", "16"}}};
    cases[0].plan = copies.plan(cases[0].problem, ranks);
    NumberedBackend backend(communicator, recorded, mutex);
    std::ostringstream err;
    measure::Engine engine({}, nullptr, err);
    DistributedSession session(
        cases, communicator, backend,
        {.timed = false,
         .observed = [&](const DistributedCase& each,
                         BoundRank& bound) { tracer.trace(each, bound, backend, communicator); }},
        engine);
    session.run();
    EXPECT_TRUE(cases[0].verified) << cases[0].reason;
    if (communicator.rank() != 0) return;
    if (change) change(recorded);
    entries = tracer.traces(recorded);
  });
  return entries;
}

TEST(RunTrace, HasWhatEachRankDidInEachRunAndNothingElse) {
  const measure::Facts made = traced(3, 4);
  ASSERT_EQ(made.size(), 1u);
  const measure::Facts& entry = made[0];
  EXPECT_EQ(entry["variant"], "copies");
  EXPECT_EQ(entry["items"], 1001);
  EXPECT_EQ(entry["ranks"], 3);
  EXPECT_EQ(entry["verified"], true);
  EXPECT_EQ(entry["settings"]["chunk"], "16");
  ASSERT_EQ(entry["activities"].size(), 4u * 3 * 2) << "a kernel and a copy of each rank in each run";
  std::set<int> begins_at_zero;
  for (const auto& each : entry["activities"]) {
    EXPECT_EQ(each["device"].get<int>(), 10 + each["rank"].get<int>());
    EXPECT_EQ(each["name"], each["kind"] == "kernel" ? "first" : "");
    EXPECT_EQ(each["end_ns"].get<int>() - each["start_ns"].get<int>() >= 7, true);
    if (each["start_ns"] == 0) begins_at_zero.insert(each["run"].get<int>());
  }
  EXPECT_EQ(begins_at_zero, (std::set<int>{0, 1, 2, 3})) << "time begins with the first start of each run";
  const std::vector<std::int64_t> lengths = run_lengths(entry);
  ASSERT_EQ(lengths.size(), 4u);
  EXPECT_GT(std::ranges::min(lengths), 0);
}

TEST(RunTrace, WhatIsMissingOrOfAnotherGpuIsSaid) {
  const auto failure = [](const std::function<void(Recorded&)>& change) -> std::string {
    try {
      traced(2, 1, change);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(failure([](Recorded& all) { std::erase_if(all, [](const auto& each) { return each.device == 11; }); }),
            "CUPTI recorded nothing of rank 1 in run 0 of copies");
  EXPECT_EQ(failure([](Recorded& all) { all.back().device = 99; }), "CUPTI recorded GPU 99, which no rank has");
}

}  // namespace
}  // namespace scanlab::distributed
