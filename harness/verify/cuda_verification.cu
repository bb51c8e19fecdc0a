#include "harness/verify/cuda_verification.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>

#include "harness/cuda/buffer.hpp"
#include "harness/cuda/error.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/verify/comparison.hpp"
#include "harness/verify/guard.hpp"
#include "harness/verify/oracle_data.hpp"

namespace scanlab::verify {

namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMaxBlocks = 4096;  // enough to fill any device; each thread strides over the rest

unsigned blocks_for(std::int64_t items) {
  return static_cast<unsigned>(std::clamp<std::int64_t>(ceil_div(items, kThreads), 1, kMaxBlocks));
}

__device__ std::int64_t first_index() { return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ std::int64_t stride() { return std::int64_t{gridDim.x} * blockDim.x; }

/// Fills `words` 32-bit words.
__global__ void fill_words(std::uint32_t* to, std::int64_t words, std::uint32_t pattern) {
  for (std::int64_t i = first_index(); i < words; i += stride()) to[i] = pattern;
}

/// Writes the canaries before `data` and from its byte `bytes` on. One block of kGuardBytes threads.
__global__ void write_canaries(unsigned char* data, std::size_t bytes, std::uint32_t pattern) {
  const unsigned char byte = pattern_byte(pattern, threadIdx.x);
  (data - kGuardBytes)[threadIdx.x] = byte;
  (data + bytes)[threadIdx.x] = byte;
}

template <class Op>
__global__ void make_input(typename Op::Item* to, InputKind kind, std::uint64_t seed, std::int64_t n) {
  for (std::int64_t i = first_index(); i < n; i += stride()) to[i] = input_item<Op>(kind, seed, i, n);
}

/// A Tally in the form that atomics take: an error/bound ratio is not negative, so its bits order as it does.
struct DeviceTally {
  unsigned long long wrong;
  unsigned long long first;
  unsigned long long worst_bits;
};

__device__ void add_tally(DeviceTally* all, const Tally& mine) {
  Tally warp = mine;
  for (int offset = 16; offset > 0; offset /= 2) {
    Tally other;
    other.wrong = __shfl_down_sync(0xFFFFFFFFu, warp.wrong, offset);
    other.first = __shfl_down_sync(0xFFFFFFFFu, warp.first, offset);
    other.worst = __shfl_down_sync(0xFFFFFFFFu, warp.worst, offset);
    warp.add(other);
  }
  if (threadIdx.x % 32 != 0) return;
  if (warp.worst > 0) {
    atomicMax(&all->worst_bits, static_cast<unsigned long long>(__double_as_longlong(warp.worst)));
  }
  if (warp.wrong == 0) return;
  atomicAdd(&all->wrong, static_cast<unsigned long long>(warp.wrong));
  atomicMin(&all->first, static_cast<unsigned long long>(warp.first));
}

template <class Op>
__global__ void compare_with_values(const typename Op::Item* out, const typename Op::Item* values,
                                    const float* residuals, const float* magnitudes, std::int64_t n, double gamma,
                                    DeviceTally* all) {
  Tally tally;
  for (std::int64_t i = first_index(); i < n; i += stride()) {
    tally.count(judge<Op>(out[i], values, residuals, magnitudes, i, gamma), i);
  }
  add_tally(all, tally);
}

template <class Op>
__global__ void compare_with_input(const typename Op::Item* out, InputKind kind, std::uint64_t seed, std::int64_t n,
                                   DeviceTally* all) {
  Tally tally;
  for (std::int64_t i = first_index(); i < n; i += stride()) {
    tally.count({.right = same_bits(out[i], input_item<Op>(kind, seed, i, n)), .error_to_bound = 0}, i);
  }
  add_tally(all, tally);
}

template <class T>
T copy_to_host(const T* device, const cuda::Stream& stream) {
  T host;
  cuda::check(cudaMemcpyAsync(&host, device, sizeof host, cudaMemcpyDeviceToHost, stream.get()), "reading a result");
  stream.synchronize();
  return host;
}

cuda::DeviceBuffer copy_to_device(const void* host, std::size_t bytes, const cuda::Stream& stream) {
  cuda::DeviceBuffer device(bytes);
  if (bytes > 0) {
    cuda::check(cudaMemcpyAsync(device.data(), host, bytes, cudaMemcpyHostToDevice, stream.get()),
                "sending the oracle to the device");
  }
  return device;
}

/// Device memory with a canary right before and after it, aligned to kGuardBytes but for a shift.
class GuardedDeviceBuffer {
 public:
  GuardedDeviceBuffer(Guarded role, std::size_t bytes, std::size_t shift_bytes = 0)
      : role_(role), bytes_(bytes), shift_(shift_bytes), memory_(size_for(bytes + shift_bytes)) {}

  /// Bytes on the device for a buffer of `bytes`; whole words, so that poison can be written by words.
  static std::size_t size_for(std::size_t bytes) { return (bytes + 3) / 4 * 4 + 2 * kGuardBytes; }

  unsigned char* data() const { return memory_.as<unsigned char>() + kGuardBytes + shift_; }
  void poison(cudaStream_t stream) const {
    const auto words = static_cast<std::int64_t>(memory_.bytes() / 4);
    fill_words<<<blocks_for(words), kThreads, 0, stream>>>(memory_.as<std::uint32_t>(), words, kPoison);
    cuda::check(cudaGetLastError(), "poisoning a buffer");
    guard(stream);
  }
  void guard(cudaStream_t stream) const {
    write_canaries<<<1, kGuardBytes, 0, stream>>>(data(), bytes_, canary(role_));
    cuda::check(cudaGetLastError(), "writing canaries");
  }

  /// Empty, or a sentence.
  std::string damage(const cuda::Stream& stream) const {
    using Guard = std::array<unsigned char, kGuardBytes>;
    const auto intact = [&](const unsigned char* guard) {
      const Guard found = copy_to_host(reinterpret_cast<const Guard*>(guard), stream);
      for (std::size_t i = 0; i < kGuardBytes; ++i) {
        if (found[i] != pattern_byte(canary(role_), i)) return false;
      }
      return true;
    };
    if (!intact(data() - kGuardBytes)) return std::string("wrote before the beginning of the ") + name(role_);
    if (!intact(data() + bytes_)) return std::string("wrote past the end of the ") + name(role_);
    return {};
  }

 private:
  Guarded role_;
  std::size_t bytes_;
  std::size_t shift_;
  cuda::DeviceBuffer memory_;
};

std::size_t item_bytes_of(const Problem& problem) { return item_bytes(problem.type, problem.op); }

std::size_t reference_bytes(const Problem& problem) {
  const auto n = static_cast<std::size_t>(problem.items);
  const std::size_t bounds = rounds(problem) ? 2 * n * sizeof(float) : 0;
  return GuardedDeviceBuffer::size_for(n * item_bytes_of(problem)) + n * item_bytes_of(problem) + bounds +
         sizeof(DeviceTally);
}

Outcome failed(std::string why) { return {.status = Outcome::Status::failed, .message = std::move(why)}; }
Outcome skipped(std::string why) { return {.status = Outcome::Status::skipped, .message = std::move(why)}; }

}  // namespace

struct CudaReference::Data {
  explicit Data(const Oracle& oracle)
      : problem(oracle.problem()),
        kind(oracle.kind()),
        seed(oracle.seed()),
        input(Guarded::input, item_bytes_of(problem) * static_cast<std::size_t>(problem.items)),
        tally(sizeof(DeviceTally)) {
    const auto n = static_cast<std::size_t>(problem.items);
    const Oracle::Data& host = oracle.data();
    values = copy_to_device(host.values.get(), n * item_bytes_of(problem), stream);
    if (rounds(problem)) {
      residuals = copy_to_device(host.residuals.get(), n * sizeof(float), stream);
      magnitudes = copy_to_device(host.magnitudes.get(), n * sizeof(float), stream);
    }
    with_monoid(problem.type, problem.op, [&]<class Op>(Op) { fill_input<Op>(); });
    input.guard(stream.get());
    stream.synchronize();
  }

  template <class Op>
  void fill_input() const {
    if (problem.items == 0) return;
    make_input<Op><<<blocks_for(problem.items), kThreads, 0, stream.get()>>>(
        reinterpret_cast<typename Op::Item*>(input.data()), kind, seed, problem.items);
    cuda::check(cudaGetLastError(), "making the input");
  }

  /// Runs a comparison kernel between clearing the tally and fetching it.
  template <class Launch>
  Tally tally_of(const Launch& launch) const {
    if (problem.items == 0) return {};
    const DeviceTally none{0, static_cast<unsigned long long>(Tally::kNone), 0};
    cuda::check(cudaMemcpyAsync(tally.data(), &none, sizeof none, cudaMemcpyHostToDevice, stream.get()),
                "clearing the tally");
    launch();
    cuda::check(cudaGetLastError(), "launching the comparison");
    const DeviceTally found = copy_to_host(tally.as<const DeviceTally>(), stream);
    return {static_cast<std::int64_t>(found.wrong), static_cast<std::int64_t>(found.first),
            std::bit_cast<double>(found.worst_bits)};
  }

  template <class Op>
  Tally tally_against_input(const void* out) const {
    return tally_of([&] {
      compare_with_input<Op><<<blocks_for(problem.items), kThreads, 0, stream.get()>>>(
          static_cast<const typename Op::Item*>(out), kind, seed, problem.items, tally.as<DeviceTally>());
    });
  }

  template <class Op>
  Tally tally_against_values(const void* out, double bound) const {
    return tally_of([&] {
      compare_with_values<Op><<<blocks_for(problem.items), kThreads, 0, stream.get()>>>(
          static_cast<const typename Op::Item*>(out), values.as<const typename Op::Item>(), residuals.as<const float>(),
          magnitudes.as<const float>(), problem.items, bound, tally.as<DeviceTally>());
    });
  }

  template <class Op>
  Outcome compare_input(const void* out) const {
    const Tally found = tally_against_input<Op>(out);
    if (found.wrong == 0) return {};
    const auto got = copy_to_host(static_cast<const typename Op::Item*>(out) + found.first, stream);
    const typename Op::Item expected = input_item<Op>(kind, seed, found.first, problem.items);
    return outcome_of(problem, found, {.got = &got, .expected = &expected}, 0);
  }

  template <class Op>
  Outcome compare_values(const void* out, std::int64_t chain) const {
    const auto bound = gamma_of<Op>(chain);
    if (!bound) return no_bound(chain, problem.type);
    const Tally found = tally_against_values<Op>(out, *bound);
    if (found.wrong == 0) return outcome_of(problem, found, {}, chain);
    const auto got = copy_to_host(static_cast<const typename Op::Item*>(out) + found.first, stream);
    const auto expected = copy_to_host(values.as<const typename Op::Item>() + found.first, stream);
    Mismatch first{.got = &got, .expected = &expected};
    if (kRounds<Op>) {
      first.residual = copy_to_host(residuals.as<const float>() + found.first, stream);
      first.magnitude = copy_to_host(magnitudes.as<const float>() + found.first, stream);
    }
    return outcome_of(problem, found, first, chain);
  }

  cuda::Stream stream;
  Problem problem;
  InputKind kind;
  std::uint64_t seed;
  GuardedDeviceBuffer input;
  cuda::DeviceBuffer tally;
  cuda::DeviceBuffer values;
  cuda::DeviceBuffer residuals;
  cuda::DeviceBuffer magnitudes;
};

CudaReference::CudaReference(const Oracle& oracle) {
  try {
    data_ = std::make_unique<Data>(oracle);
  } catch (const cuda::OutOfMemory&) {
    throw cuda::OutOfMemory(reference_bytes(oracle.problem()));
  }
}
CudaReference::~CudaReference() = default;
CudaReference::CudaReference(CudaReference&&) noexcept = default;

const Problem& CudaReference::problem() const { return data_->problem; }
std::size_t CudaReference::bytes() const { return reference_bytes(data_->problem); }
const void* CudaReference::input() const { return data_->input.data(); }

void CudaReference::copy_input(void* to, StreamHandle stream) const {
  cuda::check(cudaMemcpyAsync(to, input(), data_->problem.ideal_bytes() / 2, cudaMemcpyDeviceToDevice,
                              static_cast<cudaStream_t>(stream)),
              "copying the input");
}

Outcome CudaReference::compare(const void* out, std::int64_t chain, Kind kind) const {
  if (kind == Kind::floor) return {};
  return with_monoid(data_->problem.type, data_->problem.op, [&]<class Op>(Op) {
    return kind == Kind::ceiling ? data_->template compare_input<Op>(out)
                                 : data_->template compare_values<Op>(out, chain);
  });
}

std::string CudaReference::damaged_input() const {
  if (std::string damage = data_->input.damage(data_->stream); !damage.empty()) return damage;
  return with_monoid(data_->problem.type, data_->problem.op, [&]<class Op>(Op) {
    const Tally found = data_->template tally_against_input<Op>(input());
    return found.wrong == 0 ? std::string{} : "wrote to its input, first to item " + std::to_string(found.first);
  });
}

namespace {

/// The memory of runs with one shift, and the runs.
class PlacedRuns {
 public:
  /// Throws cuda::OutOfMemory, which says the bytes of all of it.
  PlacedRuns(const Variant& variant, const BoundScan& scan, const CudaReference& reference, Placement placement,
             const Shift& shift)
      : variant_(variant), scan_(scan), reference_(reference), placement_(placement), shift_(shift) {
    const Problem& problem = reference.problem();
    const std::size_t bytes = problem.ideal_bytes() / 2;
    const std::size_t in_shift = shift.in * item_bytes_of(problem);
    const std::size_t out_shift = shift.out * item_bytes_of(problem);
    const std::size_t copy_bytes = placement == Placement::shifted ? bytes : 0;
    try {
      if (copy_bytes > 0) in_.emplace(Guarded::input, bytes, in_shift);
      out_.emplace(Guarded::output, bytes, out_shift);
      workspace_.emplace(Guarded::workspace, scan.plan.workspace_bytes);
    } catch (const cuda::OutOfMemory&) {
      throw cuda::OutOfMemory(GuardedDeviceBuffer::size_for(copy_bytes) + GuardedDeviceBuffer::size_for(bytes) +
                              GuardedDeviceBuffer::size_for(scan.plan.workspace_bytes));
    }
    workspace_->poison(stream_.get());
    if (in_) {
      in_->guard(stream_.get());
      reference.copy_input(in_->data(), stream_.get());
    }
    if (scan.prepare_cuda) scan.prepare_cuda(workspace_->data(), stream_.get());
  }

  /// Into new poison; waits.
  void run() const {
    enqueue();
    stream_.synchronize();
  }

  /// Of the run before, which has been waited for.
  Outcome judge(bool second_run) const {
    Outcome outcome;
    if (std::string why = damage(); !why.empty()) {
      outcome = failed(std::move(why));
    } else {
      outcome = reference_.compare(out(), scan_.plan.chain, variant_.about.kind);
    }
    if (!outcome.passed()) outcome.message = run_name(placement_, shift_, second_run) + outcome.message;
    return outcome;
  }

  const void* out() const { return out_->data(); }
  const cuda::Stream& stream() const { return stream_; }

 private:
  void enqueue() const {
    out_->poison(stream_.get());
    const void* from = in_ ? in_->data() : reference_.input();
    if (placement_ == Placement::in_place) {
      from = out();
      reference_.copy_input(out_->data(), stream_.get());
    }
    scan_.cuda({from, out_->data(), workspace_->data()}, stream_.get());
  }

  std::string damage() const {
    if (std::string damage = out_->damage(stream_); !damage.empty()) return damage;
    if (std::string damage = workspace_->damage(stream_); !damage.empty()) return damage;
    if (!in_) return reference_.damaged_input();
    if (std::string damage = in_->damage(stream_); !damage.empty()) return damage;
    return reference_.compare(in_->data(), 0, Kind::ceiling).passed() ? std::string{} : "wrote to its input";
  }

  const Variant& variant_;
  const BoundScan& scan_;
  const CudaReference& reference_;
  Placement placement_;
  Shift shift_;
  cuda::Stream stream_;
  std::optional<GuardedDeviceBuffer> in_;  ///< the reference's own input where it need not be shifted
  std::optional<GuardedDeviceBuffer> out_;
  std::optional<GuardedDeviceBuffer> workspace_;
};

Outcome verify_placement(const Variant& variant, const BoundScan& scan, const CudaReference& reference,
                         Placement placement) {
  Outcome worst;
  for (const Shift& shift : shifts(placement)) {
    const PlacedRuns runs(variant, scan, reference, placement, shift);
    for (const bool second_run : {false, true}) {
      runs.run();
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
  if (!scan.plan.possible()) return skipped(scan.plan.refusal);
  if (!scan.cuda) return skipped(variant.about.id + " has no form for the GPU");
  try {
    return check(scan);
  } catch (const cuda::OutOfMemory& lack) {
    return lacking_device_memory(lack.bytes);
  } catch (const cuda::CudaError& error) {
    cudaGetLastError();  // an error that does not stick is forgotten here
    if (const cudaError_t lasting = cudaDeviceSynchronize(); lasting != cudaSuccess) {
      throw DeviceLost(case_name(variant.about, problem) + ": " + error.what());
    }
    return failed(error.what());
  }
}

/// A sum of hashes, one for each word and its place: in whatever order it is added up, it changes with any one word.
__global__ void hash_words(const std::uint32_t* words, std::int64_t count, unsigned long long* sum) {
  unsigned long long mine = 0;
  for (std::int64_t i = first_index(); i < count; i += stride()) {
    mine += mix((static_cast<std::uint64_t>(i) << 32) ^ words[i]);
  }
  atomicAdd(sum, mine);
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

class OutputHash {
 public:
  std::uint64_t of(const void* out, std::size_t bytes, const cuda::Stream& stream) const {
    cuda::check(cudaMemsetAsync(sum_.data(), 0, sum_.bytes(), stream.get()), "clearing a hash");
    const auto words = static_cast<std::int64_t>(bytes / 4);
    hash_words<<<blocks_for(words), kThreads, 0, stream.get()>>>(static_cast<const std::uint32_t*>(out), words,
                                                                 sum_.as<unsigned long long>());
    cuda::check(cudaGetLastError(), "hashing an output");
    return copy_to_host(sum_.as<const unsigned long long>(), stream);
  }

 private:
  cuda::DeviceBuffer sum_{sizeof(unsigned long long)};
};

}  // namespace

Outcome verify_on_cuda(const Variant& variant, const Problem& problem, const CudaReference& reference,
                       Placement placement) {
  if (std::string why = unplaceable(variant, placement); !why.empty()) return skipped(std::move(why));
  return checked(variant, problem,
                 [&](const BoundScan& scan) { return verify_placement(variant, scan, reference, placement); });
}

Repeats repeat_on_cuda(const Variant& variant, const Problem& problem, const CudaReference& reference, int runs) {
  std::set<std::uint64_t> hashes;
  Outcome outcome = checked(variant, problem, [&](const BoundScan& scan) -> Outcome {
    const PlacedRuns placed(variant, scan, reference, Placement::apart, {});
    const OtherWork other_work;
    const OutputHash hash;
    for (int i = 0; i < runs; ++i) {
      if (i % 2 != 0) other_work.begin(8 + i % 8);
      placed.run();
      other_work.end();
      if (!hashes.insert(hash.of(placed.out(), problem.ideal_bytes() / 2, placed.stream())).second) continue;
      if (Outcome seen = placed.judge(i > 0); !seen.passed()) return seen;
    }
    if (hashes.size() > 1 && variant.about.fixed_bits) {
      return failed("says that its bits are fixed, but gave " + std::to_string(hashes.size()) +
                    " different outputs in " + std::to_string(runs) + " runs");
    }
    return {};
  });
  return {std::move(outcome), static_cast<int>(hashes.size())};
}

Outcome lacking_device_memory(std::size_t bytes) {
  return {.status = Outcome::Status::skipped, .message = cuda::OutOfMemory(bytes).what(), .out_of_memory = true};
}

}  // namespace scanlab::verify
