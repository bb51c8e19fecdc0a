// The input of a problem on the device, and the comparison of outputs there.
#include <string>

#include "harness/core/operators.hpp"
#include "harness/verify/comparison.hpp"
#include "harness/verify/cuda_verification.hpp"
#include "harness/verify/device_guard.cuh"

namespace scanlab::verify {

namespace {

template <class Op>
__global__ void make_input(typename Op::Item* to, InputKind kind, std::uint64_t seed, std::int64_t n, ScanOrder order) {
  for (std::int64_t i = first_index(); i < n; i += stride()) to[i] = input_item<Op>(kind, seed, order.number(i), n);
}

__global__ void make_entries(void* to, Segments segments, std::int64_t count, std::int64_t n) {
  for (std::int64_t i = first_index(); i < count; i += stride()) segments.write_entry(to, i, n);
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

template <class Judge>
__global__ void judge_all(Judge judge, const typename Judge::Item* out, std::int64_t n, DeviceTally* all) {
  Tally tally;
  for (std::int64_t i = first_index(); i < n; i += stride()) tally.count(judge(out[i], i), i);
  add_tally(all, tally);
}

cuda::DeviceBuffer copy_to_device(const void* host, std::size_t bytes, const cuda::Stream& stream) {
  cuda::DeviceBuffer device(bytes);
  if (bytes > 0) {
    cuda::check(cudaMemcpyAsync(device.data(), host, bytes, cudaMemcpyHostToDevice, stream.get()),
                "sending the oracle to the device");
  }
  return device;
}

std::size_t reference_bytes(const Problem& problem) {
  const auto n = static_cast<std::size_t>(problem.items);
  const std::size_t bounds = rounds(problem) ? 2 * n * sizeof(float) : 0;
  return GuardedDeviceBuffer::size_for(n * item_bytes_of(problem)) + n * item_bytes_of(problem) + bounds +
         GuardedDeviceBuffer::size_for(problem.segments.array_bytes(problem.items)) + sizeof(DeviceTally);
}

}  // namespace

void make_entries_on(void* to, const Problem& problem, StreamHandle stream) {
  const std::int64_t count = problem.segments.entries(problem.items);
  if (count == 0) return;
  make_entries<<<blocks_for(count), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(to, problem.segments, count,
                                                                                      problem.items);
  cuda::check(cudaGetLastError(), "making keys, offsets or flags");
}

struct CudaReference::Data {
  explicit Data(const Oracle& oracle)
      : problem(oracle.problem()),
        kind(oracle.data().kind),
        seed(oracle.data().seed),
        input(Guarded::input, item_bytes_of(problem) * static_cast<std::size_t>(problem.items)),
        entries(Guarded::input, problem.segments.array_bytes(problem.items)),
        tally(sizeof(DeviceTally)) {
    const auto n = static_cast<std::size_t>(problem.items);
    const Oracle::Data& host = oracle.data();
    if (host.values) values = copy_to_device(host.values.get(), n * item_bytes_of(problem), stream);
    if (host.residuals) {
      residuals = copy_to_device(host.residuals.get(), n * sizeof(float), stream);
      magnitudes = copy_to_device(host.magnitudes.get(), n * sizeof(float), stream);
    }
    with_monoid(problem.type, problem.op, [&]<class Op>(Op) {
      make_input<Op><<<blocks_for(problem.items), kThreads, 0, stream.get()>>>(
          reinterpret_cast<typename Op::Item*>(input.data()), kind, seed, problem.items, ScanOrder(problem));
    });
    cuda::check(cudaGetLastError(), "making the input");
    input.guard(stream.get());
    make_entries_on(entries.data(), problem, stream.get());
    entries.guard(stream.get());
    stream.synchronize();
  }

  template <class Judge>
  Tally tally_all(const Judge& judge, const typename Judge::Item* out) const {
    return tally_all(judge, out, problem.items);
  }
  template <class Judge>
  Tally tally_all(const Judge& judge, const typename Judge::Item* out, std::int64_t count) const {
    if (count == 0) return {};
    const DeviceTally none{0, static_cast<unsigned long long>(Tally::kNone), 0};
    cuda::check(cudaMemcpyAsync(tally.data(), &none, sizeof none, cudaMemcpyHostToDevice, stream.get()),
                "clearing the tally");
    judge_all<<<blocks_for(count), kThreads, 0, stream.get()>>>(judge, out, count, tally.as<DeviceTally>());
    cuda::check(cudaGetLastError(), "launching the comparison");
    const DeviceTally sums = copy_to_host(tally.as<const DeviceTally>(), stream);
    return {static_cast<std::int64_t>(sums.wrong), static_cast<std::int64_t>(sums.first),
            std::bit_cast<double>(sums.worst_bits)};
  }

  /// Compares with what a judge expects, bit by bit.
  template <class Judge>
  Outcome compare_expected(const Judge& judge, const typename Judge::Item* out, std::int64_t count) const {
    const Tally differences = tally_all(judge, out, count);
    if (differences.wrong == 0) return {};
    const auto got = copy_to_host(out + differences.first, stream);
    const typename Judge::Item expected = judge.expected(differences.first);
    return outcome_of(problem, differences, {.got = &got, .expected = &expected}, 0);
  }

  template <class Op, class Judge>
  Outcome compare_values(const Judge& judge, const typename Op::Item* out, std::int64_t chain) const {
    const Tally differences = tally_all(judge, out, problem.results());
    if (differences.wrong == 0) return outcome_of(problem, differences, {}, chain);
    const std::int64_t place = judge.place(differences.first);
    const auto got = copy_to_host(out + differences.first, stream);
    const auto expected = copy_to_host(judge.values + place, stream);
    Mismatch first{.got = &got, .expected = &expected};
    if (Op::kRounds) {
      first.residual = copy_to_host(judge.residuals + place, stream);
      first.magnitude = copy_to_host(judge.magnitudes + place, stream);
      first.exact = is_exact<Op>(kind);
    }
    return outcome_of(problem, differences, first, chain);
  }

  template <class Op>
  Outcome compare_scan(const typename Op::Item* out, std::int64_t chain) const {
    const Segments& segments = problem.segments;
    if (have_flags(segments.by)) {
      return compare_expected(JudgeByFlags<Op>{kind, seed, problem.items, segments}, out, problem.results());
    }
    if (!read_items(segments.by)) {
      return compare_expected(JudgeLengths<Op>{segments, problem.items}, out, problem.results());
    }
    const auto bound = gamma_of<Op>(chain, kind);
    if (!bound) return no_bound(chain, problem.type);
    const JudgeByValues<Op> judge{values.as<const typename Op::Item>(), residuals.as<const float>(),
                                  magnitudes.as<const float>(), *bound};
    if (segments.by != SegmentsBy::runs) return compare_values<Op>(judge, out, chain);
    return compare_values<Op>(JudgeRuns<Op>{judge, segments, problem.items}, out, chain);
  }

  /// The number of results, and the keys of runs.
  Outcome compare_counted(const Counted& counted) const {
    if (has_mode(problem.segments.by)) return {};
    Outcome outcome = outcome_of_count(problem, copy_to_host(counted.count, stream));
    if (!outcome.passed() || !fold_runs(problem.segments.by)) return outcome;
    const JudgeEntries judge{problem.segments, problem.items, true};
    const auto bytes = static_cast<std::int64_t>(problem.unique_bytes());
    return outcome_of_unique(problem, tally_all(judge, static_cast<const std::uint8_t*>(counted.unique), bytes));
  }

  cuda::Stream stream;
  Problem problem;
  InputKind kind;
  std::uint64_t seed;
  GuardedDeviceBuffer input;
  GuardedDeviceBuffer entries;
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
const void* CudaReference::entries() const { return data_->entries.data(); }

void CudaReference::copy_input(void* to, StreamHandle stream) const {
  cuda::check(cudaMemcpyAsync(to, input(), data_->problem.array_bytes(), cudaMemcpyDeviceToDevice,
                              static_cast<cudaStream_t>(stream)),
              "copying the input");
}

Outcome CudaReference::compare(const void* out, std::int64_t chain, Kind kind, const Counted& counted) const {
  if (!writes(kind)) return {};
  if (!copies(kind)) {
    if (Outcome outcome = data_->compare_counted(counted); !outcome.passed()) return outcome;
  }
  return with_monoid(data_->problem.type, data_->problem.op, [&]<class Op>(Op) {
    const auto* items = static_cast<const typename Op::Item*>(out);
    if (!copies(kind)) return data_->template compare_scan<Op>(items, chain);
    const JudgeByInput<Op> judge{data_->kind, data_->seed, data_->problem.items, ScanOrder(data_->problem)};
    if (counted.unique != nullptr && data_->problem.unique_bytes() > 0) {
      const JudgeEntries keys{data_->problem.segments, data_->problem.items, false};
      const auto bytes = static_cast<std::int64_t>(data_->problem.unique_bytes());
      const Tally differences = data_->tally_all(keys, static_cast<const std::uint8_t*>(counted.unique), bytes);
      if (differences.wrong != 0) return Outcome::failed("copies wrong keys");
    }
    // A copy beside what counts its results writes as many; of an input, all are compared.
    const bool whole = counted.count == nullptr;
    return data_->compare_expected(judge, items, whole ? data_->problem.items : data_->problem.results());
  });
}

std::string CudaReference::damaged_entries() const {
  if (data_->problem.segments.by == SegmentsBy::none) return {};  // scans of plain arrays wait for nothing more
  if (std::string damage = data_->entries.damage(data_->stream); !damage.empty()) return damage;
  const Segments& segments = data_->problem.segments;
  const auto bytes = static_cast<std::int64_t>(segments.array_bytes(data_->problem.items));
  const Tally differences = data_->tally_all(JudgeEntries{segments, data_->problem.items, false},
                                             static_cast<const std::uint8_t*>(entries()), bytes);
  return differences.wrong == 0 ? std::string{} : "wrote to its keys, offsets or flags";
}

std::string CudaReference::damaged_input() const {
  if (std::string damage = data_->input.damage(data_->stream); !damage.empty()) return damage;
  return with_monoid(data_->problem.type, data_->problem.op, [&]<class Op>(Op) {
    const JudgeByInput<Op> judge{data_->kind, data_->seed, data_->problem.items, ScanOrder(data_->problem)};
    const Tally differences = data_->tally_all(judge, static_cast<const typename Op::Item*>(input()));
    return differences.wrong == 0 ? std::string{}
                                  : "wrote to its input, first to item " + std::to_string(differences.first);
  });
}

}  // namespace scanlab::verify
