// Hardware work queues, which CUDA calls connections: the number that the streams of this process get. No CUDA types
// here.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace scanlab::cuda {

inline constexpr char kConnectionsVariable[] = "CUDA_DEVICE_MAX_CONNECTIONS";
inline constexpr int kMaxConnections = 32;  ///< the most that CUDA heeds

/// CUDA_DEVICE_MAX_CONNECTIONS, or 8.
inline int connections() {
  const char* const variable = std::getenv(kConnectionsVariable);
  const std::string_view text = variable == nullptr ? "" : variable;
  int count = 8;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return std::clamp(count, 1, kMaxConnections);
}

}  // namespace scanlab::cuda
