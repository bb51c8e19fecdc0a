#include "harness/verify/cuda_verification.hpp"

#include <algorithm>
#include <array>

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

/// Device memory with a canary on both sides, aligned to kGuardBytes.
class GuardedDeviceBuffer {
 public:
  GuardedDeviceBuffer(Guarded role, std::size_t bytes) : role_(role), bytes_(bytes), memory_(size_for(bytes)) {}

  /// Bytes on the device for a buffer of `bytes`; whole words, so that poison can be written by words.
  static std::size_t size_for(std::size_t bytes) { return (bytes + 3) / 4 * 4 + 2 * kGuardBytes; }

  unsigned char* data() const { return memory_.as<unsigned char>() + kGuardBytes; }
  void poison(cudaStream_t stream) {
    const auto words = static_cast<std::int64_t>((bytes_ + 3) / 4);
    if (words > 0) {
      fill_words<<<blocks_for(words), kThreads, 0, stream>>>(reinterpret_cast<std::uint32_t*>(data()), words, kPoison);
      cuda::check(cudaGetLastError(), "poisoning a buffer");
    }
    guard(stream);
  }
  void guard(cudaStream_t stream) {
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
    if (!intact(memory_.as<unsigned char>())) return std::string("wrote before the beginning of the ") + name(role_);
    if (!intact(data() + bytes_)) return std::string("wrote past the end of the ") + name(role_);
    return {};
  }

 private:
  Guarded role_;
  std::size_t bytes_;
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
    const auto bound = gamma(chain, kUnitRoundoff<typename Op::Element>);
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

std::size_t CudaReference::bytes() const { return reference_bytes(data_->problem); }
const void* CudaReference::input() const { return data_->input.data(); }

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

struct CudaRunBuffers::Data {
  cuda::Stream stream;
  GuardedDeviceBuffer out;
  GuardedDeviceBuffer workspace;
};

CudaRunBuffers::CudaRunBuffers(std::size_t out_bytes, std::size_t workspace_bytes) {
  try {
    data_.reset(new Data{{}, {Guarded::output, out_bytes}, {Guarded::workspace, workspace_bytes}});
  } catch (const cuda::OutOfMemory&) {
    throw cuda::OutOfMemory(GuardedDeviceBuffer::size_for(out_bytes) + GuardedDeviceBuffer::size_for(workspace_bytes));
  }
}
CudaRunBuffers::~CudaRunBuffers() = default;
CudaRunBuffers::CudaRunBuffers(CudaRunBuffers&&) noexcept = default;

void* CudaRunBuffers::out() const { return data_->out.data(); }
void* CudaRunBuffers::workspace() const { return data_->workspace.data(); }

void CudaRunBuffers::poison(StreamHandle stream) {
  data_->out.poison(static_cast<cudaStream_t>(stream));
  data_->workspace.poison(static_cast<cudaStream_t>(stream));
}

std::string CudaRunBuffers::damaged_canary() const {
  std::string damage = data_->out.damage(data_->stream);
  return damage.empty() ? data_->workspace.damage(data_->stream) : damage;
}

namespace {

Outcome run_and_compare(const Variant& variant, const BoundScan& scan, const CudaReference& reference,
                        CudaRunBuffers& buffers) {
  const cuda::Stream stream;
  buffers.poison(stream.get());
  scan.cuda({reference.input(), buffers.out(), buffers.workspace()}, stream.get());
  stream.synchronize();
  if (std::string damage = buffers.damaged_canary(); !damage.empty()) return failed(std::move(damage));
  if (std::string damage = reference.damaged_input(); !damage.empty()) return failed(std::move(damage));
  return reference.compare(buffers.out(), scan.plan.chain, variant.about.kind);
}

}  // namespace

Outcome verify_on_cuda(const Variant& variant, const Problem& problem, const CudaReference& reference) {
  const BoundScan scan = variant.bind(problem);
  if (!scan.plan.possible()) return skipped(scan.plan.refusal);
  if (!scan.cuda) return skipped(variant.about.id + " has no form for the GPU");
  try {
    CudaRunBuffers buffers(problem.ideal_bytes() / 2, scan.plan.workspace_bytes);
    return run_and_compare(variant, scan, reference, buffers);
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

Outcome lacking_device_memory(std::size_t bytes) {
  return {.status = Outcome::Status::skipped, .message = cuda::OutOfMemory(bytes).what(), .out_of_memory = true};
}

}  // namespace scanlab::verify
