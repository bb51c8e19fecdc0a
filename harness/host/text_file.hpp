// A file that is read whole.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace scanlab {

/// Its text; nullopt if it cannot be read, or is a folder or a device, which need not end.
std::optional<std::string> text_of(const std::filesystem::path& path);

}  // namespace scanlab
