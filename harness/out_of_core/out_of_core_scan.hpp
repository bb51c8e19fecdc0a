// A scan of more items than the device is to hold: cut into chunks, which pass through a fixed number of device buffers
// as the schedule `double_buffered` says, with a carry passed from each to the next.
//
//     reader threads -> host buffers -> copy in | scan with carry | copy out -> host buffers -> writer threads
//
// The schedule is recorded once and replayed on a ScanDevice. HostChunks are where chunks come from and go to: memory,
// or threads that read and write.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "harness/core/variant.hpp"
#include "harness/host/host_array.hpp"
#include "harness/schedule/recording.hpp"

namespace scanlab::out_of_core {

using streams::Chunk;
using streams::Event;
using streams::Recording;
using streams::Stream;

/// A scan, its problem, and the chunks that it is cut into.
struct ChunkedScan {
  const Variant* scan = nullptr;
  Problem problem;                 ///< of all items
  int chunks = 1;                  ///< of the sizes that split() gives
  int buffers = 2;                 ///< >= 2: device buffers of a chunk, so many for inputs and so many for outputs
  int host_buffers = 2;            ///< >= 1: chunks between the threads that read, or write, and the device
  int first_chunk = 0;             ///< from which on: those before were done earlier
  std::vector<std::byte> carry{};  ///< an item: the scan of all before first_chunk; empty: the identity

  std::size_t item_bytes() const { return scanlab::item_bytes(problem.type, problem.op); }
  std::int64_t chunk_items() const { return streams::longest_chunk(problem.items, chunks); }
  /// streams::split() makes the first problem.items % chunks chunks longer by an item.
  std::int64_t items_before(int chunk) const {
    return chunk * (problem.items / chunks) + std::min<std::int64_t>(chunk, problem.items % chunks);
  }
  /// The chunks still to be done, numbered from 0, their items counted from the first of them.
  std::vector<Chunk> chunks_left() const;

  /// `carry`, or the identity.
  std::vector<std::byte> first_carry() const;
  /// The scan of a chunk of so many items.
  Problem chunk_problem(std::int64_t items) const;
  BoundScan bind(std::int64_t items) const { return scan->bind(chunk_problem(items)); }
  /// Device memory that it takes: buffers, workspaces, carries.
  std::size_t device_bytes() const;
};

/// The buffers with which device_bytes() <= `budget`: at most `most`, less than 2 if the
/// budget is too small.
int buffers_within(ChunkedScan asked, std::size_t budget, int most);

/// The schedule `double_buffered`, recorded for the chunks left.
Recording record(const ChunkedScan& asked);

/// The device that the recorded operations run on. Copies and scans are only enqueued; one thread enqueues, any may
/// wait. A device whose operations are done when they return needs no order and no wait.
///
/// Not a Replayer, though both replay recordings: that one knows every address before it starts, so that its timed
/// part is nothing but the calls. Here a chunk's place in host memory is known when a thread has filled or emptied it.
class ScanDevice {
 public:
  virtual ~ScanDevice() = default;

  /// From `from` on the host to the chunk's input buffer.
  virtual void copy_in(const Chunk& chunk, Stream stream, const void* from) = 0;
  /// With the carry of the chunk before, and leaving its own.
  virtual void scan(const Chunk& chunk, Stream stream) = 0;
  /// From the chunk's output buffer to `to` on the host.
  virtual void copy_out(const Chunk& chunk, Stream stream, void* to) = 0;
  virtual void record(Event, Stream) {}
  virtual void wait(Stream, Event) {}

  /// The calling thread waits for a copy that was enqueued, and until `host_buffers` chunks later is enqueued no
  /// longer.
  virtual void wait_copied_in(const Chunk&) {}
  virtual void wait_copied_out(const Chunk&) {}
  /// Waits for all that was enqueued.
  virtual void synchronize() {}

  /// The carry that the chunk left, once it is copied out: item_bytes() bytes.
  virtual std::span<const std::byte> carry_after(const Chunk& chunk) const = 0;
};

/// The host's memory and a scan that runs there: for machines without a device, and for tests.
std::unique_ptr<ScanDevice> host_scan_device(const ChunkedScan& asked, const Recording& recording);

/// None: nothing is copied or scanned. The rest is the host's work of fetching chunks and putting them away, which no
/// device can make faster. Every carry is the first one.
std::unique_ptr<ScanDevice> no_scan_device(const ChunkedScan& asked);

#ifdef SCANLAB_WITH_CUDA
/// The current CUDA device. Throws cuda::OutOfMemory or CudaError.
std::unique_ptr<ScanDevice> cuda_scan_device(const ChunkedScan& asked, const Recording& recording);
/// Seconds to copy `bytes` from `from` to the device and, at the same time, as many from the device to `to`, both
/// pinned, in chunks of `chunk_bytes` and in nothing but two streams: what no schedule can beat.
double duplex_copy_seconds(const std::byte* from, std::byte* to, std::size_t bytes, std::size_t chunk_bytes);
#endif

/// Where chunks come from and go to. Its calls throw what went wrong in threads of its own.
class HostChunks {
 public:
  virtual ~HostChunks() = default;
  /// Waits until the chunk is in host memory, and returns where.
  virtual const void* take(const Chunk& chunk) = 0;
  /// Its copy in is enqueued: from when that is done, the memory may be used for another chunk.
  virtual void copying_in(const Chunk& chunk) = 0;
  /// Waits until there is host memory for the chunk's output, and returns where.
  virtual void* room(const Chunk& chunk) = 0;
  /// Its copy out is enqueued: from when that is done, it may be written.
  virtual void copying_out(const Chunk& chunk) = 0;
  /// Waits until every chunk whose copy out is enqueued is where it is to be.
  virtual void finish() = 0;
};

/// Replays the recording: the schedule must enqueue all of a chunk before anything of the next. Before each chunk
/// `go_on` is asked; if it says no, the chunks before it are finished and the rest is not begun. Waits for the device
/// in any case, so that memory may be freed; throws what host and device throw.
void replay(const Recording& recording, ScanDevice& device, HostChunks& host,
            const std::function<bool(const Chunk&)>& go_on);

/// Fills `bytes` at `to` with what lies `place` bytes from the start of the first chunk. May throw.
using ReadPiece = std::function<void(std::int64_t place, std::byte* to, std::size_t bytes)>;
using WritePiece = std::function<void(std::int64_t place, const std::byte* from, std::size_t bytes)>;

/// The loop to compare with: for each chunk read, copy, scan, copy, write, one after another, in memory that is not
/// pinned. Each call of `read` and `write` is for one whole chunk; `go_on` is asked as by replay().
void scan_one_by_one(const Recording& recording, ScanDevice& device, std::size_t item_bytes, const ReadPiece& read,
                     const WritePiece& write, const std::function<bool(const Chunk&)>& go_on);

}  // namespace scanlab::out_of_core
