// Times device code by CUDA events.
#include <cuda_profiler_api.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "harness/core/operators.hpp"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/device.hpp"
#include "harness/cuda/graph.hpp"
#include "harness/cuda/kernel_resources.hpp"
#include "harness/cuda/neighbours.hpp"
#include "harness/cuda/nvml.hpp"
#include "harness/cuda/timing.hpp"
#include "harness/measure/host_buffer.hpp"
#include "harness/measure/scan_backend.hpp"
#include "harness/verify/cuda_verification.hpp"
#include "harness/verify/input.hpp"
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#endif

namespace scanlab::measure {
namespace {

constexpr std::size_t kDisplacement = std::size_t{6} << 20;  // bytes that the arrays move by from seed to seed

/// A range in the profilers' time lines; empty where the toolkit has no NVTX.
class NamedRange {
 public:
#if __has_include(<nvtx3/nvToolsExt.h>)
  explicit NamedRange(const std::string& name) { nvtxRangePushA(name.c_str()); }
  ~NamedRange() { nvtxRangePop(); }
#else
  explicit NamedRange(const std::string&) {}
#endif
  NamedRange(const NamedRange&) = delete;
  NamedRange& operator=(const NamedRange&) = delete;
};

template <class Op>
__global__ void fill_input(typename Op::Item* items, std::int64_t n, std::uint64_t seed, verify::ScanOrder order) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    items[i] = verify::input_item<Op>(kTimedInput, seed, order.number(i), n);
  }
}

/// The oracle's expected output on the device, of the problem last asked for.
class Reference {
 public:
  explicit Reference(OracleStore& oracles) : oracles_(oracles) {}

  /// Throws cuda::OutOfMemory.
  const verify::CudaReference& get(const Problem& problem) {
    if (!problem_ || *problem_ != bare(problem)) {
      clear();
      reference_ = std::make_unique<verify::CudaReference>(oracles_.get(problem));
      problem_ = bare(problem);
    }
    return *reference_;
  }

  /// Frees it; false if there was nothing to free.
  bool clear() {
    problem_.reset();
    return std::exchange(reference_, nullptr) != nullptr;
  }

 private:
  OracleStore& oracles_;
  std::optional<Problem> problem_;
  std::unique_ptr<verify::CudaReference> reference_;
};

class CudaScanBackend : public ScanBackend {
 public:
  CudaScanBackend(OracleStore& oracles, const cuda::DeviceFacts& device)
      : oracles_(oracles),
        reference_(oracles),
        clock_(device.pci_bus_id),
        memory_bytes_(device.memory_bytes),
        displacement_((oracles.seed() - 1) % 64 * kDisplacement) {}

  verify::Outcome verify(const TimedCase& timed) override {
    // The sizes tell whether a case can ever fit: its oracle alone could take all of the host's memory.
    if (const std::size_t bytes = least_bytes(timed); bytes > memory_bytes_)
      return verify::lacking_device_memory(bytes);
    const auto attempt = [&] {
      try {
        return verify::verify_on_cuda(*timed.scan.variant, timed.problem(), reference_.get(timed.problem()));
      } catch (const cuda::OutOfMemory& lack) {
        return verify::lacking_device_memory(lack.bytes);
      }
    };
    return guarded([&] {
      verify::Outcome outcome = attempt();
      if (!outcome.out_of_memory) return outcome;
      reference_.clear();
      free_buffers();
      return attempt();
    });
  }

  void inspect(TimedCase& timed) override {
    guarded([&] {
      const Buffers buffers = buffers_of(timed);
      prepare(timed);
      timed.prepare_seconds = seconds_to_prepare(timed);
      if (timed.about().waits_on_host) return;
      const cuda::Graph run(timer_.stream(), [&] { timed.bound.cuda(buffers, timer_.stream()); });
      timed.kernels = cuda::kernel_resources(run);
    });
  }

  Sample time(const TimedCase& timed, std::int64_t runs) override {
    return guarded([&] {
      const Buffers buffers = buffers_of(timed);
      if (last_user_ != user(timed)) prepare(timed);
      Sample sample{.runs = runs};
      if (has_rows(timed.about().primitive) && timed.bound.cuda_watch) {
        sample.fields["cycles"] = timed.bound.cuda_watch(buffers, timer_.stream()).front().total;
      }
      const cuda::Work work{
          .run =
              [&](cudaStream_t stream) {
                const std::size_t bytes = timed.problem().array_bytes();
                const bool between = timed.launch == Launch::pipeline;
                if (between) neighbours_.produce(in_.data(), bytes, stream);
                timed.bound.cuda(buffers, stream);
                if (between) neighbours_.consume(buffers.out, bytes, stream);
              },
          // A run that leaves the output as it found it, for stale state of its own, is caught.
          .between =
              [&](cudaStream_t stream) {
                cuda::check(cudaMemsetAsync(buffers.out, kPoison, timed.problem().array_bytes(), stream),
                            "poisoning the output");
                if (has_mode(timed.problem().segments.by)) return;
                cuda::check(cudaMemsetAsync(buffers.count, kPoison, count_.bytes(), stream), "poisoning the count");
                const std::size_t unique_bytes = timed.problem().unique_bytes();
                if (unique_bytes == 0) return;
                cuda::check(cudaMemsetAsync(buffers.unique, kPoison, unique_bytes, stream), "poisoning the keys");
              },
          .meanwhile = [&] { sample.sm_clock_mhz = clock_.sm_mhz(); },
      };
      sample.seconds = seconds_per_run(timed, work, runs);
      return sample;
    });
  }

  verify::Outcome verify_last_run(const TimedCase& timed) override {
    if (!writes(timed.about().kind)) return {};
    const auto attempt = [&] {
      return reference_.get(timed.problem())
          .compare(out_.data(), timed.bound.plan.chain, timed.about().kind,
                   {count_.as<std::uint64_t>(), unique_.data()});
    };
    return guarded([&] {
      try {
        return attempt();
      } catch (const cuda::OutOfMemory&) {
        reference_.clear();  // the output must stay
        return attempt();
      }
    });
  }

  void run_once(const TimedCase& timed) override {
    guarded([&] {
      const Buffers buffers = buffers_of(timed);
      prepare(timed);
      timer_.flush_l2();  // a profiler that counts memory traffic sees the input come from there
      timer_.synchronize();
      cuda::check(cudaProfilerStart(), "starting the profiler's capture");
      {
        const NamedRange range(timed.name);
        timed.bound.cuda(buffers, timer_.stream());
        timer_.synchronize();
      }
      cuda::check(cudaProfilerStop(), "stopping the profiler's capture");
    });
  }

 private:
  /// Input, expected output, output and workspace.
  static std::size_t least_bytes(const TimedCase& timed) {
    return timed.problem().ideal_bytes() + timed.problem().array_bytes() + timed.bound.plan.workspace_bytes;
  }

  /// Tells errors that end the device's use in this process from those of one case.
  template <class F>
  auto guarded(F&& f) -> decltype(f()) {
    try {
      return f();
    } catch (const cuda::OutOfMemory& lack) {
      throw LacksMemory(lack.what());
    } catch (const cuda::CudaError& error) {
      cudaGetLastError();
      last_user_.reset();  // whatever the run left there
      if (const cudaError_t still = cudaDeviceSynchronize(); still != cudaSuccess) {
        throw verify::DeviceLost(error.what());
      }
      throw;
    }
  }

  double seconds_per_run(const TimedCase& timed, const cuda::Work& work, std::int64_t runs) {
    const bool cold = timed.cache == Cache::cold;
    if (timed.launch == Launch::batch) return timer_.warm_batch(work, runs);
    if (timed.launch == Launch::graph) return cold ? timer_.cold_graph(work, runs) : timer_.warm_graph(work, runs);
    return cold ? timer_.cold(work, runs) : timer_.warm(work, runs);
  }

  /// Who uses a workspace: one scan, in whatever column it is timed.
  using User = std::pair<const Variant*, Problem>;
  static User user(const TimedCase& timed) { return {timed.scan.variant, timed.problem()}; }

  /// Makes the workspace the case's own.
  void prepare(const TimedCase& timed) {
    last_user_.reset();
    if (timed.bound.prepare_cuda) timed.bound.prepare_cuda(workspace_.data(), timer_.stream());
    last_user_ = user(timed);
  }

  /// On the device, of a cold cache: the launch hides behind its L2 flush. A workspace may be prepared again.
  double seconds_to_prepare(const TimedCase& timed) {
    constexpr std::int64_t kTimes = 3;
    if (!timed.bound.prepare_cuda) return 0;
    return timer_.cold({.run = [&](cudaStream_t stream) { timed.bound.prepare_cuda(workspace_.data(), stream); }},
                       kTimes);
  }

  /// The buffers of a case, its input in place. All cases share them: nothing is allocated while anything is timed.
  Buffers buffers_of(const TimedCase& timed) {
    const std::size_t bytes = timed.problem().array_bytes();
    if (in_.bytes() < bytes) held_.reset();
    if (entries_.bytes() < timed.problem().segments.array_bytes(timed.problem().items)) held_.reset();
    grow(in_, bytes);
    grow(entries_, timed.problem().segments.array_bytes(timed.problem().items));
    grow(out_, bytes);
    grow(unique_, timed.problem().unique_bytes());
    grow(workspace_, timed.bound.plan.workspace_bytes);
    if (!held_ || *held_ != bare(timed.problem())) fill(timed.problem());
    return {.in = in_.data(),
            .out = out_.data(),
            .workspace = workspace_.data(),
            .entries = entries_.data(),
            .count = count_.as<std::uint64_t>(),
            .unique = unique_.data()};
  }

  void grow(cuda::DeviceBuffer& buffer, std::size_t bytes) {
    if (buffer.bytes() >= bytes) return;
    if (&buffer == &workspace_) last_user_.reset();
    buffer = cuda::DeviceBuffer();
    try {
      buffer = cuda::DeviceBuffer(bytes);
    } catch (const cuda::OutOfMemory&) {
      if (!reference_.clear()) throw;
      buffer = cuda::DeviceBuffer(bytes);
    }
  }

  void free_buffers() {
    held_.reset();
    last_user_.reset();
    in_ = {};
    entries_ = {};
    out_ = {};
    unique_ = {};
    workspace_ = {};
  }

  void fill(const Problem& problem) {
    constexpr unsigned kThreads = 256;
    constexpr std::int64_t kMaxBlocks = 1 << 16;
    held_ = bare(problem);
    if (problem.items == 0) return;
    with_monoid(problem.type, problem.op, [&]<class Op>(Op) {
      const auto blocks = static_cast<unsigned>(std::min(kMaxBlocks, ceil_div(problem.items, kThreads)));
      fill_input<Op><<<blocks, kThreads, 0, timer_.stream()>>>(in_.as<typename Op::Item>(), problem.items,
                                                               oracles_.seed(), verify::ScanOrder(problem));
    });
    cuda::check(cudaGetLastError(), "making the input");
    verify::make_entries_on(entries_.data(), problem, timer_.stream());
  }

  OracleStore& oracles_;
  Reference reference_;
  cuda::ClockReader clock_;
  std::size_t memory_bytes_;
  cuda::StreamTimer timer_;
  cuda::Neighbours neighbours_;
  cuda::DeviceBuffer displacement_;  ///< before the arrays, which lie elsewhere for it
  cuda::DeviceBuffer in_;
  cuda::DeviceBuffer entries_;  ///< keys, offsets or flags
  cuda::DeviceBuffer count_{sizeof(std::uint64_t)};
  cuda::DeviceBuffer out_;
  cuda::DeviceBuffer unique_;  ///< the key of each run
  cuda::DeviceBuffer workspace_;
  std::optional<Problem> held_;    ///< whose input `in_` holds
  std::optional<User> last_user_;  ///< of the workspace, which is prepared for it
};

}  // namespace

std::unique_ptr<ScanBackend> make_cuda_scan_backend(OracleStore& oracles) {
  try {
    return std::make_unique<CudaScanBackend>(oracles, cuda::probe_device().facts.value());
  } catch (const cuda::OutOfMemory& lack) {
    throw LacksMemory(lack.what());
  }
}

}  // namespace scanlab::measure
