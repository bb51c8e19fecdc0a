#include <iostream>
#include <string>
#include <vector>

#include "harness/cli/command.hpp"

int main(int argc, char** argv) {
  return scanlab::cli::run(std::vector<std::string>(argv + 1, argv + argc), std::cout, std::cerr);
}
