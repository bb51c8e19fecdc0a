// A file that grows entry by entry, and is well-formed whenever it is looked at.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "harness/host/clock.hpp"
#include "harness/host/open_file.hpp"

namespace scanlab {

class AppendFile {
 public:
  /// Creates the file, and folders above it. Its former content stays until the first entry. `tail` stands behind
  /// whatever was appended last. An entry that was appended survives this process; the machine's end, once it is
  /// `unsynced` old. Throws CommandError (status 2) if that cannot be, or if the file holds something and is not to be
  /// replaced.
  AppendFile(std::filesystem::path path, bool replace, std::string tail = "",
             std::chrono::milliseconds unsynced = std::chrono::milliseconds(0));
  /// If an error ends the command before the first entry, the file is as it was.
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  /// Writes the text before the first entry: at once, or with the first entry if the file held something. Once.
  void begin(std::string opening);

  /// Throws CommandError (status 2) if the disk does not take it, with `kept` at its end; the file then holds what it
  /// held before.
  void append(const std::string& text, const std::string& kept = "what was written before is kept");

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  bool was_there_;
  OpenFile file_;
  bool held_something_;
  bool begun_ = false;  ///< its former content is gone
  bool has_entries_ = false;
  std::string opening_;
  std::int64_t end_ = 0;  ///< offset of the tail
  std::string tail_;
  std::chrono::milliseconds unsynced_;
  Clock::time_point synced_;
};

}  // namespace scanlab
