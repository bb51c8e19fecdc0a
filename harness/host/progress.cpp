#include "harness/host/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>

namespace scanlab {

namespace {

constexpr auto kTerminalPause = std::chrono::milliseconds(100);
constexpr auto kLogPause = std::chrono::seconds(10);

std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

std::string in_words(double seconds) {
  const std::int64_t whole = std::llround(seconds);
  return whole < 60 ? fmt::format("{} s", whole) : fmt::format("{} min {} s", whole / 60, whole % 60);
}

Progress::Progress(std::ostream& err)
    : err_(err),
      terminal_(&err == &std::cerr && isatty(STDERR_FILENO) == 1),
      next_(terminal_ ? Clock::now() : Clock::now() + kLogPause) {}

Progress::~Progress() { clear(); }

void Progress::show(const std::string& line) {
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + (terminal_ ? Clock::duration(kTerminalPause) : Clock::duration(kLogPause));
  if (terminal_) {
    err_ << "\r\033[K" << line.substr(0, std::max<std::size_t>(terminal_columns(), 2) - 1) << std::flush;
    shown_ = true;
  } else {
    err_ << line << "\n" << std::flush;
  }
}

void Progress::clear() {
  if (shown_) err_ << "\r\033[K" << std::flush;
  shown_ = false;
}

}  // namespace scanlab
