// Ctrl-C as a question that a long command asks itself between two pieces of work.
#pragma once

namespace scanlab {

/// While it lives, the first SIGINT is only noted; a second one ends the program as usual.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};

/// Whether SIGINT came since the guard was made.
bool interrupted();

}  // namespace scanlab
