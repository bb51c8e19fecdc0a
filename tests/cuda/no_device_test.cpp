// What is said where there is no device: whether a GPU is lacking, or a driver, or a newer one.
#include <gtest/gtest.h>

#include "harness/cuda/device.hpp"

namespace scanlab::cuda {
namespace {

constexpr int kBuilt = 13000;
constexpr char kWords[] = "CUDA driver version is insufficient for CUDA runtime version";

TEST(NoDevice, WithoutADriverThereIsNoGpuWhateverCudaCallsIt) {
  for (const NoDevice said : {NoDevice::none, NoDevice::driver_too_old, NoDevice::other}) {
    EXPECT_EQ(why_no_device(said, 0, kBuilt, kWords), "this machine has no NVIDIA GPU, or no driver for it");
  }
}

TEST(NoDevice, ADriverThatIsTooOldIsNamedWithWhatIsNeeded) {
  EXPECT_EQ(why_no_device(NoDevice::driver_too_old, 12020, kBuilt, kWords),
            "the NVIDIA driver supports CUDA 12.2, and this program was built with 13.0; install a newer driver");
}

TEST(NoDevice, ADriverWithoutAGpuSaysWhereToLook) {
  const std::string said = why_no_device(NoDevice::none, 13000, kBuilt, "no CUDA-capable device is detected");
  EXPECT_EQ(said, "the NVIDIA driver gives this program no GPU; see nvidia-smi and CUDA_VISIBLE_DEVICES");
}

TEST(NoDevice, WhatElseIsWrongIsSaidInCudasWords) {
  EXPECT_EQ(why_no_device(NoDevice::other, 13000, kBuilt, "initialization error"), "initialization error");
}

}  // namespace
}  // namespace scanlab::cuda
