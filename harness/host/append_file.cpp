#include "harness/host/append_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <string_view>
#include <system_error>
#include <utility>

#include "harness/host/status.hpp"

namespace scanlab {

namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& reason) {
  throw CommandError(kBadInput, fmt::format("cannot write results to '{}': {}", path.string(), reason));
}

OpenFile create(const std::filesystem::path& path, bool replace) {
  if (!path.has_filename()) refuse(path, "it names no file");
  if (path.has_parent_path()) {
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error) refuse(path, error.message());
  }
  OpenFile file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (file.get() < 0) refuse(path, std::strerror(errno));
  struct stat status {};
  if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) refuse(path, "it is not a file");
  if (status.st_size > 0 && !replace)
    refuse(path, "it holds something already; choose another name, or give --force to replace it");
  return file;
}

bool write_all(int file, std::string_view text, std::int64_t offset) {
  while (!text.empty()) {
    const ssize_t written = pwrite(file, text.data(), text.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
    offset += written;
  }
  return true;
}

}  // namespace

AppendFile::AppendFile(std::filesystem::path path, bool replace, std::string tail, std::chrono::milliseconds unsynced)
    : path_(std::move(path)),
      was_there_(access(path_.c_str(), F_OK) == 0),
      file_(create(path_, replace)),
      held_something_(lseek(file_.get(), 0, SEEK_END) > 0),
      tail_(std::move(tail)),
      unsynced_(unsynced) {}

AppendFile::~AppendFile() {
  const bool failed = std::uncaught_exceptions() > 0;
  if (!has_entries_ && failed && !was_there_) {
    unlink(path_.c_str());
  } else if (!has_entries_ && failed && !held_something_) {
    [[maybe_unused]] const int ignored = ftruncate(file_.get(), 0);
  } else if (!begun_ && !failed) {
    try {
      append({});
    } catch (const CommandError&) {  // of a full disk: what is lost is a file without entries
    }
  }
  fsync(file_.get());
}

void AppendFile::begin(std::string opening) {
  opening_ = std::move(opening);
  if (!held_something_) append({});
}

void AppendFile::append(const std::string& entry, const std::string& kept) {
  const std::string text = begun_ ? entry : opening_ + entry;
  bool taken = (begun_ || ftruncate(file_.get(), 0) == 0) && write_all(file_.get(), text + tail_, end_);
  begun_ = true;
  has_entries_ = has_entries_ || !entry.empty();
  const Clock::time_point now = Clock::now();
  if (taken && now - synced_ >= unsynced_) {
    taken = fsync(file_.get()) == 0;
    synced_ = now;
  }
  if (taken) {
    end_ += static_cast<std::int64_t>(text.size());
    return;
  }
  const int error = errno;
  // A full disk still takes the tail: its bytes are the file's already, unless there is nothing before it.
  const std::string_view tail = end_ > 0 ? std::string_view(tail_) : std::string_view();
  if (write_all(file_.get(), tail, end_)) {
    [[maybe_unused]] const int ignored = ftruncate(file_.get(), end_ + static_cast<std::int64_t>(tail.size()));
  }
  scanlab::refuse(fmt::format("cannot write to '{}': {}; {}", path_.string(), std::strerror(error), kept));
}

}  // namespace scanlab
