// scanlab new: the file that it writes, and the names that it refuses. The file is one of examples/ under another name,
// which other tests compile and verify.
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "harness/cli/command.hpp"
#include "harness/host/status.hpp"
#include "tests/test_folder.hpp"

namespace scanlab::cli {
namespace {

class NewScan : public testing::Test {
 protected:
  /// The status of `scanlab new WORDS --out FOLDER`.
  int make(std::vector<std::string> words) {
    words.insert(words.begin(), "new");
    words.insert(words.end(), {"--out", folder_.string()});
    out_.str("");
    err_.str("");
    return run(words, out_, err_);
  }
  std::string text(const char* file) const { return text_of(folder_ / file); }

  const TestFolder own_;
  const std::filesystem::path& folder_ = own_.path();
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(NewScan, IsTheExampleUnderItsOwnName) {
  ASSERT_EQ(make({"quarter_scan"}), kOk) << err_.str();
  const std::string written = text("quarter_scan.cu");
  EXPECT_NE(written.find("about.id = \"quarter_scan\""), std::string::npos);
  EXPECT_NE(written.find("portable_scan<QuarterScan>"), std::string::npos);
  EXPECT_EQ(written.find("my_scan"), std::string::npos);
  EXPECT_EQ(written.find("MyScan"), std::string::npos);
}

TEST_F(NewScan, IsForOneTypeOrPlainCuda) {
  ASSERT_EQ(make({"only_floats", "--plain", "--type", "f32"}), kOk) << err_.str();
  const std::string written = text("only_floats.cu");
  EXPECT_NE(written.find("kTakes = std::is_same_v<typename Op::Element, float>;"), std::string::npos) << written;
  EXPECT_NE(written.find("cuda_scan<OnlyFloatsScan>"), std::string::npos);
  ASSERT_EQ(make({"plan"}), kOk) << err_.str();
  EXPECT_NE(text("plan.cu").find("portable_scan<PlanScan>"), std::string::npos) << "Plan is the harness's";
  EXPECT_NE(written.find("__global__ void only_floats_kernel"), std::string::npos);
}

TEST_F(NewScan, MayBeCalledWhatTheExamplesKernelIs) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"my_kernel"}, {"my_kernel", "--plain", "--force"}}) {
    ASSERT_EQ(make(words), kOk) << err_.str();
    EXPECT_NE(text("my_kernel.cu").find("about.id = \"my_kernel\""), std::string::npos) << text("my_kernel.cu");
  }
}

TEST_F(NewScan, RefusesWhatCannotBeCalledSo) {
  EXPECT_EQ(make({"hs_block"}), kBadInput);
  EXPECT_NE(err_.str().find("a variant 'hs_block' exists already: choose"), std::string::npos) << err_.str();
  EXPECT_EQ(make({"Hs Block"}), kBadInput);
  EXPECT_EQ(make({"3rd"}), kBadInput);
  EXPECT_EQ(make({}), kBadInput);
  EXPECT_EQ(make({"quarter_scan", "--type", "i7"}), kBadInput);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(NewScan, ReplacesNothingUnasked) {
  ASSERT_EQ(make({"quarter_scan"}), kOk);
  EXPECT_EQ(make({"quarter_scan", "--plain"}), kBadInput);
  EXPECT_EQ(text("quarter_scan.cu").find("__global__"), std::string::npos);
  EXPECT_EQ(make({"quarter_scan", "--plain", "--force"}), kOk);
}

}  // namespace
}  // namespace scanlab::cli
