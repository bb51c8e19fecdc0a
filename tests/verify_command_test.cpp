// What `scanlab verify` promises on its command line: words, statuses, the closing summary.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "harness/cli/command.hpp"
#include "harness/cli/provenance.hpp"

namespace scanlab::cli {
namespace {

struct Ended {
  int status;
  std::string out;
  std::string err;
};

Ended verify(std::vector<std::string> words) {
  words.insert(words.begin(), "verify");
  std::ostringstream out;
  std::ostringstream err;
  const int status = run(words, out, err);
  return {status, out.str(), err.str()};
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(VerifyCommand, ChecksAndSumsUp) {
  const Ended ended = verify({"--device", "simt", "--variant", "hs_block", "--items", "1,33"});
  EXPECT_EQ(ended.status, kOk) << ended.err << ended.out;
  // 24 combinations of type, operator and mode, two sizes, five inputs.
  EXPECT_TRUE(contains(ended.out, "240 passed, 0 failed, 0 skipped")) << ended.out;
  EXPECT_TRUE(contains(ended.out, "worst error/bound")) << ended.out;
}

TEST(VerifyCommand, SaysWhatAVariantCannotTake) {
  const Ended ended = verify({"--device", "simt", "--variant", "hs_block", "--type", "i32", "--op", "plus", "--mode",
                              "inclusive", "--items", "1025"});
  EXPECT_EQ(ended.status, kOk) << ended.err;
  EXPECT_TRUE(contains(ended.out, "n <= 1024")) << ended.out;
  EXPECT_TRUE(contains(ended.out, "0 passed, 0 failed, 1 skipped")) << ended.out;
}

TEST(VerifyCommand, SaysThatNothingWasCheckedWhereNothingHasAForm) {
  const Ended ended = verify({"--device", "simt", "--variant", "look_ahead", "--items", "1000"});
  EXPECT_EQ(ended.status, kNoDevice) << ended.out;
#if defined(SCANLAB_WITH_CUDA)
  EXPECT_TRUE(contains(ended.err, "nothing was checked")) << ended.err;
#endif
}

TEST(VerifyCommand, OfATypeThatIsNamedSaysThatAVariantDoesNotHaveIt) {
  const Ended ended = verify({"--device", "simt", "--variant", "hs_block", "--type", "i8", "--items", "1"});
  EXPECT_EQ(ended.status, kOk) << ended.err;
  EXPECT_TRUE(contains(ended.out, "hs_block does not take")) << ended.out;
}

TEST(VerifyCommand, ChecksInEveryPlacementAndSaysWhichAVariantCannot) {
  const Ended ended = verify({"--device", "simt", "--variant", "hs_block", "--type", "i32", "--op", "affine", "--mode",
                              "inclusive", "--items", "33", "--placement", "apart,shifted,in_place"});
  EXPECT_EQ(ended.status, kOk) << ended.err << ended.out;
  EXPECT_TRUE(contains(ended.out, "10 passed, 0 failed, 5 skipped")) << ended.out;
  EXPECT_TRUE(contains(ended.out, "hs_block does not work in place")) << ended.out;
}

TEST(VerifyCommand, RepeatsOnlyOnAGpu) {
  const Ended ended = verify({"--device", "simt", "--repeat", "5"});
  EXPECT_EQ(ended.status, kBadInput);
  EXPECT_TRUE(contains(ended.err, "--repeat needs a GPU")) << ended.err;
  EXPECT_EQ(verify({"--device", "simt", "--repeat", "1"}).status, kBadInput);
}

TEST(VerifyCommand, WrongWordsNameTheNearMatches) {
  const Ended input = verify({"--device", "simt", "--input", "randon"});
  EXPECT_EQ(input.status, kBadInput);
  EXPECT_TRUE(contains(input.err, "random")) << input.err;
  const Ended placement = verify({"--device", "simt", "--placement", "shift"});
  EXPECT_EQ(placement.status, kBadInput);
  EXPECT_TRUE(contains(placement.err, "shifted")) << placement.err;
  EXPECT_EQ(verify({"--device", "opencl"}).status, kBadInput);
  EXPECT_EQ(verify({"--devise", "simt"}).status, kBadInput);
  EXPECT_EQ(verify({"--variant", "hs_blok"}).status, kBadInput);
}

TEST(VerifyCommand, WithoutAGpuSaysWhatToDoInstead) {
  std::string why_not;
  if (device_facts(why_not)) GTEST_SKIP() << "there is a GPU here";
  const Ended ended = verify({"--device", "cuda"});
  EXPECT_EQ(ended.status, kNoDevice);
  EXPECT_TRUE(contains(ended.err, "--device simt")) << ended.err;
}

}  // namespace
}  // namespace scanlab::cli
