// A file that is written whole or not at all.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "harness/cli/command.hpp"

namespace scanlab::cli {

/// Refuses, before anything is measured, what could not be written later.
class WholeFile {
 public:
  /// Throws CommandError (status 2).
  WholeFile(std::filesystem::path path, bool replace) : path_(std::move(path)), partial_(path_.string() + ".partial") {
    if (!replace && std::filesystem::exists(path_)) {
      throw CommandError(
          kBadInput, fmt::format("'{}' exists; choose another name, or give --force to replace it", path_.string()));
    }
    std::error_code ignored;  // opening the file says it better
    if (path_.has_parent_path()) std::filesystem::create_directories(path_.parent_path(), ignored);
    file_.open(partial_);
    if (!file_ || std::filesystem::is_directory(path_)) fail();
  }
  ~WholeFile() {
    std::error_code ignored;
    std::filesystem::remove(partial_, ignored);
  }
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  void write(const std::string& text) {
    file_ << text;
    file_.close();
    std::error_code error;
    if (file_) std::filesystem::rename(partial_, path_, error);
    if (!file_ || error) fail();
  }

 private:
  [[noreturn]] void fail() const { throw CommandError(kBadInput, fmt::format("cannot write '{}'", path_.string())); }

  std::filesystem::path path_;
  std::filesystem::path partial_;
  std::ofstream file_;
};

}  // namespace scanlab::cli
