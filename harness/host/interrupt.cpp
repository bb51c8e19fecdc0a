#include "harness/host/interrupt.hpp"

#include <csignal>

namespace scanlab {

namespace {

volatile std::sig_atomic_t noted = 0;
struct sigaction before;

void note(int) { noted = 1; }

}  // namespace

InterruptGuard::InterruptGuard() {
  noted = 0;
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, &before);
}

InterruptGuard::~InterruptGuard() { sigaction(SIGINT, &before, nullptr); }

bool interrupted() { return noted != 0; }

}  // namespace scanlab
