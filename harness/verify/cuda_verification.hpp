// Verification on the device: input made there, output compared there with an oracle sent once.
#pragma once

#include <cstdint>
#include <memory>

#include "harness/verify/verification.hpp"

namespace scanlab::verify {

/// The input of a problem in device memory (guarded), and its oracle's expected outputs there.
/// Throws cuda::OutOfMemory.
class CudaReference {
 public:
  explicit CudaReference(const Oracle& oracle);
  ~CudaReference();
  CudaReference(CudaReference&&) noexcept;

  /// Device bytes held.
  std::size_t bytes() const;
  const void* input() const;
  /// Compares device memory `out` on the device.
  Outcome compare(const void* out, std::int64_t chain, Kind kind) const;

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

/// Buffers of one run in device memory: output and workspace with canaries on both sides, poisoned before a run.
class CudaRunBuffers {
 public:
  /// Throws cuda::OutOfMemory that says the bytes.
  CudaRunBuffers(std::size_t out_bytes, std::size_t workspace_bytes);
  ~CudaRunBuffers();
  void* out() const;
  void* workspace() const;
  void poison(StreamHandle stream);
  /// Empty if every canary is untouched, else which one was overwritten.
  std::string damaged_canary() const;

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

/// Poisons, runs once on a stream, compares, checks canaries and that the input is unchanged.
Outcome verify_on_cuda(const Variant& variant, const Problem& problem, const CudaReference& reference);

}  // namespace scanlab::verify
