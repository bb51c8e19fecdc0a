#include "harness/host/text_file.hpp"

#include <fstream>
#include <iterator>
#include <system_error>

namespace scanlab {

std::optional<std::string> text_of(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (!std::filesystem::is_regular_file(status) && !std::filesystem::is_fifo(status)) return std::nullopt;
  std::ifstream file(path);
  if (!file) return std::nullopt;
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

}  // namespace scanlab
