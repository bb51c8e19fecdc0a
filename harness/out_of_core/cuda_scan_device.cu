// A ScanDevice on CUDA.
#include <algorithm>
#include <cstring>
#include <vector>

#include "harness/cuda/buffer.hpp"
#include "harness/cuda/error.hpp"
#include "harness/cuda/pinned_memory.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/host/clock.hpp"
#include "harness/out_of_core/carried_scan.hpp"
#include "harness/out_of_core/out_of_core_scan.hpp"

namespace scanlab::out_of_core {

namespace {

using cuda::check;

/// An event that orders and takes no times. Who waits for it on the host sleeps: there are threads with work to do.
class OrderEvent : public cuda::Event {
 public:
  OrderEvent() : Event(cudaEventDisableTiming | cudaEventBlockingSync) {}
  void hold_back(cudaStream_t stream) const { check(cudaStreamWaitEvent(stream, get(), 0), "waiting for an event"); }
};

/// A scan of chunks of one size, with a workspace of its own: it is prepared once.
struct ChunkScan {
  CarriedScan carried;
  cuda::DeviceBuffer workspace;

  ChunkScan() = default;
  ChunkScan(const ChunkedScan& asked, std::int64_t items, cudaStream_t stream)
      : carried(carried_scan(*asked.scan, asked.chunk_problem(items))), workspace(carried.workspace_bytes) {
    if (carried.prepare) carried.prepare(workspace.data(), stream);
  }
};

class CudaScanDevice final : public ScanDevice {
 public:
  CudaScanDevice(const ChunkedScan& asked, const Recording& recording)
      : asked_(asked),
        item_bytes_(asked.item_bytes()),
        longest_items_(recording.buffer_items),
        carries_(2 * item_bytes_),
        carries_on_host_(cuda::pinned_memory((static_cast<std::size_t>(recording.job.chunks) + 1) * item_bytes_)),
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
    std::memcpy(carry_on_host(0), asked.first_carry().data(), item_bytes_);
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
    return {carry_on_host(chunk.index + 1), item_bytes_};
  }

 private:
  /// The carries on the device are used in turn: the scans are in order, and each needs the one before. On the host all
  /// are kept, for whoever wants to go on another day.
  void scan(const Chunk& chunk, cudaStream_t stream) {
    const ChunkScan& scan = chunk.items == longest_items_ ? longest_ : shorter_;
    scan.carried.launch(
        {.inputs = {input(chunk)},
         .output = output(chunk),
         .carry_in = carries_.as<std::byte>() + static_cast<std::size_t>(chunk.index % 2) * item_bytes_,
         .carry_out = carries_.as<std::byte>() + static_cast<std::size_t>((chunk.index + 1) % 2) * item_bytes_,
         .workspace = scan.workspace.data()},
        carry_on_host(chunk.index + 1), stream);
  }

  /// Scans zeros once: a kernel's first launch loads it, which takes as long as many chunks do and may hold back
  /// copies.
  void warm_up(cudaStream_t stream) {
    for (const std::int64_t items : {longest_items_, longest_items_ - 1}) {
      if (items < 1 || !(items == longest_items_ ? longest_ : shorter_).carried.launch) continue;
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
  std::byte* carry_on_host(int index) const {
    return carries_on_host_.get() + static_cast<std::size_t>(index) * item_bytes_;
  }
  void* input(const Chunk& chunk) const { return inputs_[static_cast<std::size_t>(chunk.buffer)].data(); }
  void* output(const Chunk& chunk) const { return outputs_[static_cast<std::size_t>(chunk.buffer)].data(); }
  std::size_t bytes(const Chunk& chunk) const { return static_cast<std::size_t>(chunk.items) * item_bytes_; }

  ChunkedScan asked_;
  std::size_t item_bytes_;
  std::int64_t longest_items_;
  std::vector<cuda::DeviceBuffer> inputs_, outputs_;
  ChunkScan longest_, shorter_;
  cuda::DeviceBuffer carries_;  ///< two
  HostArray carries_on_host_;   ///< of every chunk, written by the kernels
  std::vector<cuda::Stream> streams_;
  std::vector<OrderEvent> events_, copied_in_, copied_out_;
};

}  // namespace

std::unique_ptr<ScanDevice> cuda_scan_device(const ChunkedScan& asked, const Recording& recording) {
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
  const Clock::time_point start = Clock::now();
  for (std::size_t first = 0; first < bytes; first += chunk_bytes) {
    const std::size_t part = std::min(chunk_bytes, bytes - first);
    check(cudaMemcpyAsync(arriving.data(), from + first, part, cudaMemcpyHostToDevice, up.get()), "copying in");
    check(cudaMemcpyAsync(to + first, leaving.data(), part, cudaMemcpyDeviceToHost, down.get()), "copying out");
  }
  check(cudaDeviceSynchronize(), "waiting for the device");
  return seconds_since(start);
}

}  // namespace scanlab::out_of_core
