// The host's side of an out-of-core scan: chunks that lie in memory, and threads that read and write those that do not.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "harness/out_of_core/out_of_core_scan.hpp"

namespace scanlab::out_of_core {

/// All items lie in memory, where copies find them.
class MemorySource final : public ChunkSource {
 public:
  MemorySource(const std::byte* items, std::size_t item_bytes) : items_(items), item_bytes_(item_bytes) {}
  const void* take(const Chunk& chunk) override { return items_ + static_cast<std::size_t>(chunk.first) * item_bytes_; }
  void enqueued(const Chunk&) override {}

 private:
  const std::byte* items_;
  std::size_t item_bytes_;
};

/// All items go to memory. No more than `host_buffers` chunks are enqueued at a time, so that whoever enqueues them can
/// tell how far they are.
class MemorySink final : public ChunkSink {
 public:
  MemorySink(ScanDevice& device, std::byte* items, const ChunkedScan& asked);
  void* room(const Chunk& chunk) override;
  void enqueued(const Chunk&) override {}
  void finish() override {}

 private:
  ScanDevice& device_;
  std::byte* items_;
  std::size_t item_bytes_;
  std::size_t ahead_;
  std::vector<Chunk> chunks_;
};

/// A part of a chunk: what one thread reads or writes at a time.
struct Piece {
  std::size_t chunk = 0;   ///< its index
  std::size_t offset = 0;  ///< bytes from the chunk's start
  std::size_t bytes = 0;
  std::int64_t place = 0;  ///< bytes from the start of the first chunk left to be done
};

/// The common part of reader and writer: threads that take a chunk's pieces in their order, chunk after chunk, and
/// `host_buffers` buffers that the chunks use in turn.
class ChunkThreads {
 public:
  /// `memory` gives the buffers.
  ChunkThreads(ScanDevice& device, const ChunkedScan& asked, const std::function<HostArray(std::size_t)>& memory);

 protected:
  /// Starts so many threads, which do `work` to each piece. A derived class calls it once, when all else is ready, and
  /// stop() when it goes.
  void start(int threads, const std::function<void(const Piece&)>& work);
  void stop();

  /// Runs `ready` under the mutex until it says yes; throws what failed in a thread. False if all is to stop.
  template <class Ready>
  bool await(std::unique_lock<std::mutex>& lock, Ready ready) {
    changed_.wait(lock, [&] { return stopping_ || failure_ || ready(); });
    return !stopping_ && !failure_;
  }
  void throw_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

  std::byte* buffer(std::size_t chunk) const { return buffers_.get() + chunk % ring_ * buffer_bytes_; }
  std::size_t bytes(std::size_t chunk) const { return static_cast<std::size_t>(chunks_[chunk].items) * item_bytes_; }
  std::size_t& left(std::size_t chunk) { return left_[chunk % ring_]; }

  ScanDevice& device_;
  std::vector<Chunk> chunks_;
  std::size_t ring_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t enqueued_ = 0;  ///< chunks whose copy is enqueued
  std::exception_ptr failure_;
  bool stopping_ = false;

 private:
  std::optional<Piece> next_piece();

  std::size_t item_bytes_;
  std::size_t buffer_bytes_;
  HostArray buffers_;
  std::vector<std::size_t> left_;  ///< bytes of the chunk in each buffer that are still to be read, or written
  std::size_t chunk_ = 0;          ///< of the piece that comes next
  std::size_t offset_ = 0;
  std::vector<std::thread> threads_;
};

/// Told, one call at a time, that the first `chunks` chunks are written, and what the last of them left. May throw.
using ChunksWritten = std::function<void(int chunks, std::span<const std::byte> carry)>;

/// Threads that read ahead of the device, several pieces at once. They begin when the first chunk is asked for.
class ReadAhead final : public ChunkSource, ChunkThreads {
 public:
  ReadAhead(ScanDevice& device, const ChunkedScan& asked, const std::function<HostArray(std::size_t)>& memory,
            int threads, ReadPiece read);
  ~ReadAhead() override { stop(); }
  const void* take(const Chunk& chunk) override;
  void enqueued(const Chunk& chunk) override;

 private:
  void work(const Piece& piece);

  int threads_asked_;
  ReadPiece read_;
};

/// Threads that write behind it, several pieces at once.
class WriteBehind final : public ChunkSink, ChunkThreads {
 public:
  WriteBehind(ScanDevice& device, const ChunkedScan& asked, const std::function<HostArray(std::size_t)>& memory,
              int threads, WritePiece write, ChunksWritten written);
  ~WriteBehind() override { stop(); }
  void* room(const Chunk& chunk) override;
  void enqueued(const Chunk& chunk) override;
  void finish() override;

 private:
  void work(const Piece& piece);
  void tell();

  WritePiece write_;
  ChunksWritten told_;
  std::vector<bool> written_;
  std::size_t prefix_ = 0;  ///< chunks before which all are written
  std::mutex telling_;
  std::size_t told_chunks_ = 0;
};

}  // namespace scanlab::out_of_core
