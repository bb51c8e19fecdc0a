// The files of an out-of-core scan: an input that must not change, and an output that is whole or resumable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "harness/host/open_file.hpp"
#include "harness/host/status.hpp"

namespace scanlab::out_of_core {

/// A file cannot be used; one sentence says which and why.
struct FileError : CommandError {
  explicit FileError(const std::string& sentence) : CommandError(kBadInput, sentence) {}
};
/// The input is no longer what it was: nothing that was computed from it is of use.
struct InputChanged : FileError {
  using FileError::FileError;
};

/// A file of items, read by positioned reads.
class InputFile {
 public:
  /// Throws FileError if it cannot be read, is no regular file, or does not hold whole items.
  InputFile(std::filesystem::path path, std::size_t item_bytes);

  std::int64_t bytes() const { return bytes_; }
  /// Facts that tell it from another one, or from itself after a change.
  nlohmann::ordered_json identity() const;

  /// Any thread. Throws FileError, InputChanged if the file ends before.
  void read(std::int64_t place, std::byte* to, std::size_t bytes) const;
  /// Throws InputChanged if size or time of modification are not what they were when it was opened.
  void check_unchanged() const;

 private:
  std::filesystem::path path_;
  OpenFile file_;
  std::int64_t bytes_ = 0;
  std::int64_t modified_ns_ = 0;
};

enum class WriteBy {
  pwrite,   ///< positioned writes: most file systems let one thread at a time into a file
  mapping,  ///< space is allocated, then copied to in the page cache, by many threads at once
};

struct OutputOptions {
  bool replace = false;  ///< an output that exists
  bool discard = false;  ///< a partial one without a state, of unknown origin
  bool fresh = false;    ///< begin anew, whatever an interrupted run left
  bool durable = false;  ///< data is on the disk before a state that counts it: for when the machine stops, not only we
  WriteBy by = WriteBy::pwrite;
};

/// PATH, written as PATH.partial and renamed at the end. Beside it PATH.partial.json is the state: what was asked for,
/// how many chunks are done, and the carry that the next needs. It is replaced by a rename, after the chunks that it
/// counts were handed to the system: whatever ends this process behind the first chunk, its next run goes on from
/// there. When the machine itself stops, that is true of `durable` states alone, and others are not believed after a
/// restart.
class ResumableOutput {
 public:
  /// `asked` is all that must be the same for a later run to go on. Throws FileError for a place that cannot be
  /// written, a file that exists, another run at work on it, or a state that does not fit `asked`.
  ResumableOutput(std::filesystem::path path, std::int64_t bytes, nlohmann::ordered_json asked,
                  const OutputOptions& options);
  /// Without a chunk done nothing is kept.
  ~ResumableOutput();
  ResumableOutput(const ResumableOutput&) = delete;
  ResumableOutput& operator=(const ResumableOutput&) = delete;

  int chunks_done() const { return chunks_done_; }
  /// The carry behind them; empty if there are none.
  const std::vector<std::byte>& carry() const { return carry_; }
  /// Why an interrupted run's chunks were not gone on from; empty if they were, or there was none.
  const std::string& begun_anew() const { return begun_anew_; }
  std::filesystem::path partial() const { return path_.string() + ".partial"; }
  /// Throws FileError unless so many chunks are done, of so many bytes, with a carry of `carry_bytes`.
  void check_state(int chunks, std::int64_t bytes, std::size_t carry_bytes) const;

  /// Any thread. Throws FileError.
  void write(std::int64_t place, const std::byte* from, std::size_t bytes);
  /// So many chunks, together so many bytes, are written. One thread at a time. Throws FileError.
  void chunks_written(int chunks, std::int64_t bytes, std::span<const std::byte> carry);
  /// All is written: gives it its name. Throws FileError.
  void finish();
  /// It is of no use: removes it.
  void discard();

 private:
  std::filesystem::path state_path() const { return partial().string() + ".json"; }
  std::filesystem::path next_state_path() const { return partial().string() + ".json.next"; }
  void remove_state() const;
  bool read_state();
  FileError cannot_go_on(const std::string& reason) const;
  void write_state(int chunks, std::int64_t bytes, std::span<const std::byte> carry) const;
  /// If it was asked for: whatever was written is on the disk. Throws FileError.
  void make_durable();

  std::filesystem::path path_;
  std::int64_t bytes_;
  nlohmann::ordered_json asked_;
  OutputOptions options_;
  OpenFile file_;
  std::byte* mapping_ = nullptr;
  int chunks_done_ = 0;
  std::int64_t bytes_done_ = 0;
  std::vector<std::byte> carry_;
  std::string begun_anew_;
  std::string lost_;  ///< why what was written may not be on the disk; empty: it is, or need not be
  bool ended_ = false;
};

}  // namespace scanlab::out_of_core
