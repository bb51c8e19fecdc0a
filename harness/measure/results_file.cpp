#include "harness/measure/results_file.hpp"

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>
#include <system_error>
#include <utility>

#include "harness/host/status.hpp"

namespace scanlab::measure {

namespace {

constexpr std::string_view kTail = "\n  ]\n}\n";

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw CommandError(kBadInput, fmt::format("cannot write results to '{}': {}", path.string(), why));
}

int create(const std::filesystem::path& path, IfExists if_exists) {
  if (!path.has_filename()) refuse(path, "it names no file");
  if (path.has_parent_path()) {
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error) refuse(path, error.message());
  }
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) refuse(path, std::strerror(errno));
  struct stat status {};
  const bool known = fstat(file, &status) == 0;
  std::string why;
  if (!known || !S_ISREG(status.st_mode)) {
    why = "it is not a file";
  } else if (status.st_size > 0 && if_exists == IfExists::refuse) {
    why = "it holds something already; choose another name, or give --force to replace it";
  } else if (ftruncate(file, 0) != 0) {
    why = std::strerror(errno);
  }
  if (!why.empty()) {
    close(file);
    refuse(path, why);
  }
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

/// The document up to its list of benchmarks: what Google Benchmark says of the host in the context, and our facts.
std::string opening(const Facts& provenance) {
  std::ostringstream text;
  benchmark::JSONReporter reporter;
  reporter.SetOutputStream(&text);
  reporter.SetErrorStream(&text);
  reporter.ReportContext(benchmark::BenchmarkReporter::Context());
  Facts context = Facts::parse(text.str() + std::string(kTail)).at("context");
  if (!provenance.empty()) context.update(provenance);
  return fmt::format("{{\n\"context\": {},\n  \"benchmarks\": [",
                     context.dump(2, ' ', false, Facts::error_handler_t::replace));
}

}  // namespace

ResultsFile::ResultsFile(std::filesystem::path path, const Facts& provenance, IfExists if_exists)
    : path_(std::move(path)), file_(create(path_, if_exists)) {
  write_at_end(opening(provenance));
}

ResultsFile::~ResultsFile() {
  if (file_ >= 0) close(file_);
}

void ResultsFile::append(const Facts& entry) {
  write_at_end((entries_ == 0 ? "\n    " : ",\n    ") + entry.dump(-1, ' ', false, Facts::error_handler_t::replace));
  ++entries_;
}

void ResultsFile::write_at_end(const std::string& text) {
  if (write_all(file_, text + std::string(kTail), end_) && fsync(file_) == 0) {
    end_ += static_cast<std::int64_t>(text.size());
    return;
  }
  const int error = errno;
  // A full disk still takes the tail: its bytes are the file's already.
  if (end_ > 0 && write_all(file_, kTail, end_)) {
    [[maybe_unused]] const int ignored = ftruncate(file_, end_ + static_cast<std::int64_t>(kTail.size()));
  }
  throw CommandError(kBadInput, fmt::format("cannot write to '{}': {}; the {} repetitions before are kept",
                                            path_.string(), std::strerror(error), entries_));
}

}  // namespace scanlab::measure
