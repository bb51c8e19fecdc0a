// Runs of variants on the device between guards, once more, and many times.
#include <optional>
#include <set>
#include <string>

#include "harness/verify/checks.hpp"
#include "harness/verify/cuda_verification.hpp"
#include "harness/verify/device_guard.cuh"

namespace scanlab::verify {

namespace {

/// A sum of hashes, one for each word and its place: in whatever order it is added up, it changes with any one word.
__global__ void hash_words(const std::uint32_t* words, std::int64_t count, unsigned long long* sum) {
  unsigned long long mine = 0;
  for (std::int64_t i = first_index(); i < count; i += stride()) {
    mine += mix((static_cast<std::uint64_t>(i) << 32) ^ words[i]);
  }
  atomicAdd(sum, mine);
}

std::uint64_t hash(const void* out, std::size_t bytes, const cuda::Stream& stream) {
  const cuda::DeviceBuffer sum(sizeof(unsigned long long));
  cuda::check(cudaMemsetAsync(sum.data(), 0, sum.bytes(), stream.get()), "clearing a hash");
  const auto words = static_cast<std::int64_t>(bytes / 4);
  hash_words<<<blocks_for(words), kThreads, 0, stream.get()>>>(static_cast<const std::uint32_t*>(out), words,
                                                               sum.as<unsigned long long>());
  cuda::check(cudaGetLastError(), "hashing an output");
  return copy_to_host(sum.as<const unsigned long long>(), stream);
}

/// The memory of runs with one shift, and the runs.
class PlacedRuns {
 public:
  /// Throws cuda::OutOfMemory, which says the bytes of all of it.
  PlacedRuns(const Variant& variant, const BoundScan& scan, const CudaReference& reference, Aliasing aliasing,
             const Shift& shift)
      : variant_(variant), scan_(scan), reference_(reference), aliasing_(aliasing), shift_(shift) {
    const Problem& problem = reference.problem();
    const std::size_t bytes = problem.array_bytes();
    const std::size_t in_shift = shift.in * item_bytes_of(problem);
    const std::size_t out_shift = shift.out * item_bytes_of(problem);
    const std::size_t copy_bytes = aliasing == Aliasing::shifted ? bytes : 0;
    try {
      if (copy_bytes > 0) in_.emplace(Guarded::input, bytes, in_shift);
      out_.emplace(Guarded::output, result_bytes(), out_shift);
      unique_.emplace(Guarded::output, problem.unique_bytes());
      workspace_.emplace(Guarded::workspace, scan.plan.workspace_bytes);
    } catch (const cuda::OutOfMemory&) {
      throw cuda::OutOfMemory(GuardedDeviceBuffer::size_for(copy_bytes) + GuardedDeviceBuffer::size_for(bytes) +
                              GuardedDeviceBuffer::size_for(problem.unique_bytes()) +
                              GuardedDeviceBuffer::size_for(scan.plan.workspace_bytes));
    }
    workspace_->poison(stream_.get());
    if (in_) {
      in_->guard(stream_.get());
      reference.copy_input(in_->data(), stream_.get());
    }
    if (scan.prepare_cuda) scan.prepare_cuda(workspace_->data(), stream_.get());
  }

  /// Into new poison; waits. The second run comes behind a kernel that ends late.
  void run(bool second_run = false) const {
    out_->poison(stream_.get());
    count_.poison(stream_.get());
    unique_->poison(stream_.get());
    const void* from = in_ ? in_->data() : reference_.input();
    if (aliasing_ == Aliasing::in_place) {
      from = out();
      reference_.copy_input(out_->data(), stream_.get());
    } else if (second_run) {
      out_->poison_late(stream_.get());
    }
    scan_.cuda({from, out_->data(), workspace_->data(), reference_.entries(), count(), unique_->data()}, stream_.get());
    stream_.synchronize();
  }

  /// Judges the run before, which has been waited for.
  Outcome judge(bool second_run) const {
    std::string reason = damage();
    Outcome outcome = reason.empty()
                          ? reference_.compare(out(), scan_.plan.chain, variant_.about.kind, {count(), unique_->data()})
                          : Outcome::failed(std::move(reason));
    if (!outcome.passed()) outcome.message = run_name(aliasing_, shift_, second_run) + outcome.message;
    return outcome;
  }

  const void* out() const { return out_->data(); }
  /// A hash of all that a run writes.
  std::uint64_t hash() const {
    const Problem& problem = reference_.problem();
    std::uint64_t all = verify::hash(out(), result_bytes(), stream_);
    if (has_mode(problem.segments.by)) return all;
    all = mix(all ^ verify::hash(count(), sizeof *count(), stream_));
    return mix(all ^ verify::hash(unique_->data(), problem.unique_bytes(), stream_));
  }
  std::uint64_t* count() const { return reinterpret_cast<std::uint64_t*>(count_.data()); }

 private:
  std::size_t result_bytes() const {
    const Problem& problem = reference_.problem();
    return static_cast<std::size_t>(problem.results()) * item_bytes_of(problem);
  }

  std::string damage() const {
    if (std::string damage = out_->damage(stream_); !damage.empty()) return damage;
    if (std::string damage = count_.damage(stream_); !damage.empty()) return damage;
    if (std::string damage = unique_->damage(stream_); !damage.empty()) return damage;
    if (std::string damage = workspace_->damage(stream_); !damage.empty()) return damage;
    if (std::string damage = reference_.damaged_entries(); !damage.empty()) return damage;
    if (!in_) return reference_.damaged_input();
    if (std::string damage = in_->damage(stream_); !damage.empty()) return damage;
    return reference_.compare(in_->data(), 0, Kind::copy).passed() ? std::string{} : "wrote to its input";
  }

  const Variant& variant_;
  const BoundScan& scan_;
  const CudaReference& reference_;
  Aliasing aliasing_;
  Shift shift_;
  cuda::Stream stream_;
  std::optional<GuardedDeviceBuffer> in_;  ///< the reference's own input where it need not be shifted
  std::optional<GuardedDeviceBuffer> out_;
  std::optional<GuardedDeviceBuffer> unique_;
  GuardedDeviceBuffer count_{Guarded::output, sizeof(std::uint64_t)};
  std::optional<GuardedDeviceBuffer> workspace_;
};

Outcome verify_aliasing(const Variant& variant, const BoundScan& scan, const CudaReference& reference,
                        Aliasing aliasing) {
  Outcome worst;
  for (const Shift& shift : shifts(aliasing)) {
    const PlacedRuns runs(variant, scan, reference, aliasing, shift);
    for (const bool second_run : {false, true}) {
      runs.run(second_run);
      Outcome outcome = runs.judge(second_run);
      if (!outcome.passed()) return outcome;
      worst.error_to_bound = std::max(worst.error_to_bound, outcome.error_to_bound);
    }
  }
  return worst;
}

/// Calls `check(scan)` with the scan bound to the reference's problem. Refusals, lack of memory and CUDA errors become
/// outcomes, or DeviceLost.
template <class Check>
Outcome checked(const Variant& variant, const Problem& problem, const Check& check) {
  const BoundScan scan = variant.bind(problem);
  if (!scan.plan.possible()) return Outcome::skipped(scan.plan.refusal);
  if (!scan.cuda) return Outcome::skipped(variant.about.id + " has no form for the GPU");
  try {
    return check(scan);
  } catch (const cuda::OutOfMemory& lack) {
    return lacking_device_memory(lack.bytes);
  } catch (const cuda::CudaError& error) {
    cudaGetLastError();  // an error that does not stick is forgotten here
    if (const cudaError_t lasting = cudaDeviceSynchronize(); lasting != cudaSuccess) {
      throw DeviceLost(case_name(variant.about, problem) + ": " + error.what());
    }
    return Outcome::failed(error.what());
  }
}

/// Reads and writes all of a buffer once.
__global__ void stir(std::uint32_t* words, std::int64_t count) {
  for (std::int64_t i = first_index(); i < count; i += stride()) words[i] = words[i] * 5 + 1;
}

/// A second stream whose kernels come and go and keep multiprocessors and memory busy. Each lasts some ten
/// microseconds, so that a kernel that fills a multiprocessor finds room in between.
class OtherWork {
 public:
  OtherWork() : memory_(kBytes) {
    cuda::check(cudaMemsetAsync(memory_.data(), 0, kBytes, stream_.get()), "clearing a buffer");
  }
  /// Returns while `kernels` of them are under way.
  void begin(int kernels) const {
    for (int i = 0; i < kernels; ++i) {
      stir<<<kBlocks, kThreads, 0, stream_.get()>>>(memory_.as<std::uint32_t>(), kBytes / 4);
    }
    cuda::check(cudaGetLastError(), "keeping the device busy");
  }
  void end() const { stream_.synchronize(); }

 private:
  static constexpr std::size_t kBytes = std::size_t{64} << 20;
  static constexpr unsigned kBlocks = 333;  // two or three a multiprocessor, unevenly
  cuda::Stream stream_;
  cuda::DeviceBuffer memory_;
};

class CudaChecker final : public Checker {
 public:
  bool on_gpu() const override { return true; }
  bool takes(const Variant& variant) const override { return variant.backends.cuda || variant.backends.host; }
  void expect(const Oracle& oracle) override {
    oracle_ = &oracle;
    lack_.reset();
    reference_.reset();  // the next may need the memory
  }
  Outcome check(const Variant& variant, const Problem& problem, Aliasing aliasing) override {
    if (!variant.backends.cuda) return verify_on_cpu(variant, problem, *oracle_, {}, aliasing);
    return on_device([&] { return verify_on_cuda(variant, problem, *reference_, aliasing); });
  }
  Outcome repeat(const Variant& variant, const Problem& problem, int runs, int& different) override {
    if (!variant.backends.cuda) return Outcome::skipped("runs on the host");
    return on_device([&] { return repeat_on_cuda(variant, problem, *reference_, runs, different); });
  }

 private:
  /// The reference is sent to the device when the first variant asks for it.
  template <class Run>
  Outcome on_device(const Run& run) {
    if (!reference_ && !lack_) {
      try {
        reference_.emplace(*oracle_);
      } catch (const cuda::OutOfMemory& error) {
        lack_ = lacking_device_memory(error.bytes);
      }
    }
    return lack_ ? *lack_ : run();
  }

  const Oracle* oracle_ = nullptr;
  std::optional<CudaReference> reference_;
  std::optional<Outcome> lack_;
};

}  // namespace

Outcome verify_on_cuda(const Variant& variant, const Problem& problem, const CudaReference& reference,
                       Aliasing aliasing) {
  if (std::string reason = aliasing_refusal(variant, aliasing); !reason.empty())
    return Outcome::skipped(std::move(reason));
  return checked(variant, problem,
                 [&](const BoundScan& scan) { return verify_aliasing(variant, scan, reference, aliasing); });
}

Outcome repeat_on_cuda(const Variant& variant, const Problem& problem, const CudaReference& reference, int runs,
                       int& different) {
  std::set<std::uint64_t> hashes;
  const Outcome outcome = checked(variant, problem, [&](const BoundScan& scan) -> Outcome {
    const PlacedRuns placed(variant, scan, reference, Aliasing::apart, {});
    const OtherWork other_work;
    for (int i = 0; i < runs; ++i) {
      if (i % 2 != 0) other_work.begin(8 + i % 8);
      placed.run();
      other_work.end();
      if (!hashes.insert(placed.hash()).second) continue;
      if (Outcome seen = placed.judge(i > 0); !seen.passed()) return seen;
    }
    if (hashes.size() > 1 && variant.about.bitwise_reproducible) {
      return Outcome::failed("says that its bits are fixed, but gave " + std::to_string(hashes.size()) +
                             " different outputs in " + std::to_string(runs) + " runs");
    }
    return {};
  });
  different = static_cast<int>(hashes.size());
  return outcome;
}

Outcome lacking_device_memory(std::size_t bytes) {
  return {.status = Outcome::Status::skipped, .message = cuda::OutOfMemory(bytes).what(), .out_of_memory = true};
}

std::unique_ptr<Checker> cuda_checker() { return std::make_unique<CudaChecker>(); }

}  // namespace scanlab::verify
