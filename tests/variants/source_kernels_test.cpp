// Kernels as sources print them: the emulator finds the stated fault of each, and detects a mended kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "harness/cli/command.hpp"
#include "harness/core/variant.hpp"
#include "tests/program.hpp"
#include "variants/printed/hs_printed.hpp"

namespace scanlab::simt {
namespace {

/// The printed kernel, mended, which says of itself what the printed one does.
const PrintedKernelRegistration kMended{{
    .about =
        {.id = "hs_mended", .title = "a test's", .source = "none", .fault = FaultKind::no_progress, .remark = "none"},
    .refusal = printed::hs_refusal,
    .run = printed::run_hs<printed::HillisSteele<true, true>>,
}};
/// A faulty one, which says that it is right.
const PrintedKernelRegistration kSaidToBeRight{{
    .about = {.id = "hs_said_to_be_right", .title = "a test's", .source = "none", .fault = {}, .remark = "none"},
    .refusal = printed::hs_refusal,
    .run = printed::run_hs<printed::HillisSteele<true, false>>,
}};

cli::Result explain(const std::string& kernel, const std::vector<std::string>& more = {}) {
  return cli::run_program(cli::with({"explain", "--source-kernel", kernel}, more));
}

void expect_sentences(const cli::Result& result, const std::vector<std::string>& sentences) {
  for (const std::string& sentence : sentences) {
    EXPECT_TRUE(has((result.out + result.err), sentence)) << sentence << "\n" << result.out;
  }
}

PrintedRun run(const std::string& id, std::int64_t items) {
  return run_printed(*PrintedKernelRegistry::instance().find(id), items);
}

TEST(SourceKernels, HillisSteeleAsPrintedNeverAdvances) {
  const cli::Result result = explain("hs_printed", {"--items", "8"});
  EXPECT_EQ(result.status, kOk) << result.err;
  expect_sentences(result, {"interval 2", "item 0: nothing was written, and 0 is right",
                            "variants/printed/hs_printed.hpp:", "no_progress in hs_printed", "'offset <<= 1'"});
  EXPECT_TRUE(run("hs_printed", 64).matches_description());
}

TEST(SourceKernels, HillisSteeleWithoutTheBarrierAfterTheLoadRaces) {
  const PrintedRun printed = run("hs_printed_unordered", 64);
  EXPECT_TRUE(printed.matches_description());
  ASSERT_TRUE(printed.first_wrong);
  EXPECT_TRUE(printed.first_wrong->value);
  EXPECT_NE(printed.first_wrong->value, printed.first_wrong->right);
  const cli::Result result = explain("hs_printed_unordered");  // of 8 items
  EXPECT_EQ(result.status, kOk) << result.err;
  expect_sentences(result,
                   {"exclusive sum of 8 floats", "race in hs_printed", "with no barrier between", "__syncthreads()"});
}

TEST(SourceKernels, PrescanIsRightAndConflicts) {
  const PrintedRun printed = run("prescan_printed", 2048);
  EXPECT_TRUE(printed.matches_description());
  EXPECT_FALSE(printed.first_wrong);
  const BankCounts banks16 = printed.report.totals().banks16;
  EXPECT_EQ(banks16.max_degree, 16) << "slides: 'two-way, four-way, …' up to all 16 threads of a half-warp";
  // Loading neighbours: a two-way conflict, as the slides say.
  EXPECT_EQ(printed.report.launches.at(0).steps.at(0).counts.banks16.max_degree, 2);
  EXPECT_EQ(explain("prescan_printed").status, kOk);
}

TEST(SourceKernels, AMendedKernelIsNotTheOneThatIsPrinted) {
  const PrintedRun printed = run("hs_mended", 64);
  EXPECT_TRUE(printed.report.faults.empty());
  EXPECT_FALSE(printed.first_wrong);
  EXPECT_FALSE(printed.matches_description());
  const cli::Result result = explain("hs_mended");
  EXPECT_EQ(result.status, kFailed);
  expect_sentences(result, {"no no_progress, which is said of the printed code: this kernel is another, or mended"});
}

TEST(SourceKernels, AFaultInOneThatIsSaidToBeRightFails) {
  const cli::Result result = explain("hs_said_to_be_right");
  EXPECT_EQ(result.status, kFailed);
  expect_sentences(result, {"the printed code is said to be right"});
}

TEST(SourceKernels, AreListedAndAreNoVariants) {
  const cli::Result list = explain("list");
  EXPECT_EQ(list.status, kOk);
  const cli::Result unknown = explain("hs_print");
  EXPECT_EQ(unknown.status, kBadInput);
  for (const auto& [id, kernel] : PrintedKernelRegistry::instance().all()) {
    expect_sentences(list, {id});
    EXPECT_EQ(Registry::instance().find(id), nullptr);
  }
  expect_sentences(unknown, {"hs_printed"});
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(cli::run({"explain", "hs_printed"}, out, err), kBadInput);
}

TEST(SourceKernels, RefuseWhatTheyCannotDo) {
  for (const auto& [kernel, more, error] : std::vector<std::tuple<std::string, std::vector<std::string>, std::string>>{
           {"hs_printed", {"--items", "1025"}, "2 to 1024 items"},
           {"hs_printed", {"--items", "1"}, "2 to 1024 items"},
           {"prescan_printed", {"--items", "100"}, "a power of two"},
           {"hs_printed", {"--type", "i32"}, "--type would have no effect"},
           {"hs_printed", {"--json"}, "--json would have no effect"},
           {"hs_printed", {"--device", "cuda"}, "--device would have no effect"},
           {"hs_printed", {"hs_block"}, "--variant would have no effect"}}) {
    const cli::Result result = explain(kernel, more);
    EXPECT_EQ(result.status, kBadInput) << error;
    expect_sentences(result, {error});
  }
}

}  // namespace
}  // namespace scanlab::simt
