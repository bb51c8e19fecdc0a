#include "harness/host/whole_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "harness/host/status.hpp"

namespace scanlab {

WholeFile::WholeFile(std::filesystem::path path, bool replace)
    : path_(std::move(path)), partial_(fmt::format("{}.{}.partial", path_.string(), getpid())) {
  if (!path_.has_filename()) refuse("it names no file");
  std::error_code ignored;  // opening the file says it better
  const bool exists = std::filesystem::exists(path_, ignored);
  if (exists && !std::filesystem::is_regular_file(path_, ignored)) refuse("it is not a regular file");
  if (exists && !replace) {
    throw CommandError(kBadInput,
                       fmt::format("'{}' exists; choose another name, or give --force to replace it", path_.string()));
  }
  for (auto folder = path_.parent_path(); !folder.empty() && !std::filesystem::exists(folder, ignored);
       folder = folder.parent_path()) {
    made_.push_back(folder);
  }
  if (path_.has_parent_path()) std::filesystem::create_directories(path_.parent_path(), ignored);
  file_.open(partial_);
  if (!file_) refuse(std::strerror(errno));
}

WholeFile::~WholeFile() {
  std::error_code ignored;
  std::filesystem::remove(partial_, ignored);
  for (const std::filesystem::path& folder : made_) std::filesystem::remove(folder, ignored);  // one with files stays
}

void WholeFile::write(const std::string& text) {
  file_ << text;
  file_.close();
  if (!file_) refuse(std::strerror(errno));
  std::error_code error;
  std::filesystem::rename(partial_, path_, error);
  if (error) refuse(error.message());
}

void WholeFile::refuse(const std::string& reason) const {
  throw CommandError(kBadInput, fmt::format("cannot write '{}': {}; choose another place", path_.string(), reason));
}

}  // namespace scanlab
