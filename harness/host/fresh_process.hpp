// A process of its own, for what is decided as a process starts: variables that CUDA reads once.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace scanlab {

struct FreshProcess {
  int status = 0;   ///< exit status; 128 + the signal if one ended it
  std::string out;  ///< its standard output
};

/// Runs `executable words…` with `environment` added to, or replacing, this process's own, and waits for it. Its error
/// stream is ours. Throws CommandError (status 1) if it cannot be started.
FreshProcess run_in_fresh_process(const std::vector<std::string>& words,
                                  const std::vector<std::pair<std::string, std::string>>& environment,
                                  const std::string& executable = "/proc/self/exe");

/// The first word of a command that this program gives itself in a fresh process; not for users.
inline constexpr char kInFreshProcess[] = "in-fresh-process";

}  // namespace scanlab
