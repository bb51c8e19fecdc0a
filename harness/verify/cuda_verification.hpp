// Verification on the device: input made there, output compared there with an oracle sent once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "harness/verify/verification.hpp"

namespace scanlab::verify {

/// Enqueues a kernel that makes a problem's keys or offsets, if it has segments.
void make_entries_on(void* to, const Problem& problem, StreamHandle stream);

/// The input of a problem in device memory (guarded), and its oracle's expected outputs there. Keeps no reference to
/// the oracle. Its functions work on a stream of their own: whatever wrote what they look at must have been waited for.
/// All throw CudaError.
class CudaReference {
 public:
  /// Throws cuda::OutOfMemory, which says the bytes of all of it.
  explicit CudaReference(const Oracle& oracle);
  ~CudaReference();
  CudaReference(CudaReference&&) noexcept;

  const Problem& problem() const;
  /// Device bytes held.
  std::size_t bytes() const;
  const void* input() const;
  const void* entries() const;  ///< the keys or offsets
  /// Enqueues a copy of the input.
  void copy_input(void* to, StreamHandle stream) const;
  /// Compares device memory on the device, as Oracle::compare does.
  Outcome compare(const void* out, std::int64_t chain, Kind kind, const Counted& counted = {}) const;
  /// Empty if the input and the canaries around it are as they were made, else what was written to.
  std::string damaged_input() const;
  std::string damaged_entries() const;

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

/// Prepares once and runs twice, each time into poison; compares, and checks canaries and that the input is unchanged.
/// Lack of device memory is an outcome (skipped, out_of_memory, with the bytes); a CUDA error of a run is a failure.
/// Throws DeviceLost if that error took the device with it.
Outcome verify_on_cuda(const Variant& variant, const Problem& problem, const CudaReference& reference,
                       Aliasing aliasing = Aliasing::apart);

/// Runs `runs` times on one input, every second time beside a stream that keeps multiprocessors and memory busy.
/// Compares every output that differs from all before it; `different` becomes the number of these. Bits that vary are a
/// failure of a variant that says they are fixed. Otherwise as verify_on_cuda.
Outcome repeat_on_cuda(const Variant& variant, const Problem& problem, const CudaReference& reference, int runs,
                       int& different);

/// The outcome of a check that `bytes` more of device memory would have been needed for.
Outcome lacking_device_memory(std::size_t bytes);

}  // namespace scanlab::verify
