#include "harness/cuda/hardware_queues.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace scanlab {
namespace {

TEST(HardwareQueues, AreAsManyAsTheEnvironmentSays) {
  const char* const before = std::getenv(cuda::kConnectionsVariable);
  const std::string kept = before == nullptr ? "" : before;
  const auto with = [](const char* value) {
    ::setenv(cuda::kConnectionsVariable, value, 1);
    return cuda::connections();
  };
  EXPECT_EQ(with("1"), 1);
  EXPECT_EQ(with("32"), 32);
  EXPECT_EQ(with("1000"), 32);
  EXPECT_EQ(with("many"), 8);
  ::unsetenv(cuda::kConnectionsVariable);
  EXPECT_EQ(cuda::connections(), 8);
  if (before != nullptr) ::setenv(cuda::kConnectionsVariable, kept.c_str(), 1);
}

}  // namespace
}  // namespace scanlab
