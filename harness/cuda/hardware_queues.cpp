#include "harness/cuda/hardware_queues.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace scanlab::cuda {

int connections() {
  const char* const variable = std::getenv(kConnectionsVariable);
  const std::string_view text = variable == nullptr ? "" : variable;
  int count = 8;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return std::clamp(count, 1, kMaxConnections);
}

}  // namespace scanlab::cuda
