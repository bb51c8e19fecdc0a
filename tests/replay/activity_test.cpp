// Names of kernels, as CUPTI has them.
#include "harness/replay/activity.hpp"

#include <gtest/gtest.h>

namespace scanlab::streams {
namespace {

TEST(ShortName, HasNoNamespacesArgumentsAndParameters) {
  EXPECT_EQ(short_name("_ZN7scanlab11distributed15peer_look_aheadINS_4PlusIiEEEEvT_"), "peer_look_ahead");
  EXPECT_EQ(
      short_name("void scanlab::distributed::peer_look_ahead<scanlab::Plus<int> >(scanlab::scan::Arguments<int>)"),
      "peer_look_ahead");
  EXPECT_EQ(short_name("scanlab::distributed::(anonymous namespace)::nothing()"), "nothing");
  EXPECT_EQ(short_name("void cub::CUB_300001_SM_900::detail::scan::DeviceScanKernel<a::b<c>, int>(int, long)"),
            "DeviceScanKernel");
  EXPECT_EQ(short_name("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
            "ncclDevKernel_AllGather_RING_LL");
  EXPECT_EQ(short_name("plain"), "plain");
  EXPECT_EQ(short_name(""), "");
}

TEST(ShortName, OfAPortableKernelIsItsClass) {
  EXPECT_EQ(short_name("void scanlab::simt::trampoline<scanlab::scan::ReduceSharesKernel, int const*, long>(int)"),
            "ReduceSharesKernel");
  EXPECT_EQ(short_name("void scanlab::simt::trampoline<scanlab::scan::(anonymous namespace)::Tiles<4>, int>(int)"),
            "Tiles");
  EXPECT_EQ(short_name("trampoline"), "trampoline");
}

}  // namespace
}  // namespace scanlab::streams
