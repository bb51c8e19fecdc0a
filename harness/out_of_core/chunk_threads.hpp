// The host's side of an out-of-core scan: chunks that lie in memory, and threads that read and write those that do not.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "harness/out_of_core/out_of_core_scan.hpp"

namespace scanlab::out_of_core {

/// Input and output lie in memory, where copies find them. No more than `host_buffers` chunks are enqueued at a time,
/// so that whoever enqueues them can tell how far they are.
class ChunksInMemory final : public HostChunks {
 public:
  ChunksInMemory(ScanDevice& device, const ChunkedScan& asked, const std::byte* in, std::byte* out);
  const void* take(const Chunk& chunk) override;
  void copying_in(const Chunk&) override {}
  void* room(const Chunk& chunk) override;
  void copying_out(const Chunk&) override {}
  void finish() override {}

 private:
  ScanDevice& device_;
  const std::byte* in_;
  std::byte* out_;
  std::size_t item_bytes_, ahead_;
  std::vector<Chunk> chunks_;
};

/// Threads that run tasks in the order in which they are started. Tasks that have not begun at the end are dropped.
class TaskThreads {
 public:
  /// Throws CommandError if the system starts no more threads.
  explicit TaskThreads(int threads);
  ~TaskThreads();
  TaskThreads(const TaskThreads&) = delete;
  TaskThreads& operator=(const TaskThreads&) = delete;
  std::future<void> start(std::function<void()> task);

 private:
  void run(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::packaged_task<void()>> tasks_;
  std::vector<std::jthread> threads_;  // the last member: they use the others
};

/// Called by a thread of its own when the first `chunks` chunks are written, with the carry that the last of them left.
/// May throw.
using ChunksWritten = std::function<void(int chunks, std::span<const std::byte> carry)>;

/// Threads read ahead of the device, from when the first chunk is taken, and write behind it; each several pieces of a
/// chunk at once. In each direction chunks use `host_buffers` buffers in turn.
class ChunksInFiles final : public HostChunks {
 public:
  /// `memory` gives the buffers; `threads` read, and as many write.
  ChunksInFiles(ScanDevice& device, const ChunkedScan& asked, const std::function<HostArray(std::size_t)>& memory,
                int threads, ReadPiece read, WritePiece write, ChunksWritten written);
  /// After a failure, chunks that are written by now are counted, too.
  ~ChunksInFiles() override;
  ChunksInFiles(const ChunksInFiles&) = delete;
  ChunksInFiles& operator=(const ChunksInFiles&) = delete;
  const void* take(const Chunk& chunk) override;
  void copying_in(const Chunk& chunk) override;
  void* room(const Chunk& chunk) override;
  void copying_out(const Chunk& chunk) override;
  void finish() override;

 private:
  using Pieces = std::vector<std::shared_future<void>>;
  void start_reading(std::size_t chunk);
  void settle(std::size_t chunks);
  template <class Work>
  Pieces start(TaskThreads& threads, std::size_t chunk, Work work) const;
  std::byte* input(std::size_t chunk) const { return buffers_.get() + chunk % ring_ * buffer_bytes_; }
  std::byte* output(std::size_t chunk) const { return input(chunk) + ring_ * buffer_bytes_; }

  ScanDevice& device_;
  std::vector<Chunk> chunks_;
  std::size_t ring_, item_bytes_, buffer_bytes_;
  HostArray buffers_;
  ReadPiece read_;
  WritePiece write_;
  ChunksWritten written_;
  std::vector<Pieces> reading_, writing_;         ///< by buffer
  std::size_t copied_out_ = 0;                    ///< chunks whose copy out is enqueued
  std::size_t settled_ = 0;                       ///< chunks that are written
  std::deque<std::shared_future<void>> counted_;  ///< calls of `written_` that had not ended
  TaskThreads readers_, writers_, counting_;      // the last members: they use the others
};

}  // namespace scanlab::out_of_core
