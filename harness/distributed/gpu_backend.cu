// A rank on a GPU.
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <tuple>

#include "harness/core/operators.hpp"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/graph.hpp"
#include "harness/cuda/launch.cuh"
#include "harness/cuda/nvml.hpp"
#include "harness/cuda/spin.cuh"
#include "harness/cuda/stream.hpp"
#include "harness/distributed/nccl.hpp"
#include "harness/distributed/rank_backend.hpp"
#include "harness/host/clock.hpp"
#include "harness/host/status.hpp"
#include "harness/measure/host_buffer.hpp"
#include "harness/verify/input.hpp"

namespace scanlab::distributed {

namespace {

template <class Op>
__global__ void fill_part(typename Op::Item* items, std::int64_t held, Distribution distribution, int rank,
                          InputKind kind, std::uint64_t seed, verify::ScanOrder order) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < held; i += stride) {
    const std::int64_t number = order.number(distribution.global(rank, i));
    items[i] = verify::input_item<Op>(kind, seed, number, distribution.items);
  }
}

/// Keeps a stream waiting (kHoldsBack).
__global__ void hold_back(unsigned long long nanoseconds) { cuda::spin_for(nanoseconds); }

/// A run that is kept in a graph. Work of a first replay that may wait for the device is done before.
class CapturedRank : public BoundRank {
 public:
  CapturedRank(BoundRank& bound, const void* in, void* out, cudaStream_t stream)
      : bound_(bound), graph_(cuda::Graph(stream, [&] { bound.run(in, out, stream); })) {
    graph_.upload(stream);
    cuda::check(cudaStreamSynchronize(stream), "uploading a graph");
  }
  /// Replays on the arrays that it was captured with.
  void run(const void*, void*, StreamHandle stream) override { graph_.replay(static_cast<cudaStream_t>(stream)); }
  std::string waits_for(StreamHandle stream) override { return bound_.waits_for(stream); }

 private:
  BoundRank& bound_;
  cuda::ReadyGraph graph_;
};

class GpuBackend : public RankBackend {
 public:
  GpuBackend(Communicator& communicator, int device, const std::string& pci_bus_id)
      : communicator_(communicator), device_(device), clock_(pci_bus_id) {}

  void fill(const Problem& problem, const Distribution& distribution, InputKind kind, std::uint64_t seed) override {
    const auto asked = std::tuple(problem, distribution, kind, seed);
    if (held_ == asked) return;
    held_.reset();
    with_monoid(problem.type, problem.op, [&]<class Op>(Op) {
      const std::int64_t held = distribution.held(communicator_.rank());
      bytes_ = static_cast<std::size_t>(held) * sizeof(typename Op::Item);
      grow(in_);
      grow(out_);
      if (held == 0) return;
      fill_part<Op><<<1024, 256, 0, stream_.get()>>>(in_.as<typename Op::Item>(), held, distribution,
                                                     communicator_.rank(), kind, seed, verify::ScanOrder(problem));
      cuda::check(cudaGetLastError(), "filling the input");
    });
    wait();
    held_ = asked;
  }

  std::unique_ptr<BoundRank> bind(const Algorithm& algorithm, const Problem& problem, const Plan& plan) override {
    try {
      auto bound = algorithm.bind(problem, plan, communicator_.rank());
      poison();  // as `time` does behind kernels that wait
      bound->rehearse(in_.data(), out_.data(), stream_.get());
      cuda::check(cudaStreamSynchronize(stream_.get()), "rehearsing a scan");
      return bound;
    } catch (const cuda::OutOfMemory& lack) {
      throw measure::LacksMemory(lack.what());
    }
  }

  double time(BoundRank& bound, std::int64_t untimed, std::int64_t runs) override {
    // Where a stream has a thousand launches, the next one waits, and cannot tell for whom.
    constexpr std::int64_t kMostEnqueued = 900;
    for (std::int64_t i = 1; i <= untimed; ++i) {
      bound.run(in_.data(), out_.data(), stream_.get());
      if (i % kMostEnqueued == 0) wait(&bound);
    }
    poison();
    start_.record(stream_.get());
    for (std::int64_t i = 0; i < runs; ++i) bound.run(in_.data(), out_.data(), stream_.get());
    end_.record(stream_.get());
    wait(&bound);
    return cuda::seconds_between(start_, end_);
  }

  void run_alone(BoundRank& bound, const std::function<void()>& meet) override {
    constexpr unsigned long long kToEnqueue = 300'000;  // nanoseconds; NCCL and a profiler take tens of thousands
    cuda::load(hold_back);
    poison();
    wait();
    meet();
    hold_back<<<1, 1, 0, stream_.get()>>>(kToEnqueue);
    cuda::check(cudaGetLastError(), "holding back a run");
    bound.run(in_.data(), out_.data(), stream_.get());
    wait(&bound);
  }

  std::unique_ptr<BoundRank> captured(BoundRank& bound) override {
    return std::make_unique<CapturedRank>(bound, in_.data(), out_.data(), stream_.get());
  }

  std::unique_ptr<OtherWork> work_beside() override { return keep_busy(device_); }

  int device() const override { return device_; }

  void read(std::size_t offset, std::size_t bytes, void* to) override {
    cuda::check(cudaMemcpy(to, out_.as<std::byte>() + offset, bytes, cudaMemcpyDeviceToHost), "reading the output");
  }

  double sm_clock_mhz() override { return clock_.sm_mhz(); }

 private:
  void poison() {
    if (bytes_ == 0) return;
    cuda::check(cudaMemsetAsync(out_.data(), measure::kPoison, bytes_, stream_.get()), "poisoning the output");
  }

  void grow(cuda::DeviceBuffer& buffer) const {
    if (buffer.bytes() >= bytes_) return;
    buffer = cuda::DeviceBuffer();
    try {
      buffer = cuda::DeviceBuffer(bytes_);
    } catch (const cuda::OutOfMemory& lack) {
      throw measure::LacksMemory(lack.what());
    }
  }

  /// For the device, which may wait for another rank that never comes: a kernel that spins ends with the process alone.
  void wait(BoundRank* bound = nullptr) {
    const Clock::time_point began = Clock::now();
    const std::string self = "rank " + std::to_string(communicator_.rank());
    while (true) {
      const cudaError_t state = cudaStreamQuery(stream_.get());
      if (state == cudaSuccess) return;
      if (state != cudaErrorNotReady) cuda::check(state, "waiting for the device");
      const auto waited = Clock::now() - began;
      if (waited < std::chrono::milliseconds(20)) continue;
      try {
        communicator_.check_others();
      } catch (const RankFailed& failure) {
        communicator_.abandon(self + " waits for its GPU in vain: " + failure.what());
      }
      if (communicator_.nccl() != nullptr) communicator_.nccl()->check();
      if (waited > patience()) {
        communicator_.abandon(self + ": its GPU has not finished within " + in_words(patience()) + missing(bound));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  /// The last clause of a sentence about a wait that failed. Asked by a thread that nobody waits for: the device may
  /// not answer either.
  std::string missing(BoundRank* bound) const {
    std::string unknown = ", as when another rank never comes";
    if (bound == nullptr) return unknown;
    auto answer = std::make_shared<std::promise<std::string>>();
    std::future<std::string> reply = answer->get_future();
    std::thread([bound, answer, device = device_, stream = asking_.get()] {
      try {
        cuda::check(cudaSetDevice(device), "choosing a device");
        answer->set_value(bound->waits_for(stream));
      } catch (const std::exception&) {
        answer->set_value({});
      }
    }).detach();
    if (reply.wait_for(std::chrono::seconds(2)) != std::future_status::ready) return unknown;
    const std::string whom = reply.get();
    return whom.empty() ? unknown : ": " + whom;
  }

  Communicator& communicator_;
  int device_;
  cuda::ClockReader clock_;
  cuda::Stream stream_;
  cuda::Stream asking_;  ///< for copies beside a run
  cuda::Event start_;
  cuda::Event end_;
  cuda::DeviceBuffer in_;
  cuda::DeviceBuffer out_;
  std::size_t bytes_ = 0;
  std::optional<std::tuple<Problem, Distribution, InputKind, std::uint64_t>> held_;
};

}  // namespace

std::unique_ptr<RankBackend> make_gpu_backend(Communicator& communicator) {
  struct Name {
    char letters[64];
  } host{}, gpu{};
  gethostname(host.letters, sizeof(host.letters) - 1);
  int here = 0;   // ranks of this host
  int local = 0;  // of them, those before this one
  const std::vector<Name> hosts = communicator.gather(host);
  for (int rank = 0; rank < communicator.ranks(); ++rank) {
    if (std::strcmp(hosts[static_cast<std::size_t>(rank)].letters, host.letters) != 0) continue;
    ++here;
    if (rank < communicator.rank()) ++local;
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess) cudaGetLastError();
  const int per_gpu = ranks_per_gpu();
  std::string reason;
  if (here > devices * per_gpu) {
    reason = std::to_string(here) + " ranks of a host need as many GPUs, and it has " + std::to_string(devices);
  }
  if (reason = communicator.first_complaint(reason); !reason.empty()) throw CommandError(kNoDevice, reason);
  const int device = local / per_gpu;
  cuda::check(cudaSetDevice(device), "choosing a device");
  cudaDeviceProp about{};
  cuda::check(cudaGetDeviceProperties(&about, device), "asking what the device is");
  std::string_view(about.name).copy(gpu.letters, sizeof(gpu.letters) - 1);
  const Name first = communicator.from_leader(gpu);
  if (std::strcmp(gpu.letters, first.letters) != 0) {
    reason = "it has an " + std::string(gpu.letters) + " and rank 0 an " + first.letters +
             ": choose GPUs of one kind by CUDA_VISIBLE_DEVICES";
  }
  if (reason = communicator.first_complaint(reason); !reason.empty()) throw CommandError(kNoDevice, reason);
  char bus[32]{};
  cuda::check(cudaDeviceGetPCIBusId(bus, sizeof(bus), device), "asking for the device's place");
  return std::make_unique<GpuBackend>(communicator, device, bus);
}

}  // namespace scanlab::distributed
