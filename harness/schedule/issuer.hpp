// Whom a schedule talks to, in the words of a lecture slide.
#pragma once

#include <optional>
#include <vector>

#include "harness/schedule/recording.hpp"

namespace scanlab::streams {

/// Composes operations, with the memory that the workload says they touch, and appends them to a recording. For an
/// empty chunk nothing is issued.
class Issuer {
 public:
  /// `recording` has its job, and outlives the issuer.
  explicit Issuer(Recording& recording) : recording_(recording) {}

  /// The job's chunks: each with a device buffer of its own, or with so many used in turn.
  std::vector<Chunk> chunks() const { return split(recording_.job.items, recording_.job.chunks); }
  std::vector<Chunk> chunks_in_turn(int buffers) const {
    return split(recording_.job.items, recording_.job.chunks, buffers);
  }

  std::vector<Stream> create_streams(int count, StreamKind kind = StreamKind::blocking);
  Stream create_stream(StreamKind kind = StreamKind::blocking) { return create_streams(1, kind).front(); }
  Event create_event() { return {recording_.events++}; }

  /// Every input of the chunk, host to device.
  void copy_in(const Chunk& chunk, Stream stream, bool synchronous = false);
  /// The workload's kernel. Kernels of an ordered workload are issued in the chunks' order, and where two
  /// neighbours are in different streams the second waits for an event that is recorded right behind the first.
  void compute(const Chunk& chunk, Stream stream);
  /// The chunk's output, device to host.
  void copy_out(const Chunk& chunk, Stream stream, bool synchronous = false);

  /// The same by cudaMemcpy: in the legacy default stream, and the host waits.
  void copy_in_now(const Chunk& chunk) { copy_in(chunk, kLegacyDefault, true); }
  void copy_out_now(const Chunk& chunk) { copy_out(chunk, kLegacyDefault, true); }

  /// A kernel on data of its stream's own, about as long as that of a chunk.
  void side_kernel(Stream stream) { append({.kind = OperationKind::side_kernel, .stream = stream}); }

  void record(Event event, Stream stream) {
    append({.kind = OperationKind::record_event, .stream = stream, .event = event});
  }
  void wait(Stream stream, Event event) {
    append({.kind = OperationKind::wait_event, .stream = stream, .event = event});
  }
  void host_work(double microseconds) { append({.kind = OperationKind::host_work, .microseconds = microseconds}); }
  void synchronize(Stream stream) { append({.kind = OperationKind::synchronize_stream, .stream = stream}); }
  void synchronize(Event event) { append({.kind = OperationKind::synchronize_event, .event = event}); }
  void synchronize_device() { append({.kind = OperationKind::synchronize_device}); }

 private:
  void append(Operation operation) { recording_.operations.push_back(std::move(operation)); }
  void wait_for_the_kernel_before(const Chunk& chunk, Stream stream);

  Recording& recording_;
  std::optional<std::size_t> last_kernel_;  ///< where in the recording
};

}  // namespace scanlab::streams
