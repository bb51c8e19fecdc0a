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

MemorySink::MemorySink(ScanDevice& device, std::byte* items, const ChunkedScan& asked)
    : device_(device),
      items_(items),
      item_bytes_(asked.item_bytes()),
      ahead_(static_cast<std::size_t>(asked.host_buffers)),
      chunks_(asked.chunks_left()) {}

void* MemorySink::room(const Chunk& chunk) {
  if (index_of(chunk) >= ahead_) device_.wait_copied_out(chunks_[index_of(chunk) - ahead_]);
  return items_ + static_cast<std::size_t>(chunk.first) * item_bytes_;
}

ChunkThreads::ChunkThreads(ScanDevice& device, const ChunkedScan& asked,
                           const std::function<HostArray(std::size_t)>& memory)
    : device_(device),
      chunks_(asked.chunks_left()),
      ring_(std::clamp<std::size_t>(chunks_.size(), 1, static_cast<std::size_t>(asked.host_buffers))),
      item_bytes_(asked.item_bytes()),
      buffer_bytes_((static_cast<std::size_t>(asked.chunk_items()) * item_bytes_ + 4095) / 4096 * 4096),
      buffers_(memory(ring_ * buffer_bytes_)),
      left_(ring_) {}

void ChunkThreads::start(int threads, const std::function<void(const Piece&)>& work) try {
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this, work] {
      try {
        while (const std::optional<Piece> piece = next_piece()) work(*piece);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
        changed_.notify_all();
      }
    });
  }
} catch (const std::system_error&) {
  const std::size_t started = threads_.size();
  stop();
  throw CommandError(kBadInput,
                     fmt::format("{} of {} threads could be started: give fewer --io-threads", started, threads));
}

void ChunkThreads::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

std::optional<Piece> ChunkThreads::next_piece() {
  const std::lock_guard lock(mutex_);
  while (chunk_ < chunks_.size() && offset_ == bytes(chunk_)) {
    ++chunk_;
    offset_ = 0;
  }
  if (stopping_ || failure_ || chunk_ == chunks_.size()) return std::nullopt;
  const Piece piece{
      .chunk = chunk_,
      .offset = offset_,
      .bytes = std::min(kPieceBytes, bytes(chunk_) - offset_),
      .place = chunks_[chunk_].first * static_cast<std::int64_t>(item_bytes_) + static_cast<std::int64_t>(offset_)};
  offset_ += piece.bytes;
  return piece;
}

ReadAhead::ReadAhead(ScanDevice& device, const ChunkedScan& asked, const std::function<HostArray(std::size_t)>& memory,
                     int threads, ReadPiece read)
    : ChunkThreads(device, asked, memory), threads_asked_(threads), read_(std::move(read)) {
  for (std::size_t i = 0; i < std::min(ring_, chunks_.size()); ++i) left(i) = bytes(i);
}

void ReadAhead::work(const Piece& piece) {
  {  // the chunk that had the buffer before is on its way to the device …
    std::unique_lock lock(mutex_);
    if (!await(lock, [&] { return piece.chunk < enqueued_ + ring_; })) return;
  }
  if (piece.chunk >= ring_) device_.wait_copied_in(chunks_[piece.chunk - ring_]);  // … and now there
  read_(piece.place, buffer(piece.chunk) + piece.offset, piece.bytes);
  const std::lock_guard lock(mutex_);
  left(piece.chunk) -= piece.bytes;
  if (left(piece.chunk) == 0) changed_.notify_all();
}

const void* ReadAhead::take(const Chunk& chunk) {
  if (chunk.index == 0) start(threads_asked_, [this](const Piece& piece) { work(piece); });
  std::unique_lock lock(mutex_);
  await(lock, [&] { return left(index_of(chunk)) == 0; });
  throw_failure();
  return buffer(index_of(chunk));
}

void ReadAhead::enqueued(const Chunk& chunk) {
  const std::lock_guard lock(mutex_);
  const std::size_t next = index_of(chunk) + ring_;
  left(next) = next < chunks_.size() ? bytes(next) : 0;
  ++enqueued_;
  changed_.notify_all();
}

WriteBehind::WriteBehind(ScanDevice& device, const ChunkedScan& asked,
                         const std::function<HostArray(std::size_t)>& memory, int threads, WritePiece write,
                         ChunksWritten written)
    : ChunkThreads(device, asked, memory),
      write_(std::move(write)),
      told_(std::move(written)),
      written_(chunks_.size()) {
  start(threads, [this](const Piece& piece) { work(piece); });
}

void* WriteBehind::room(const Chunk& chunk) {
  const std::size_t index = index_of(chunk);
  std::unique_lock lock(mutex_);
  await(lock, [&] { return index < ring_ || written_[index - ring_]; });
  throw_failure();
  return buffer(index);
}

void WriteBehind::enqueued(const Chunk& chunk) {
  const std::lock_guard lock(mutex_);
  left(index_of(chunk)) = bytes(index_of(chunk));
  ++enqueued_;
  changed_.notify_all();
}

void WriteBehind::work(const Piece& piece) {
  {
    std::unique_lock lock(mutex_);
    if (!await(lock, [&] { return piece.chunk < enqueued_; })) return;
  }
  device_.wait_copied_out(chunks_[piece.chunk]);
  write_(piece.place, buffer(piece.chunk) + piece.offset, piece.bytes);
  {
    const std::lock_guard lock(mutex_);
    left(piece.chunk) -= piece.bytes;
    if (left(piece.chunk) > 0) return;
    written_[piece.chunk] = true;
    const std::size_t before = prefix_;
    while (prefix_ < written_.size() && written_[prefix_]) ++prefix_;
    changed_.notify_all();
    if (prefix_ == before) return;
  }
  tell();
}

void WriteBehind::tell() {
  const std::lock_guard one_at_a_time(telling_);
  std::size_t prefix = 0;
  {
    const std::lock_guard lock(mutex_);
    prefix = prefix_;
  }
  if (prefix == told_chunks_) return;  // another thread told more
  told_(static_cast<int>(prefix), device_.carry_after(chunks_[prefix - 1]));
  const std::lock_guard lock(mutex_);
  told_chunks_ = prefix;
  changed_.notify_all();
}

void WriteBehind::finish() {
  std::unique_lock lock(mutex_);
  await(lock, [&] { return told_chunks_ >= enqueued_; });
  throw_failure();
}

}  // namespace scanlab::out_of_core
