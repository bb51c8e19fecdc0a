#include <fcntl.h>

#include <iostream>

#include "harness/cli/command.hpp"

namespace {

/// Opens closed standard streams on /dev/null in the wrong direction, so that no other file takes their place and
/// reading or writing them fails.
void keep_standard_streams() {
  for (int stream = 0; stream <= 2; ++stream) {
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace

int main(int argc, char** argv) {
  keep_standard_streams();
  return scanlab::cli::run(std::vector<std::string>(argv + 1, argv + argc), std::cout, std::cerr);
}
