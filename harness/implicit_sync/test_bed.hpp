// The means of an experiment: three streams, memory to copy, and kernels that spin and say when.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>

#include "harness/cuda/buffer.hpp"
#include "harness/cuda/pinned_memory.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/implicit_sync/experiment.hpp"

namespace scanlab::cuda {
struct Stamps;
}

namespace scanlab::implicit_sync {

inline void done(cudaError_t error) { cuda::check(error, "an experiment's call"); }

enum class Carveout { unchanged, least_shared, most_shared };

/// A kernel that was launched. Its stamps lie in host memory that the device writes to, so that the host can look at
/// them without a call that might synchronise.
class Spin {
 public:
  explicit Spin(volatile cuda::Stamps* stamps) : stamps_(stamps) {}
  /// Waits until the device has started it. Throws std::runtime_error if that takes seconds.
  void wait_until_started() const;
  bool ended() const { return end() != 0; }
  unsigned long long start() const;  ///< nanoseconds; 0 if it has not started
  unsigned long long end() const;

 private:
  volatile cuda::Stamps* stamps_;
};

class TestBed {
 public:
  static constexpr std::size_t kSmall = std::size_t{64} << 10;  ///< bytes: copies up to this size need not block
  static constexpr std::size_t kLarge = std::size_t{4} << 20;   ///< bytes: well above
  static constexpr double kShort = 20e-6;                       ///< seconds of a kernel that only notes when it runs

  /// Streams a, b and c synchronise with the legacy default stream unless they are to be non-blocking. Throws
  /// CudaError.
  explicit TestBed(bool non_blocking_streams);
  ~TestBed();
  TestBed(const TestBed&) = delete;
  TestBed& operator=(const TestBed&) = delete;

  cudaStream_t a() const { return streams_[0].get(); }
  cudaStream_t b() const { return streams_[1].get(); }
  cudaStream_t c() const { return streams_[2].get(); }

  /// kLarge bytes each.
  void* device() const { return device_.data(); }
  void* other_device() const { return other_device_.data(); }
  void* pinned() const { return pinned_.get(); }
  void* pageable() const { return pageable_.get(); }

  /// A pointer and an event that the steps of an experiment may share.
  void* scratch = nullptr;
  cuda::Event event;
  cuda::Event other_event;

  double spin_seconds = 2e-3;  ///< of the kernel in whose time things happen

  /// Launches one block that spins; the stamps are its own.
  Spin spin(cudaStream_t stream, double seconds) { return spin_with(Carveout::unchanged, 1, 0, stream, seconds); }
  Spin spin(cudaStream_t stream) { return spin(stream, spin_seconds); }
  /// The same by a kernel that wants another split of L1 and shared memory.
  Spin spin_with(Carveout carveout, int blocks, std::size_t shared_bytes, cudaStream_t stream, double seconds);
  int multiprocessors() const { return multiprocessors_; }
  std::size_t most_shared_bytes() const { return most_shared_bytes_; }  ///< that a block may ask for

  /// Waits for the whole device: stamps are then final.
  void finish() const;
  /// Waits, and forgets all stamps: room for the next trial.
  void clear();

 private:
  cuda::Stream streams_[3];
  HostArray stamps_memory_;
  cuda::Stamps* stamps_;
  int used_ = 0;
  cuda::DeviceBuffer device_{kLarge};
  cuda::DeviceBuffer other_device_{kLarge};
  HostArray pinned_ = cuda::pinned_memory(kLarge);
  HostArray pageable_ = pageable_memory(kLarge);
  int multiprocessors_ = 0;
  std::size_t most_shared_bytes_ = 0;
};

/// Seconds between two stamps.
inline double seconds_from(unsigned long long start, unsigned long long end) {
  return static_cast<double>(static_cast<long long>(end - start)) * 1e-9;
}

/// Seconds that the host spends in `action`.
double host_seconds(const std::function<void()>& action);

}  // namespace scanlab::implicit_sync
