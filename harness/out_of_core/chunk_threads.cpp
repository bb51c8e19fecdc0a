#include "harness/out_of_core/chunk_threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "harness/host/status.hpp"

namespace scanlab::out_of_core {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{2} << 20;  // large enough for a system call, small enough to share out

std::size_t index_of(const Chunk& chunk) { return static_cast<std::size_t>(chunk.index); }

}  // namespace

ChunksInMemory::ChunksInMemory(ScanDevice& device, const ChunkedScan& asked, const std::byte* in, std::byte* out)
    : device_(device),
      in_(in),
      out_(out),
      item_bytes_(asked.item_bytes()),
      ahead_(static_cast<std::size_t>(asked.host_buffers)),
      chunks_(asked.chunks_left()) {}

const void* ChunksInMemory::take(const Chunk& chunk) {
  return in_ + static_cast<std::size_t>(chunk.first) * item_bytes_;
}

void* ChunksInMemory::room(const Chunk& chunk) {
  if (index_of(chunk) >= ahead_) device_.wait_copied_out(chunks_[index_of(chunk) - ahead_]);
  return out_ + static_cast<std::size_t>(chunk.first) * item_bytes_;
}

TaskThreads::TaskThreads(int threads) {
  try {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this](const std::stop_token& stop) { run(stop); });
  } catch (const std::system_error&) {
    const std::size_t started = threads_.size();
    throw CommandError(kBadInput,
                       fmt::format("{} of {} threads could be started: give fewer --io-threads", started, threads));
  }
}

TaskThreads::~TaskThreads() {
  for (std::jthread& thread : threads_) thread.request_stop();
}

std::future<void> TaskThreads::start(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  std::future<void> end = tasks_.emplace_back(std::move(task)).get_future();
  changed_.notify_one();
  return end;
}

void TaskThreads::run(const std::stop_token& stop) {
  while (true) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [this] { return !tasks_.empty(); });
    if (stop.stop_requested()) return;
    std::packaged_task<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
  }
}

ChunksInFiles::ChunksInFiles(ScanDevice& device, const ChunkedScan& asked,
                             const std::function<HostArray(std::size_t)>& memory, int threads, ReadPiece read,
                             WritePiece write, ChunksWritten written)
    : device_(device),
      chunks_(asked.chunks_left()),
      ring_(std::clamp<std::size_t>(chunks_.size(), 1, static_cast<std::size_t>(asked.host_buffers))),
      item_bytes_(asked.item_bytes()),
      buffer_bytes_((static_cast<std::size_t>(asked.chunk_items()) * item_bytes_ + 4095) / 4096 * 4096),
      buffers_(memory(2 * ring_ * buffer_bytes_)),
      read_(std::move(read)),
      write_(std::move(write)),
      written_(std::move(written)),
      reading_(ring_),
      writing_(ring_),
      readers_(threads),
      writers_(threads),
      counting_(1) {}

ChunksInFiles::~ChunksInFiles() {
  try {
    settle(settled_);
  } catch (...) {  // the failure that ended the scan is on its way
  }
  for (const std::shared_future<void>& call : counted_) call.wait();
}

/// Calls work(place, offset, bytes) for each piece of a chunk: its place from the start of the first chunk left to be
/// done, and its offset from the start of this one.
template <class Work>
ChunksInFiles::Pieces ChunksInFiles::start(TaskThreads& threads, std::size_t chunk, Work work) const {
  const std::size_t bytes = static_cast<std::size_t>(chunks_[chunk].items) * item_bytes_;
  const std::int64_t place = chunks_[chunk].first * static_cast<std::int64_t>(item_bytes_);
  Pieces pieces;
  for (std::size_t offset = 0; offset < bytes; offset += kPieceBytes) {
    pieces.push_back(threads.start(
        [=] { work(place + static_cast<std::int64_t>(offset), offset, std::min(kPieceBytes, bytes - offset)); }));
  }
  return pieces;
}

void ChunksInFiles::start_reading(std::size_t chunk) {
  if (chunk >= chunks_.size()) return;
  reading_[chunk % ring_] =
      start(readers_, chunk, [this, chunk](std::int64_t place, std::size_t offset, std::size_t bytes) {
        if (chunk >= ring_) device_.wait_copied_in(chunks_[chunk - ring_]);  // which had the buffer before
        read_(place, input(chunk) + offset, bytes);
      });
}

const void* ChunksInFiles::take(const Chunk& chunk) {
  if (chunk.index == 0) {
    start_reading(0);
    for (std::size_t ahead = 1; ahead < ring_; ++ahead) start_reading(ahead);
  }
  for (const std::shared_future<void>& piece : reading_[index_of(chunk) % ring_]) piece.get();
  return input(index_of(chunk));
}

void ChunksInFiles::copying_in(const Chunk& chunk) { start_reading(index_of(chunk) + ring_); }

void* ChunksInFiles::room(const Chunk& chunk) {
  settle(index_of(chunk) + 1 - std::min(index_of(chunk) + 1, ring_));
  return output(index_of(chunk));
}

void ChunksInFiles::copying_out(const Chunk& chunk) {
  const std::size_t index = index_of(chunk);
  writing_[index % ring_] =
      start(writers_, index, [this, index](std::int64_t place, std::size_t offset, std::size_t bytes) {
        device_.wait_copied_out(chunks_[index]);
        write_(place, output(index) + offset, bytes);
      });
  copied_out_ = index + 1;
}

void ChunksInFiles::finish() {
  settle(copied_out_);
  for (const std::shared_future<void>& call : counted_) call.get();
}

/// Waits until the first so many chunks are written. Has these counted, and later ones that are written too; counting
/// lags by as many chunks as there are buffers at most.
void ChunksInFiles::settle(std::size_t chunks) {
  const auto is_done = [](const std::shared_future<void>& piece) {
    return piece.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  };
  for (; settled_ < copied_out_; ++settled_) {
    const Pieces& pieces = writing_[settled_ % ring_];
    if (settled_ >= chunks && !std::ranges::all_of(pieces, is_done)) break;
    for (const std::shared_future<void>& piece : pieces) piece.get();
    counted_.emplace_back(counting_.start(
        [this, chunk = settled_] { written_(static_cast<int>(chunk) + 1, device_.carry_after(chunks_[chunk])); }));
  }
  while (!counted_.empty() && (counted_.size() > ring_ || is_done(counted_.front()))) {
    const std::shared_future<void> call = counted_.front();
    counted_.pop_front();
    call.get();
  }
}

}  // namespace scanlab::out_of_core
