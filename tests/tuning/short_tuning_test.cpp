// Tests of `bench --tune-now` on a device without a table. No device is needed: a machine makes the times up, and a
// clock that the test holds says when they end.
#include "harness/tuning/short_tuning.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tests/program.hpp"
#include "tests/test_folder.hpp"
#include "tests/tuning/made_up_backend.hpp"

namespace scanlab::tuning {
namespace {

const TypeAndOperator kI32Plus{ElementType::i32, Operator::plus};
const TypeAndOperator kF64Max{ElementType::f64, Operator::max};
const measure::Facts kDevice{{"device", "a device"}, {"compute_capability", "8.0"}, {"multiprocessors", "108"}};

measure::TimedCase timed(const char* variant, std::int64_t n, ElementType type = ElementType::i32) {
  return measure::TimedCase({Registry::instance().find(variant), {.type = type, .items = n}});
}

class ShortTuning : public testing::Test {
 protected:
  ~ShortTuning() override { unsetenv("SCANLAB_TUNING"); }

  /// Each measurement takes so many seconds of the clock.
  MadeUpBackend& made_up(double cost, std::function<double(const measure::TimedCase&)> seconds) {
    backends_.cuda = std::make_unique<MadeUpBackend>([=, this](const measure::TimedCase& each) {
      clock_ += cost;
      order_.push_back(each.problem().items);
      return seconds(each);
    });
    return static_cast<MadeUpBackend&>(*backends_.cuda);
  }
  TuningTable tune(const Asked& asked) {
    measure::Engine engine({}, nullptr, err_);
    Tuner tuner(backends_, engine);
    return tune_shortly(asked, tuner, kDevice, [this] { return clock_; });
  }
  std::filesystem::path path(const char* name) const { return folder_ / name; }

  measure::Backends backends_;
  double clock_ = 0;
  std::vector<std::int64_t> order_;  ///< sizes as they were timed
  std::ostringstream err_;

 private:
  TestFolder folder_;
};

TEST_F(ShortTuning, IsOfWhatBestIsAskedFor) {
  EXPECT_TRUE(best_requests({timed("one_block", 1000)}).empty());
  const Asked asked = best_requests({timed("best", 4096), timed("best", 1000), timed("warp_shuffle", 7),
                                     timed("best", 1000), timed("best", 5, ElementType::f64)});
  EXPECT_EQ(asked, (Asked{{kI32Plus, {1000, 4096}}, {{ElementType::f64, Operator::plus}, {5}}}));
}

TEST_F(ShortTuning, BestGoesByTheTableThatIsWritten) {
  made_up(0, [](const measure::TimedCase& each) {
    const bool small = each.problem().items < 3000;
    return each.about().id == (small ? "warp_shuffle" : "reduce_then_scan") ? 1e-6 : 3e-6;
  });
  const TuningTable table = tune({{kI32Plus, {1000, 2000, 4000, 16'000}}});
  EXPECT_EQ(table.device, "a device");
  EXPECT_EQ(table.multiprocessors, 108);

  const auto choice = [](std::int64_t n) { return Registry::instance().find("best")->bind({.items = n}).plan.choice; };
  EXPECT_EQ(table_in_use(kDevice), kNoTable);
  {
    WholeFile file(path("scan.tuning.json"), false);
    use_table(table, file, path("scan.tuning.json"));
  }
  EXPECT_EQ(table_in_use(kDevice), "SCANLAB_TUNING=" + path("scan.tuning.json").string());
  EXPECT_EQ(read_tuning_table(path("scan.tuning.json"), "it").entries.size(), 1);
  EXPECT_EQ(choice(1000)->variant, "warp_shuffle");
  EXPECT_EQ(choice(16'000)->variant, "reduce_then_scan");
}

TEST_F(ShortTuning, SharesItsTimeAndBeginsWithTheLargest) {
  made_up(0.05, [](const measure::TimedCase&) { return 1e-6; });  // a size takes seconds
  Asked asked;
  for (const TypeAndOperator& monoid : {kI32Plus, kF64Max}) {
    for (std::int64_t n = 256; n <= 1 << 24; n *= 4) asked[monoid].insert(n);
  }
  const TuningTable table = tune(asked);
  EXPECT_EQ(table.entries.size(), 2) << "each type and operator has its share";
  EXPECT_GE(clock_, kShortSeconds / 2);
  EXPECT_LT(clock_, 60) << "less than a minute";
  EXPECT_EQ(order_.front(), 1 << 24);
  EXPECT_LT(std::ranges::count(order_, 1 << 24), std::ssize(order_)) << "and more than that";
}

TEST_F(ShortTuning, WithoutATableItIsSaidWhatRunsAndWhatToDo) {
  const std::string hint = no_table("a device");
  for (const char* words : {"a device", "one_block or decoupled_lookback", "--tune-now", "scanlab tune"}) {
    EXPECT_NE(hint.find(words), std::string::npos) << hint;
  }
  EXPECT_EQ(table_in_use({{"device", "NVIDIA H200"}, {"multiprocessors", "132"}}), "built in");
  EXPECT_EQ(table_in_use({{"device", "NVIDIA H200"}, {"multiprocessors", "114"}}), kNoTable) << "a part of one";
  EXPECT_EQ(short_table_path("results/scan.json"), "results/scan.tuning.json");
  EXPECT_EQ(short_table_path("scan"), "scan.tuning.json");
}

TEST_F(ShortTuning, IsRefusedWhereItMakesNoSense) {
  const auto expect = [](const std::vector<std::string>& words, int status, const char* hint) {
    expect_error(cli::with({"bench", "--items", "1000", "--tune-now"}, words), hint, status);
  };
  const std::string out = path("scan.json").string();
  expect({"--variant", "cpu_sequential", "--out", out}, kBadInput, "for best, which no case needs");
  expect({"--variant", "best"}, kBadInput, "give --out FILE");
  std::string refusal;
  if (!measure::device_facts(refusal)) {
    expect({"--variant", "best", "--out", out}, kNoDevice, "best needs a CUDA device");
    EXPECT_TRUE(std::filesystem::is_empty(path("."))) << "no file is left";
  }
}

TEST_F(ShortTuning, NeverChoosesWhatIsWrongAtAnySize) {
  made_up(0, [](const measure::TimedCase& each) {
    if (each.about().id != "warp_shuffle") return 3e-6;
    if (each.problem().items == 1024) throw std::runtime_error("the launch was refused");
    return 1e-6;
  });
  const TuningTable table = tune({{kI32Plus, {256, 1024, 4096, 16'384}}});
  for (const TuningTable::Row& row : table.entries.front().rows) {
    EXPECT_NE(row.choice.variant, "warp_shuffle") << row.from_items;
  }
}

}  // namespace
}  // namespace scanlab::tuning
