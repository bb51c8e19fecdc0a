// The operations that a schedule is made of: operations in streams, and which memory each touches. Nothing here knows
// CUDA; the words are CUDA's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/schedule/chunks.hpp"

namespace scanlab::streams {

/// How a stream stands to the legacy default stream.
enum class StreamKind {
  blocking,            ///< created by cudaStreamCreate: the legacy default stream waits for it and holds it back
  non_blocking,        ///< created with cudaStreamNonBlocking: the legacy default stream does neither
  legacy_default,      ///< cudaStreamLegacy, the null stream
  per_thread_default,  ///< cudaStreamPerThread: a blocking stream that exists without being created
};

/// A handle, as cudaStream_t is. Operations in one stream run in the order of their issue.
struct Stream {
  StreamKind kind = StreamKind::legacy_default;
  int index = 0;  ///< among the created streams of a recording; 0 for the default streams

  bool created() const { return kind == StreamKind::blocking || kind == StreamKind::non_blocking; }
  friend bool operator==(const Stream&, const Stream&) = default;
};
inline constexpr Stream kLegacyDefault{StreamKind::legacy_default, 0};
inline constexpr Stream kPerThreadDefault{StreamKind::per_thread_default, 0};

/// A handle, as cudaEvent_t is. It may be recorded more than once: a wait is for the latest record issued before it.
struct Event {
  int index = 0;  ///< among the events of a recording
  friend bool operator==(const Event&, const Event&) = default;
};

const char* name(StreamKind kind);

enum class OperationKind {
  copy_in,             ///< host to device: one input of one chunk
  copy_out,            ///< device to host: the output of one chunk
  kernel,              ///< the workload's kernel, on one chunk
  side_kernel,         ///< a kernel on data that nothing in another stream touches
  record_event,        ///< cudaEventRecord
  wait_event,          ///< cudaStreamWaitEvent: holds the stream back, not the host
  host_work,           ///< the host computes for a while
  synchronize_stream,  ///< the host waits for all that was issued in a stream
  synchronize_event,   ///< the host waits for an event
  synchronize_device,  ///< the host waits for everything
};
const char* name(OperationKind kind);

/// A kind of memory that operations touch. Two accesses can only conflict in the same place, array and buffer.
enum class Place {
  host_input,     ///< item i of input `array`
  host_output,    ///< item i of the output
  device_input,   ///< item i of `buffer` of input `array`
  device_output,  ///< item i of `buffer` of the output
  carry,          ///< of an ordered workload: cell i is what the kernel of chunk i is given, cell i + 1 what it leaves
};
const char* name(Place place);

/// Items [first, first + items) of one array, read or written.
struct Access {
  Place place = Place::host_input;
  int array = 0;   ///< which input; 0 elsewhere
  int buffer = 0;  ///< which device buffer; 0 elsewhere
  std::int64_t first = 0;
  std::int64_t items = 0;
  bool writes = false;
};

struct Operation {
  OperationKind kind = OperationKind::host_work;
  Stream stream{};           ///< of all but host_work, synchronize_event and synchronize_device
  Event event{};             ///< of record_event, wait_event, synchronize_event
  Chunk chunk{};             ///< of copies and the workload's kernel; never empty
  int array = 0;             ///< of copy_in: which input
  bool synchronous = false;  ///< of copies: cudaMemcpy rather than cudaMemcpyAsync; `stream` is then kLegacyDefault
  double microseconds = 0;   ///< of host_work
  std::string label{};       ///< what people call it, if they gave it a name
  std::vector<Access> accesses{};  ///< of copies and the workload's kernel
};

bool is_copy(const Operation& operation);
/// Whether the device works at it: copies and kernels.
bool is_work(const Operation& operation);
/// Whether it only orders streams: the record of an event, or a stream's wait for one.
bool is_mark(const Operation& operation);

/// "copy in of input 1, chunk 3, stream 0": how messages call an operation.
std::string describe(const Operation& operation);
/// "stream 2", "the legacy default stream", "the per-thread default stream".
std::string describe(const Stream& stream);
/// "device input 1, buffer 3", "host output".
std::string describe(const Access& access);

}  // namespace scanlab::streams
