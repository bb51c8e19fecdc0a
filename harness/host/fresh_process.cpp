#include "harness/host/fresh_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "harness/host/open_file.hpp"
#include "harness/host/status.hpp"

namespace scanlab {

namespace {

/// As exec wants it: pointers, the last one null.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::string read_to_the_end(int file) {
  std::string text;
  std::array<char, 4096> piece{};
  while (true) {
    const ssize_t count = read(file, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
}

int status_of(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

FreshProcess run_in_fresh_process(const std::vector<std::string>& words,
                                  const std::vector<std::pair<std::string, std::string>>& environment,
                                  const std::string& executable) {
  std::vector<std::string> arguments{executable};
  arguments.insert(arguments.end(), words.begin(), words.end());
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const auto replaces = [&](const auto& variable) { return text.starts_with(variable.first + "="); };
    if (std::ranges::none_of(environment, replaces)) variables.push_back(text);
  }
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw CommandError(kFailed, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  const OpenFile output(ends[0]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t process = 0;
  const int error = posix_spawn(&process, executable.c_str(), &actions, nullptr, pointers_to(arguments).data(),
                                pointers_to(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) throw CommandError(kFailed, fmt::format("cannot start '{}': {}", executable, std::strerror(error)));
  std::string text = read_to_the_end(output.get());
  return {.status = status_of(process), .out = std::move(text)};
}

}  // namespace scanlab
