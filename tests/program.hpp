// The program within this process: what it says, and its status.
#pragma once

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

inline Result run_program(const std::vector<std::string>& words) {
  std::ostringstream out;
  std::ostringstream err;
  const int status = run(words, out, err);
  return {status, out.str(), err.str()};
}

}  // namespace scanlab::cli
