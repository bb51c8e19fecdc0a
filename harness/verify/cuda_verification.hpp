// Verification on the device: input made there, output compared there with an oracle sent once.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "harness/verify/verification.hpp"

namespace scanlab::verify {

/// The device no longer answers in this process, as after an illegal address: nothing more can be run on it.
struct DeviceLost : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The input of a problem in device memory (guarded), and its oracle's expected outputs there. Keeps no reference to
/// the oracle. Its functions work on a stream of their own: whatever wrote what they look at must have been waited for.
/// All throw CudaError.
class CudaReference {
 public:
  /// Throws cuda::OutOfMemory, which says the bytes of all of it.
  explicit CudaReference(const Oracle& oracle);
  ~CudaReference();
  CudaReference(CudaReference&&) noexcept;

  /// Device bytes held.
  std::size_t bytes() const;
  const void* input() const;
  /// Compares device memory `out` on the device.
  Outcome compare(const void* out, std::int64_t chain, Kind kind) const;
  /// Empty if the input and the canaries around it are as they were made, else what was written to.
  std::string damaged_input() const;

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

/// Buffers of one run in device memory: output and workspace with canaries on both sides, poisoned before a run.
class CudaRunBuffers {
 public:
  /// Throws cuda::OutOfMemory, which says the bytes of all of it.
  CudaRunBuffers(std::size_t out_bytes, std::size_t workspace_bytes);
  ~CudaRunBuffers();
  CudaRunBuffers(CudaRunBuffers&&) noexcept;
  void* out() const;
  void* workspace() const;
  /// Enqueues the filling of both buffers and their canaries.
  void poison(StreamHandle stream);
  /// Empty if every canary is untouched, else which one was overwritten. The run must have been waited for.
  std::string damaged_canary() const;

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

/// Poisons, runs once on a stream, compares, checks canaries and that the input is unchanged. Lack of device memory is
/// an outcome (skipped, out_of_memory, with the bytes); a CUDA error of the run is a failure. Throws DeviceLost if that
/// error took the device with it.
Outcome verify_on_cuda(const Variant& variant, const Problem& problem, const CudaReference& reference);

/// The outcome of a check that `bytes` more of device memory would have been needed for.
Outcome lacking_device_memory(std::size_t bytes);

}  // namespace scanlab::verify
