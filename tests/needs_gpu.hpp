// The fixture of every test that needs a device: skipped, with the reason, where there is none.
#pragma once

#include <gtest/gtest.h>

#include "harness/cuda/device.hpp"

namespace scanlab {

class NeedsGpu : public testing::Test {
 protected:
  void SetUp() override {
    const cuda::DeviceProbe probe = cuda::probe_device();
    if (!probe.facts) GTEST_SKIP() << "no GPU: " << probe.refusal;
  }
};

}  // namespace scanlab
