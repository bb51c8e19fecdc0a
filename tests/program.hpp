// The program within this process: what it says, and its status.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "harness/cli/command.hpp"

namespace scanlab::cli {

struct Result {
  int status = 0;
  std::string out;
  std::string err;
};

/// The words, and more of them.
inline std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

inline Result run_program(const std::vector<std::string>& words) {
  std::ostringstream out;
  std::ostringstream err;
  const int status = run(words, out, err);
  return {status, out.str(), err.str()};
}

}  // namespace scanlab::cli

namespace scanlab {

/// Whether a text has a part; an expectation that is not met prints both.
inline testing::AssertionResult has(const std::string& text, const std::string& part) {
  const bool found = text.find(part) != std::string::npos;
  return testing::AssertionResult(found) << "\"" << part << "\" in " << text;
}

/// The program ends with this status, and says this of the reason, in one sentence.
inline void expect_error(const std::vector<std::string>& words, const std::string& hint, int status = kBadInput) {
  const cli::Result result = cli::run_program(words);
  EXPECT_EQ(result.status, status) << testing::PrintToString(words) << ": " << result.err;
  EXPECT_TRUE(has(result.err, hint)) << testing::PrintToString(words);
  EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
}

}  // namespace scanlab
