// One line that says how far a long command is.
#pragma once

#include <ostream>
#include <string>

#include "harness/host/clock.hpp"

namespace scanlab {

/// "3 min 20 s", "45 s".
std::string in_words(double seconds);

/// On a terminal the line is rewritten in place; elsewhere a new one is written now and then.
class Progress {
 public:
  explicit Progress(std::ostream& err);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const std::string& line);
  /// Wipes the line, so that something else can be written.
  void clear();

 private:
  std::ostream& err_;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point next_;
};

}  // namespace scanlab
