// A ScanDevice without a device: a thread for each stream, and a scan of the registry that runs on the host. As on a
// device, nothing but streams and events orders what is enqueued.
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

#include "harness/core/operators.hpp"
#include "harness/out_of_core/carry.hpp"
#include "harness/out_of_core/out_of_core_scan.hpp"

namespace scanlab::out_of_core {

namespace {

/// Runs what it is given, in that order.
class StreamThread {
 public:
  StreamThread() : thread_([this] { work(); }) {}
  ~StreamThread() {
    enqueue(nullptr);  // the end
    thread_.join();
  }
  StreamThread(const StreamThread&) = delete;
  StreamThread& operator=(const StreamThread&) = delete;

  void enqueue(std::function<void()> operation) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(operation));
    changed_.notify_one();
  }

 private:
  void work() {
    while (true) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !queue_.empty(); });
      const std::function<void()> operation = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      if (!operation) return;
      operation();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  std::thread thread_;  // the last member: it uses the others
};

/// An event as CUDA has it: a wait is for the latest record enqueued before it, and for none if there is none.
class HostEvent {
 public:
  /// When enqueued; what it returns is to be passed to complete() in the stream.
  std::int64_t record() { return ++recorded_; }
  std::int64_t recorded() const { return recorded_; }

  void complete(std::int64_t record) {
    const std::lock_guard lock(mutex_);
    completed_ = record;
    changed_.notify_all();
  }
  void wait(std::int64_t record) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return completed_ >= record; });
  }

 private:
  std::atomic<std::int64_t> recorded_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t completed_ = 0;
};

class HostScanDevice final : public ScanDevice {
 public:
  HostScanDevice(const ChunkedScan& asked, const Recording& recording)
      : asked_(asked),
        item_bytes_(asked.item_bytes()),
        buffer_bytes_(static_cast<std::size_t>(recording.buffer_items) * item_bytes_),
        inputs_(pageable_memory(static_cast<std::size_t>(recording.buffers) * buffer_bytes_)),
        outputs_(pageable_memory(static_cast<std::size_t>(recording.buffers) * buffer_bytes_)),
        carries_(pageable_memory((static_cast<std::size_t>(recording.job.chunks) + 1) * item_bytes_)),
        events_(static_cast<std::size_t>(recording.events)),
        copied_in_(static_cast<std::size_t>(asked.host_buffers)),
        copied_out_(static_cast<std::size_t>(asked.host_buffers)),
        streams_(recording.streams.size()) {
    std::memcpy(carry(0), asked.first_carry().data(), item_bytes_);
    if (recording.job.items > 0) longest_ = asked.bind(recording.buffer_items);
    longest_items_ = recording.buffer_items;
    if (longest_items_ > 1) shorter_ = asked.bind(longest_items_ - 1);
  }

  void copy_in(const Chunk& chunk, Stream stream, const void* from) override {
    enqueue(stream, [this, chunk, from] { std::memcpy(input(chunk), from, bytes(chunk)); });
    record(slot(copied_in_, chunk), stream);
  }
  void scan(const Chunk& chunk, Stream stream) override {
    enqueue(stream, [this, chunk] {
      with_monoid(asked_.problem.type, asked_.problem.op, [&]<class Op>(Op) {
        using Item = typename Op::Item;
        auto* const in = reinterpret_cast<Item*>(input(chunk));
        auto* const out = reinterpret_cast<Item*>(output(chunk));
        const Item before = *reinterpret_cast<Item*>(carry(chunk.index));
        fold_carry<Op>(before, in);
        (chunk.items == longest_items_ ? longest_ : shorter_).host({.in = in, .out = out});
        *reinterpret_cast<Item*>(carry(chunk.index + 1)) =
            leave_carry<Op>(asked_.problem.mode, before, in, out, chunk.items);
      });
    });
  }
  void copy_out(const Chunk& chunk, Stream stream, void* to) override {
    enqueue(stream, [this, chunk, to] { std::memcpy(to, output(chunk), bytes(chunk)); });
    record(slot(copied_out_, chunk), stream);
  }
  void record(Event event, Stream stream) override { record(events_[static_cast<std::size_t>(event.index)], stream); }
  void wait(Stream stream, Event event) override {
    HostEvent& awaited = events_[static_cast<std::size_t>(event.index)];
    enqueue(stream, [&awaited, latest = awaited.recorded()] { awaited.wait(latest); });
  }

  void wait_copied_in(const Chunk& chunk) override { wait(slot(copied_in_, chunk)); }
  void wait_copied_out(const Chunk& chunk) override { wait(slot(copied_out_, chunk)); }
  void synchronize() override {
    std::deque<HostEvent> ends(streams_.size());
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      streams_[i].enqueue([&end = ends[i]] { end.complete(1); });
    }
    for (HostEvent& end : ends) end.wait(1);
  }

  std::span<const std::byte> carry_after(const Chunk& chunk) const override {
    return {carry(chunk.index + 1), item_bytes_};
  }

 private:
  void enqueue(Stream stream, std::function<void()> operation) {
    streams_[static_cast<std::size_t>(stream.index)].enqueue(std::move(operation));
  }
  void record(HostEvent& event, Stream stream) {
    enqueue(stream, [&event, record = event.record()] { event.complete(record); });
  }
  static void wait(HostEvent& event) { event.wait(event.recorded()); }
  HostEvent& slot(std::deque<HostEvent>& ring, const Chunk& chunk) {
    return ring[static_cast<std::size_t>(chunk.index % asked_.host_buffers)];
  }
  std::byte* input(const Chunk& chunk) const { return inputs_.get() + buffer_bytes_ * offset(chunk.buffer); }
  std::byte* output(const Chunk& chunk) const { return outputs_.get() + buffer_bytes_ * offset(chunk.buffer); }
  std::byte* carry(int cell) const { return carries_.get() + item_bytes_ * offset(cell); }
  std::size_t bytes(const Chunk& chunk) const { return static_cast<std::size_t>(chunk.items) * item_bytes_; }
  static std::size_t offset(int index) { return static_cast<std::size_t>(index); }

  ChunkedScan asked_;
  std::size_t item_bytes_;
  std::size_t buffer_bytes_;
  HostArray inputs_, outputs_, carries_;
  std::int64_t longest_items_ = 0;
  BoundScan longest_, shorter_;
  std::deque<HostEvent> events_, copied_in_, copied_out_;
  std::deque<StreamThread> streams_;  // the last member: its threads use the others
};

class NoScanDevice final : public ScanDevice {
 public:
  explicit NoScanDevice(const ChunkedScan& asked) : carry_(asked.first_carry()) {}

  void copy_in(const Chunk&, Stream, const void*) override {}
  void scan(const Chunk&, Stream) override {}
  void copy_out(const Chunk&, Stream, void*) override {}
  void record(Event, Stream) override {}
  void wait(Stream, Event) override {}
  void wait_copied_in(const Chunk&) override {}
  void wait_copied_out(const Chunk&) override {}
  void synchronize() override {}
  std::span<const std::byte> carry_after(const Chunk&) const override { return carry_; }

 private:
  std::vector<std::byte> carry_;
};

}  // namespace

std::unique_ptr<ScanDevice> no_scan_device(const ChunkedScan& asked) { return std::make_unique<NoScanDevice>(asked); }

std::unique_ptr<ScanDevice> host_scan_device(const ChunkedScan& asked, const Recording& recording) {
  return std::make_unique<HostScanDevice>(asked, recording);
}

}  // namespace scanlab::out_of_core
