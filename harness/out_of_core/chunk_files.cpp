#include "harness/out_of_core/chunk_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

namespace scanlab::out_of_core {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

constexpr char kUnreadable[] = "its state cannot be read";
constexpr char kSchema[] = "scanlab-stream-scan-state/1";

std::string system_says() { return std::strerror(errno); }

std::int64_t modified_ns(const struct stat& status) {
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

[[noreturn]] void cannot_write(const fs::path& path, const std::string& reason) {
  throw FileError(fmt::format("cannot write '{}': {}", path.string(), reason));
}

/// Changes when the machine is started anew; empty where nothing says so.
std::string boot() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

}  // namespace

InputFile::InputFile(fs::path path, std::size_t item_bytes)
    : path_(std::move(path)), file_(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  const auto refuse = [this](const std::string& reason) {
    throw FileError(fmt::format("cannot read '{}': {}", path_.string(), reason));
  };
  struct stat status {};
  if (file_.get() < 0 || fstat(file_.get(), &status) != 0) refuse(system_says());
  if (!S_ISREG(status.st_mode)) refuse("it is not a regular file, of which any part can be read");
  bytes_ = status.st_size;
  modified_ns_ = modified_ns(status);
  if (bytes_ % static_cast<std::int64_t>(item_bytes) != 0) {
    refuse(fmt::format("its {} bytes are no whole number of items of {} bytes; is --type right, or is there a header?",
                       bytes_, item_bytes));
  }
}

Json InputFile::identity() const {
  std::error_code ignored;
  const std::string path =
      Json(fs::absolute(path_, ignored).string()).dump(-1, ' ', false, Json::error_handler_t::replace);
  return {
      {"file", Json::parse(path)}, {"bytes", bytes_}, {"modified_ns", modified_ns_}};  // JSON has no bytes but UTF-8
}

void InputFile::read(std::int64_t place, std::byte* to, std::size_t bytes) const {
  while (bytes > 0) {
    const ssize_t got = pread(file_.get(), to, bytes, place);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw FileError(fmt::format("cannot read '{}': {}", path_.string(), system_says()));
    if (got == 0) {
      throw InputChanged(
          fmt::format("'{}' shrank while it was read: it had {} bytes and now ends before byte {}; try "
                      "again when nothing writes to it",
                      path_.string(), bytes_, place + 1));
    }
    to += got;
    bytes -= static_cast<std::size_t>(got);
    place += got;
  }
}

void InputFile::check_unchanged() const {
  struct stat status {};
  if (fstat(file_.get(), &status) != 0 || (status.st_size == bytes_ && modified_ns(status) == modified_ns_)) return;
  throw InputChanged(
      fmt::format("'{}' was changed while it was read; try again when nothing writes to it", path_.string()));
}

ResumableOutput::ResumableOutput(fs::path path, std::int64_t bytes, Json asked, const OutputOptions& options)
    : path_(std::move(path)), bytes_(bytes), asked_(std::move(asked)), options_(options) {
  struct stat status {};
  if (stat(path_.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) cannot_write(path_, "it exists and is not a regular file");
    if (!options_.replace) {
      throw FileError(fmt::format("'{}' exists; choose another name, or give --force to replace it", path_.string()));
    }
  }
  std::error_code ignored;  // opening the file says it better
  if (path_.has_parent_path()) fs::create_directories(path_.parent_path(), ignored);
  file_ = OpenFile(open(partial().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (file_.get() < 0) cannot_write(partial(), system_says());
  if (flock(file_.get(), LOCK_EX | LOCK_NB) != 0) cannot_write(partial(), "another process is writing it");
  struct stat locked {};
  if (fstat(file_.get(), &locked) != 0 || stat(partial().c_str(), &status) != 0 || status.st_ino != locked.st_ino) {
    cannot_write(partial(), "another process has just finished it");
  }
  const bool known = fs::exists(state_path(), ignored);
  if (!known && !options_.discard && locked.st_size > 0) {
    throw FileError(
        fmt::format("'{}' exists, and no '{}' says that a scan left it; move it away, or give --fresh to replace it",
                    partial().string(), state_path().string()));
  }
  if (options_.fresh && known) {
    begun_anew_ = fmt::format("what an interrupted run left in '{}' is removed", partial().string());
  }
  if (options_.fresh || !read_state()) {
    chunks_done_ = 0;
    carry_.clear();
    remove_state();  // before the data that it counts
    if (ftruncate(file_.get(), 0) != 0) cannot_write(partial(), system_says());
  }
  if (options_.by == WriteBy::mapping && bytes_ > 0) {
    void* const mapped =
        mmap(nullptr, static_cast<std::size_t>(bytes_), PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
    if (mapped == MAP_FAILED) cannot_write(partial(), "it cannot be mapped: " + system_says());
    mapping_ = static_cast<std::byte*>(mapped);
  }
}

ResumableOutput::~ResumableOutput() {
  if (mapping_ != nullptr) munmap(mapping_, static_cast<std::size_t>(bytes_));
  if (!ended_ && chunks_done_ == 0 && file_.get() >= 0) discard();
}

void ResumableOutput::remove_state() const {
  std::error_code ignored;
  fs::remove(state_path(), ignored);
  fs::remove(next_state_path(), ignored);  // of a run that ended while it wrote
}

void ResumableOutput::discard() {
  remove_state();
  std::error_code ignored;
  fs::remove(partial(), ignored);
  chunks_done_ = 0;
  ended_ = true;
}

bool ResumableOutput::read_state() {
  std::ifstream file(state_path());
  if (!file) return false;
  try {
    const Json state = Json::parse(file);
    if (state.at("schema") != kSchema) throw cannot_go_on(kUnreadable);
    for (const auto& [key, value] : asked_.items()) {
      const Json before = state.at("asked").value(key, Json());
      if (before != value) throw cannot_go_on(fmt::format("{} was {} and is {}", key, before.dump(), value.dump()));
    }
    if (!state.at("durable").get<bool>() && state.at("boot") != boot()) {
      begun_anew_ = "the machine was restarted since, and what was written before may not have reached the disk";
      return false;
    }
    struct stat status {};
    if (fstat(file_.get(), &status) != 0 || status.st_size < state.at("bytes_done").get<std::int64_t>()) {
      begun_anew_ = fmt::format("'{}' lacks what its state counts", partial().string());
      return false;
    }
    for (const Json& byte : state.at("carry")) carry_.push_back(std::byte{byte.get<std::uint8_t>()});
    bytes_done_ = state.at("bytes_done");
    chunks_done_ = state.at("chunks_done");
    if (chunks_done_ < 1) throw cannot_go_on(kUnreadable);  // a state is written behind a chunk
  } catch (const Json::exception&) {                        // no JSON, or another program's
    throw cannot_go_on(kUnreadable);
  }
  return true;
}

void ResumableOutput::check_state(int chunks, std::int64_t bytes, std::size_t carry_bytes) const {
  if (chunks_done_ != chunks || bytes_done_ != bytes || carry_.size() != carry_bytes) throw cannot_go_on(kUnreadable);
}

FileError ResumableOutput::cannot_go_on(const std::string& reason) const {
  return FileError(
      fmt::format("'{}' is of an interrupted scan that this one cannot go on from: {}; give --fresh to "
                  "begin anew, or ask for the same",
                  partial().string(), reason));
}

void ResumableOutput::write_state(int chunks, std::int64_t bytes, std::span<const std::byte> carry) const {
  Json bytes_of_carry = Json::array();
  for (const std::byte byte : carry) bytes_of_carry.push_back(std::to_integer<int>(byte));
  const Json state{{"schema", kSchema},       {"asked", asked_}, {"chunks_done", chunks},      {"bytes_done", bytes},
                   {"carry", bytes_of_carry}, {"boot", boot()},  {"durable", options_.durable}};
  const std::string text = state.dump(1) + "\n";
  const fs::path next = next_state_path();
  const OpenFile file(open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  const bool written = file.get() >= 0 &&
                       ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                       (!options_.durable || fsync(file.get()) == 0) && rename(next.c_str(), state_path().c_str()) == 0;
  if (written) return;
  const std::string reason = system_says();
  unlink(next.c_str());
  cannot_write(state_path(), reason);
}

void ResumableOutput::write(std::int64_t place, const std::byte* from, std::size_t bytes) {
  if (mapping_ != nullptr) {
    // Copying to a hole of a full disk would raise a fatal signal: the space is allocated first.
    int error = 0;
    do {
      error = posix_fallocate(file_.get(), place, static_cast<off_t>(bytes));
    } while (error == EINTR);
    if (error != 0) cannot_write(partial(), std::strerror(error));
    std::memcpy(mapping_ + place, from, bytes);
    return;
  }
  while (bytes > 0) {
    const ssize_t written = pwrite(file_.get(), from, bytes, place);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) cannot_write(partial(), written == 0 ? "the disk takes no more" : system_says());
    from += written;
    bytes -= static_cast<std::size_t>(written);
    place += written;
  }
}

void ResumableOutput::make_durable() {
  if (!options_.durable) return;
  // Asked again, the system may say that all is well: it tells once of what it lost.
  if (lost_.empty() && fdatasync(file_.get()) != 0) lost_ = system_says();
  if (!lost_.empty()) cannot_write(partial(), lost_);
}

void ResumableOutput::chunks_written(int chunks, std::int64_t bytes, std::span<const std::byte> carry) {
  make_durable();
  write_state(chunks, bytes, carry);  // if that fails, the state on disk is the one before
  chunks_done_ = chunks;
  bytes_done_ = bytes;
  carry_.assign(carry.begin(), carry.end());
}

void ResumableOutput::finish() {
  make_durable();
  remove_state();  // first: a state must not outlive what it counts
  if (rename(partial().c_str(), path_.c_str()) != 0) cannot_write(path_, system_says());
  ended_ = true;
}

}  // namespace scanlab::out_of_core
