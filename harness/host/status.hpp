// The exit statuses that all commands share, and the error that ends one.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace scanlab {

/// Exit statuses; the table in docs/CLI.md says the same.
enum Status : int {
  kOk = 0,
  kFailed = 1,        ///< a verification failed or a fault was found
  kBadInput = 2,      ///< wrong words, an unwritable path, an unreadable file
  kNoDevice = 3,      ///< needs a device (or a build) that is not here
  kOutOfMemory = 4,   ///< finished, but some cases were skipped for lack of memory
  kInterrupted = 130  ///< stopped by Ctrl-C; everything finished was kept
};

/// Which of two parts of a command, both at their end, decides its status.
constexpr int worse(int a, int b) {
  for (const int status : {kInterrupted, kFailed, kOutOfMemory}) {
    if (a == status || b == status) return status;
  }
  return kOk;
}

/// The sentence of a command without a result, after "nothing was timed: " and the like; its status is kBadInput.
inline constexpr std::string_view kAllSkipped = "every case was skipped, for the reasons above; choose others";

/// Ends the command with one sentence on the error stream and a status.
struct CommandError : std::runtime_error {
  CommandError(Status code, const std::string& sentence) : std::runtime_error(sentence), status(code) {}
  Status status;
};

/// Ends the command, whose input is wrong.
[[noreturn]] inline void refuse(const std::string& sentence) { throw CommandError(kBadInput, sentence); }

}  // namespace scanlab
