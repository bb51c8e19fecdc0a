// Work on a GPU that has nothing to do with the scan beside it.
#include <atomic>
#include <future>

#include "harness/cuda/buffer.hpp"
#include "harness/cuda/launch.cuh"
#include "harness/cuda/spin.cuh"
#include "harness/cuda/stream.hpp"
#include "harness/distributed/rank_backend.hpp"

namespace scanlab::distributed {

namespace {

/// Blocks end one after another, so that those of a scan come to their multiprocessors at different times.
__global__ void occupy(unsigned long long nanoseconds) {
  extern __shared__ unsigned char taken_from_others[];
  if (threadIdx.x == 0) {
    cuda::spin_for(nanoseconds * (1 + blockIdx.x % 8));
    taken_from_others[0] = 0;
  }
}

/// Rounds of a kernel and a copy. A few are enqueued at a time, as many as keep the device busy: a scan's
/// blocks wait for them, and they for the scan's, but each of them ends, and it waits for nothing but room. So a scan
/// waits for what ends by itself, on this GPU as on those that wait for this one.
class Rounds : public OtherWork {
 public:
  explicit Rounds(int device)
      : device_(device),
        from_(kCopied),
        to_(kCopied),
        shape_{
            .blocks = cuda::multiprocessors(),
            .threads = 32,
            // All of it: no block that needs some is beside one of these.
            .shared_bytes = static_cast<std::size_t>(cuda::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)),
            .what = "occupying the multiprocessors"} {
    cuda::allow(occupy, shape_);
    cuda::check(cudaMemsetAsync(from_.data(), 0, kCopied, stream_.get()), "clearing what is copied");
    enqueue(ended_[0]);  // loads the kernels, before a scan runs
    stream_.synchronize();
    work_ = std::async(std::launch::async, [this] { work(); });
  }
  ~Rounds() override {
    stop_ = true;
    work_.wait();
  }
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;

  std::int64_t rounds() const override {
    if (work_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) work_.get();  // only an error ends it
    return rounds_;
  }

 private:
  static constexpr std::size_t kCopied = std::size_t{8} << 20;
  static constexpr unsigned long long kNanoseconds = 20'000;
  static constexpr unsigned kQuiet = cudaEventBlockingSync | cudaEventDisableTiming;  // ranks need the host's cores

  void enqueue(const cuda::Event& ended) {
    cuda::launch(occupy, shape_, stream_.get(), kNanoseconds);
    cuda::check(cudaMemcpyAsync(to_.data(), from_.data(), kCopied, cudaMemcpyDeviceToDevice, stream_.get()),
                "copying beside a scan");
    ended.record(stream_.get());
  }

  void work() {
    cuda::check(cudaSetDevice(device_), "choosing a device");
    enqueue(ended_[0]);
    for (int next = 1; !stop_; next = 1 - next) {
      enqueue(ended_[next]);
      ended_[1 - next].synchronize();
      ++rounds_;
    }
    stream_.synchronize();
  }

  int device_;
  cuda::DeviceBuffer from_;
  cuda::DeviceBuffer to_;
  cuda::LaunchShape shape_;
  cuda::Stream stream_;
  cuda::Event ended_[2]{cuda::Event(kQuiet), cuda::Event(kQuiet)};
  std::atomic<std::int64_t> rounds_ = 0;
  std::atomic<bool> stop_ = false;
  std::shared_future<void> work_;
};

}  // namespace

std::unique_ptr<OtherWork> keep_busy(int device) { return std::make_unique<Rounds>(device); }

}  // namespace scanlab::distributed
