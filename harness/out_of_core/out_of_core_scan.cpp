#include "harness/out_of_core/out_of_core_scan.hpp"

#include <algorithm>
#include <stdexcept>

#include "harness/core/operators.hpp"

namespace scanlab::out_of_core {

// The chunks left are cut as they were: the longer ones come first, and those that are left over have the same sizes.
std::vector<Chunk> ChunkedScan::chunks_left() const {
  if (first_chunk >= chunks) return {};
  return streams::split(problem.items - items_before(first_chunk), chunks - first_chunk);
}

std::vector<std::byte> ChunkedScan::first_carry() const {
  if (!carry.empty()) return carry;
  return with_monoid(problem.type, problem.op, []<class Op>(Op) {
    const typename Op::Item identity = Op::identity();
    const std::span bytes = std::as_bytes(std::span(&identity, 1));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  });
}

Problem ChunkedScan::chunk_problem(std::int64_t items) const {
  Problem chunk = problem;
  chunk.items = items;
  return chunk;
}

std::size_t ChunkedScan::device_bytes() const {
  if (problem.items == 0) return 0;
  std::size_t bytes =
      2 * static_cast<std::size_t>(buffers) * static_cast<std::size_t>(chunk_items()) * item_bytes() + 2 * item_bytes();
  bytes += bind(chunk_items()).plan.workspace_bytes;
  if (problem.items % chunks != 0 && chunk_items() > 1) bytes += bind(chunk_items() - 1).plan.workspace_bytes;
  return bytes;
}

int buffers_within(ChunkedScan asked, std::size_t budget, int most) {
  asked.buffers = 0;
  const std::size_t rest = asked.device_bytes();
  if (rest > budget) return 0;
  const std::size_t pair =
      std::max<std::size_t>(1, 2 * static_cast<std::size_t>(asked.chunk_items()) * asked.item_bytes());
  return static_cast<int>(std::min<std::size_t>((budget - rest) / pair, static_cast<std::size_t>(most)));
}

Recording record(const ChunkedScan& asked) {
  // One input, and kernels in the order of the chunks. The kernel is the device's scan().
  static const streams::Workload kScanWithCarry{
      {.id = "out_of_core_scan", .title = "A scan with a carry", .ordered = true}};
  const int left = asked.chunks - asked.first_chunk;
  return record(*streams::ScheduleRegistry::instance().find("double_buffered"),
                {.workload = &kScanWithCarry,
                 .items = asked.problem.items - asked.items_before(asked.first_chunk),
                 .chunks = std::max(left, 1),
                 .buffers = asked.buffers});
}

namespace {

void run(const streams::Operation& operation, ScanDevice& device, HostChunks& host) {
  const Chunk& chunk = operation.chunk;
  switch (operation.kind) {
    case streams::OperationKind::copy_in:
      device.copy_in(chunk, operation.stream, host.take(chunk));
      return host.copying_in(chunk);
    case streams::OperationKind::kernel:
      return device.scan(chunk, operation.stream);
    case streams::OperationKind::copy_out:
      device.copy_out(chunk, operation.stream, host.room(chunk));
      return host.copying_out(chunk);
    case streams::OperationKind::record_event:
      return device.record(operation.event, operation.stream);
    case streams::OperationKind::wait_event:
      return device.wait(operation.stream, operation.event);
    default:
      throw std::logic_error("an out-of-core scan does not know this operation: " + describe(operation));
  }
}

}  // namespace

void replay(const Recording& recording, ScanDevice& device, HostChunks& host,
            const std::function<bool(const Chunk&)>& go_on) {
  try {
    // Event waits of a chunk precede its copy in: they harm nothing where that is not begun.
    for (const streams::Operation& operation : recording.operations) {
      if (operation.kind == streams::OperationKind::copy_in && !go_on(operation.chunk)) break;
      run(operation, device, host);
    }
    device.synchronize();
    host.finish();
  } catch (...) {
    try {
      device.synchronize();
    } catch (...) {  // the first failure is reported
    }
    throw;
  }
}

void scan_one_by_one(const Recording& recording, ScanDevice& device, std::size_t item_bytes, const ReadPiece& read,
                     const WritePiece& write, const std::function<bool(const Chunk&)>& go_on) {
  const HostArray memory = pageable_memory(static_cast<std::size_t>(recording.buffer_items) * item_bytes);
  for (const Chunk& chunk : streams::split(recording.job.items, recording.job.chunks, recording.job.buffers)) {
    if (chunk.empty()) continue;
    if (!go_on(chunk)) return;
    const Stream stream = recording.streams.front();
    const auto bytes = static_cast<std::size_t>(chunk.items) * item_bytes;
    const std::int64_t place = chunk.first * static_cast<std::int64_t>(item_bytes);
    read(place, memory.get(), bytes);
    device.copy_in(chunk, stream, memory.get());
    device.scan(chunk, stream);
    device.copy_out(chunk, stream, memory.get());
    device.synchronize();
    write(place, memory.get(), bytes);
  }
}

}  // namespace scanlab::out_of_core
