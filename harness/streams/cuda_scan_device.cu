// A ScanDevice on CUDA.
#if defined(__CUDACC__)
#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <new>
#include <utility>
#include <vector>

#include "harness/cuda/buffer.hpp"
#include "harness/cuda/error.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/streams/carry.hpp"
#include "harness/streams/out_of_core_scan.hpp"

namespace scanlab::streams {

namespace {

using cuda::check;

template <Monoid Op>
__global__ void fold_carry_kernel(const typename Op::Item* carry, typename Op::Item* first) {
  fold_carry<Op>(*carry, first);
}

/// The next carry is left twice: on the device, for the next chunk, and in host memory, for whoever wants to go on
/// another day.
template <Monoid Op>
__global__ void leave_carry_kernel(Mode mode, const typename Op::Item* carry, const typename Op::Item* in,
                                   typename Op::Item* out, std::int64_t items, typename Op::Item* next,
                                   typename Op::Item* next_on_host) {
  *next = leave_carry<Op>(mode, *carry, in, out, items);
  *next_on_host = *next;
}

/// An event that orders and takes no times. Who waits for it on the host sleeps: there are threads with work to do.
class OrderEvent {
 public:
  OrderEvent() {
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming | cudaEventBlockingSync), "creating an event");
  }
  ~OrderEvent() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }
  OrderEvent(OrderEvent&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  OrderEvent& operator=(OrderEvent&&) = delete;

  void record(cudaStream_t stream) const { check(cudaEventRecord(event_, stream), "recording an event"); }
  void hold_back(cudaStream_t stream) const { check(cudaStreamWaitEvent(stream, event_, 0), "waiting for an event"); }
  void synchronize() const { check(cudaEventSynchronize(event_), "waiting for an event"); }

 private:
  cudaEvent_t event_ = nullptr;
};

/// A scan of chunks of one size, with a workspace of its own: it is prepared once.
struct ChunkScan {
  BoundScan bound;
  cuda::DeviceBuffer workspace;

  ChunkScan() = default;
  ChunkScan(const OutOfCoreScan& asked, std::int64_t items, cudaStream_t stream)
      : bound(asked.bind(items)), workspace(bound.plan.workspace_bytes) {
    if (bound.prepare_cuda) bound.prepare_cuda(workspace.data(), stream);
  }
};

class CudaScanDevice final : public ScanDevice {
 public:
  CudaScanDevice(const OutOfCoreScan& asked, const Recording& recording)
      : asked_(asked),
        item_bytes_(asked.item_bytes()),
        longest_items_(recording.buffer_items),
        carries_(2 * item_bytes_),
        carries_on_host_(pinned_memory((static_cast<std::size_t>(recording.job.chunks) + 1) * item_bytes_)),
        streams_(recording.streams.size()),
        events_(static_cast<std::size_t>(recording.events)),
        copied_in_(static_cast<std::size_t>(asked.host_buffers)),
        copied_out_(static_cast<std::size_t>(asked.host_buffers)) {
    const std::size_t buffer_bytes = static_cast<std::size_t>(recording.buffer_items) * item_bytes_;
    for (int i = 0; i < recording.buffers; ++i) {
      inputs_.emplace_back(buffer_bytes);
      outputs_.emplace_back(buffer_bytes);
    }
    const cuda::Stream stream;
    if (recording.job.items > 0) longest_ = ChunkScan(asked, longest_items_, stream.get());
    if (recording.job.items % recording.job.chunks != 0 && longest_items_ > 1) {
      shorter_ = ChunkScan(asked, longest_items_ - 1, stream.get());
    }
    with_monoid(asked.problem.type, asked.problem.op, [&]<class Op>(Op) { bind<Op>(); });
    check(cudaMemcpyAsync(carries_.data(), carries_on_host_.get(), item_bytes_, cudaMemcpyDefault, stream.get()),
          "setting the first carry");
    warm_up(stream.get());
  }
  ~CudaScanDevice() override { cudaDeviceSynchronize(); }
  CudaScanDevice(const CudaScanDevice&) = delete;
  CudaScanDevice& operator=(const CudaScanDevice&) = delete;

  void copy_in(const Chunk& chunk, Stream stream, const void* from) override {
    check(cudaMemcpyAsync(input(chunk), from, bytes(chunk), cudaMemcpyHostToDevice, get(stream)), "copying a chunk in");
    slot(copied_in_, chunk).record(get(stream));
  }
  void scan(const Chunk& chunk, Stream stream) override { scan(chunk, get(stream)); }
  void copy_out(const Chunk& chunk, Stream stream, void* to) override {
    check(cudaMemcpyAsync(to, output(chunk), bytes(chunk), cudaMemcpyDeviceToHost, get(stream)), "copying a chunk out");
    slot(copied_out_, chunk).record(get(stream));
  }
  void record(Event event, Stream stream) override {
    events_[static_cast<std::size_t>(event.index)].record(get(stream));
  }
  void wait(Stream stream, Event event) override {
    events_[static_cast<std::size_t>(event.index)].hold_back(get(stream));
  }

  void wait_copied_in(const Chunk& chunk) override { slot(copied_in_, chunk).synchronize(); }
  void wait_copied_out(const Chunk& chunk) override { slot(copied_out_, chunk).synchronize(); }
  void synchronize() override { check(cudaDeviceSynchronize(), "waiting for the device"); }

  std::span<const std::byte> carry_after(const Chunk& chunk) const override {
    return {carries_on_host_.get() + (static_cast<std::size_t>(chunk.index) + 1) * item_bytes_, item_bytes_};
  }

 private:
  /// Keeps the two kernels for the monoid, and puts the first carry into host memory.
  template <Monoid Op>
  void bind() {
    using Item = typename Op::Item;
    Item* const carries = carries_.as<Item>();
    Item* const on_host = reinterpret_cast<Item*>(carries_on_host_.get());
    on_host[0] = Op::identity();
    if (!asked_.carry.empty()) std::memcpy(on_host, asked_.carry.data(), item_bytes_);
    fold_ = [this, carries](const Chunk& chunk, cudaStream_t stream) {
      fold_carry_kernel<Op><<<1, 1, 0, stream>>>(carries + chunk.index % 2, static_cast<Item*>(input(chunk)));
    };
    leave_ = [this, carries, on_host](const Chunk& chunk, cudaStream_t stream) {
      leave_carry_kernel<Op><<<1, 1, 0, stream>>>(
          asked_.problem.mode, carries + chunk.index % 2, static_cast<const Item*>(input(chunk)),
          static_cast<Item*>(output(chunk)), chunk.items, carries + (chunk.index + 1) % 2, on_host + chunk.index + 1);
    };
  }

  void scan(const Chunk& chunk, cudaStream_t stream) {
    fold_(chunk, stream);
    const ChunkScan& scan = chunk.items == longest_items_ ? longest_ : shorter_;
    scan.bound.cuda({.in = input(chunk), .out = output(chunk), .workspace = scan.workspace.data()}, stream);
    leave_(chunk, stream);
    check(cudaGetLastError(), "scanning a chunk");
  }

  /// Scans zeros once: a kernel's first launch loads it, which takes as long as many chunks do and may hold back
  /// copies.
  void warm_up(cudaStream_t stream) {
    for (const std::int64_t items : {longest_items_, longest_items_ - 1}) {
      if (items < 1 || !(items == longest_items_ ? longest_ : shorter_).bound.cuda) continue;
      check(cudaMemsetAsync(inputs_.front().data(), 0, inputs_.front().bytes(), stream), "clearing device memory");
      scan({.items = items}, stream);
    }
    check(cudaStreamSynchronize(stream), "waiting for the device");
  }

  // Non-blocking streams: nothing here is in the default stream.
  cudaStream_t get(Stream stream) const { return streams_[static_cast<std::size_t>(stream.index)].get(); }
  const OrderEvent& slot(const std::vector<OrderEvent>& ring, const Chunk& chunk) const {
    return ring[static_cast<std::size_t>(chunk.index % asked_.host_buffers)];
  }
  void* input(const Chunk& chunk) const { return inputs_[static_cast<std::size_t>(chunk.buffer)].data(); }
  void* output(const Chunk& chunk) const { return outputs_[static_cast<std::size_t>(chunk.buffer)].data(); }
  std::size_t bytes(const Chunk& chunk) const { return static_cast<std::size_t>(chunk.items) * item_bytes_; }

  OutOfCoreScan asked_;
  std::size_t item_bytes_;
  std::int64_t longest_items_;
  std::vector<cuda::DeviceBuffer> inputs_, outputs_;
  ChunkScan longest_, shorter_;
  cuda::DeviceBuffer carries_;  ///< in turn: the scans are in order, and each needs the one before
  HostArray carries_on_host_;   ///< of every chunk, written by the kernels
  std::function<void(const Chunk&, cudaStream_t)> fold_, leave_;
  std::vector<cuda::Stream> streams_;
  std::vector<OrderEvent> events_, copied_in_, copied_out_;
};

}  // namespace

HostArray pinned_memory(std::size_t bytes) {
  void* memory = nullptr;
  const cudaError_t error = cudaHostAlloc(&memory, std::max<std::size_t>(bytes, 1), cudaHostAllocDefault);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // not sticky: the next call must not report it again
    throw std::bad_alloc();
  }
  check(error, "allocating pinned memory");
  return {static_cast<std::byte*>(memory), [](std::byte* pinned) { cudaFreeHost(pinned); }};
}

std::unique_ptr<ScanDevice> cuda_scan_device(const OutOfCoreScan& asked, const Recording& recording) {
  return std::make_unique<CudaScanDevice>(asked, recording);
}

double duplex_copy_seconds(const std::byte* from, std::byte* to, std::size_t bytes, std::size_t chunk_bytes) {
  chunk_bytes = std::min(chunk_bytes, bytes);
  const cuda::Stream up;
  const cuda::Stream down;
  const cuda::DeviceBuffer arriving(chunk_bytes);
  const cuda::DeviceBuffer leaving(chunk_bytes);
  check(cudaMemset(leaving.data(), 0, chunk_bytes), "clearing device memory");
  check(cudaDeviceSynchronize(), "waiting for the device");
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t first = 0; first < bytes; first += chunk_bytes) {
    const std::size_t part = std::min(chunk_bytes, bytes - first);
    check(cudaMemcpyAsync(arriving.data(), from + first, part, cudaMemcpyHostToDevice, up.get()), "copying in");
    check(cudaMemcpyAsync(to + first, leaving.data(), part, cudaMemcpyDeviceToHost, down.get()), "copying out");
  }
  check(cudaDeviceSynchronize(), "waiting for the device");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace scanlab::streams
#endif
