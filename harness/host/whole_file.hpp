// A file that is written whole or not at all.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace scanlab {

/// Refuses, before anything is measured, what could not be written later: throws CommandError (status 2).
class WholeFile {
 public:
  /// Makes the folders above `path` and the partial file that `write` renames. `replace` is of files alone: a device
  /// or a folder is refused. Folders that stay empty are gone with it.
  WholeFile(std::filesystem::path path, bool replace);
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  /// Once. Throws CommandError (status 2) if the disk does not take it; what `path` held before stays.
  void write(const std::string& text);

  const std::filesystem::path& path() const { return path_; }

 private:
  [[noreturn]] void refuse(const std::string& reason) const;

  std::filesystem::path path_;
  std::filesystem::path partial_;
  std::vector<std::filesystem::path> made_;  ///< folders, innermost first
  std::ofstream file_;
};

}  // namespace scanlab
