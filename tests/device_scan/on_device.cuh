// Shared by the tests of headers on a device: memory whose bytes are known, and calls that are made or captured.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

namespace scanlab {

inline void check(cudaError_t error) { ASSERT_EQ(error, cudaSuccess) << cudaGetErrorString(error); }

/// Skips itself without a GPU of compute capability `least`.0. The memory has so many arrays, of so many bytes each.
class OnDevice : public testing::Test {
 protected:
  static constexpr unsigned char kUntouched = 0x41;

  OnDevice(int arrays, std::size_t array_bytes, int least = 9)
      : arrays_(arrays), array_bytes_(array_bytes), least_(least) {}

  void SetUp() override {
    int device = 0, major = 0;
    if (cudaGetDevice(&device) != cudaSuccess) GTEST_SKIP() << "no GPU";
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (major < least_) GTEST_SKIP() << "needs compute capability " << least_ << ".0";
    check(cudaMalloc(&memory_, arrays_ * array_bytes_));
    check(cudaMallocHost(&count_, sizeof *count_));  // kernels write it, and the host reads it
    check(cudaStreamCreate(&stream_));
  }
  void TearDown() override {
    cudaStreamDestroy(stream_);
    cudaFreeHost(count_);
    cudaFree(memory_);
  }

  void clear() const { check(cudaMemset(memory_, kUntouched, arrays_ * array_bytes_)); }

  /// Twice: begin(), then enqueue(), as a call or captured and replayed, then end().
  template <class Begin, class Enqueue, class End>
  void run_twice(bool captured, Begin begin, Enqueue enqueue, End end) {
    cudaGraph_t graph{};
    cudaGraphExec_t replay{};
    if (captured) {
      check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
      check(enqueue());
      check(cudaStreamEndCapture(stream_, &graph));
      check(cudaGraphInstantiate(&replay, graph, 0));
    }
    for (int round = 0; round < 2 && !HasFatalFailure(); ++round) {
      begin();
      check(captured ? cudaGraphLaunch(replay, stream_) : enqueue());
      check(cudaStreamSynchronize(stream_));
      SCOPED_TRACE(testing::Message() << "round " << round);
      end();
    }
    if (captured) check(cudaGraphExecDestroy(replay));
    if (captured) check(cudaGraphDestroy(graph));
  }

  unsigned char* memory_ = nullptr;
  std::uint64_t* count_ = nullptr;
  cudaStream_t stream_ = nullptr;

 private:
  const int arrays_;
  const std::size_t array_bytes_;
  const int least_;
};

}  // namespace scanlab
