// Tests of the message without a device: whether a GPU is lacking, or a driver, or a newer one.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "harness/cuda/device.hpp"

namespace scanlab::cuda {
namespace {

constexpr int kBuilt = 13000;
constexpr char kWords[] = "CUDA driver version is insufficient for CUDA runtime version";

TEST(NoDevice, SaysWhatIsLackingAndWhatToDo) {
  for (const NoDevice reason : {NoDevice::none, NoDevice::driver_too_old, NoDevice::other}) {
    EXPECT_EQ(why_no_device(reason, 0, kBuilt, kWords), "this machine has no NVIDIA GPU, or no driver for it");
  }
  EXPECT_EQ(why_no_device(NoDevice::driver_too_old, 12020, kBuilt, kWords),
            "the NVIDIA driver supports CUDA 12.2, and this program was built with 13.0; install a newer driver");
  EXPECT_EQ(why_no_device(NoDevice::none, 13000, kBuilt, kWords),
            "the NVIDIA driver gives this program no GPU; see nvidia-smi and CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(why_no_device(NoDevice::other, 13000, kBuilt, "initialization error"), "initialization error");
}

TEST(NoCode, ADeviceForWhichNothingWasCompiledIsToldTheBuildThatItNeeds) {
  const auto runs = [](const char* compiled, int major, int minor) {
    return why_no_code(compiled, major, minor).empty();
  };
  EXPECT_TRUE(runs("90", 9, 0));
  EXPECT_TRUE(runs("90", 12, 0)) << "PTX";
  EXPECT_FALSE(runs("90", 8, 9));
  EXPECT_TRUE(runs("75,90", 8, 0)) << "PTX of 7.5";
  EXPECT_TRUE(runs("80-real", 8, 9));
  EXPECT_FALSE(runs("80-real", 9, 0));
  EXPECT_FALSE(runs("89-real", 8, 0));
  EXPECT_TRUE(runs("80-virtual", 9, 0));
  EXPECT_TRUE(runs("90a", 9, 0));
  EXPECT_FALSE(runs("90a", 10, 0));
  EXPECT_TRUE(runs("native", 8, 6)) << "its meaning is not known here";
  EXPECT_EQ(why_no_code("90,100", 8, 0),
            "this program has no code for the GPU, whose compute capability is 8.0: it was compiled for 90,100. Build "
            "one that has: cmake --preset cuda -DCMAKE_CUDA_ARCHITECTURES=80 && cmake --build build/cuda");
}

TEST(NoCode, TheGuideForOtherDevicesQuotesWhatIsSaid) {
  std::ifstream page(SCANLAB_SOURCE "/docs/DEVICES.md");
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  EXPECT_NE(text.find("> " + why_no_code("90", 8, 0) + "\n"), std::string::npos);
}

}  // namespace
}  // namespace scanlab::cuda
