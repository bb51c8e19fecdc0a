#include "harness/schedule/issuer.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace scanlab::streams {

std::vector<Stream> Issuer::create_streams(int count, StreamKind kind) {
  std::vector<Stream> created;
  for (int i = 0; i < count; ++i) {
    created.push_back({kind, static_cast<int>(recording_.streams.size())});
    recording_.streams.push_back(created.back());
  }
  return created;
}

void Issuer::copy_in(const Chunk& chunk, Stream stream) { copy_in(chunk, stream, false); }
void Issuer::copy_out(const Chunk& chunk, Stream stream) { copy_out(chunk, stream, false); }
void Issuer::copy_in_now(const Chunk& chunk) { copy_in(chunk, kLegacyDefault, true); }
void Issuer::copy_out_now(const Chunk& chunk) { copy_out(chunk, kLegacyDefault, true); }

void Issuer::copy_in(const Chunk& chunk, Stream stream, bool synchronous) {
  if (chunk.empty()) return;
  for (int input = 0; input < recording_.job.workload->about.inputs; ++input) {
    append({.kind = OperationKind::copy_in,
            .stream = stream,
            .chunk = chunk,
            .array = input,
            .synchronous = synchronous,
            .accesses = {{.place = Place::host_input, .array = input, .first = chunk.first, .items = chunk.items},
                         {.place = Place::device_input,
                          .array = input,
                          .buffer = chunk.buffer,
                          .items = chunk.items,
                          .writes = true}}});
  }
}

void Issuer::copy_out(const Chunk& chunk, Stream stream, bool synchronous) {
  if (chunk.empty()) return;
  append({.kind = OperationKind::copy_out,
          .stream = stream,
          .chunk = chunk,
          .synchronous = synchronous,
          .accesses = {{.place = Place::device_output, .buffer = chunk.buffer, .items = chunk.items},
                       {.place = Place::host_output, .first = chunk.first, .items = chunk.items, .writes = true}}});
}

void Issuer::compute(const Chunk& chunk, Stream stream) {
  if (chunk.empty()) return;
  const WorkloadDescription& workload = recording_.job.workload->about;
  Operation kernel{.kind = OperationKind::kernel, .stream = stream, .chunk = chunk};
  for (int input = 0; input < workload.inputs; ++input) {
    kernel.accesses.push_back(
        {.place = Place::device_input, .array = input, .buffer = chunk.buffer, .items = chunk.items});
  }
  kernel.accesses.push_back(
      {.place = Place::device_output, .buffer = chunk.buffer, .items = chunk.items, .writes = true});
  if (workload.ordered) {
    wait_for_the_kernel_before(chunk, stream);
    kernel.accesses.push_back({.place = Place::carry, .first = chunk.index, .items = 1});
    kernel.accesses.push_back({.place = Place::carry, .first = chunk.index + 1, .items = 1, .writes = true});
  }
  last_kernel_ = recording_.operations.size();
  append(std::move(kernel));
}

void Issuer::wait_for_the_kernel_before(const Chunk& chunk, Stream stream) {
  const int before = last_kernel_ ? recording_.operations[*last_kernel_].chunk.index : -1;
  if (chunk.index != before + 1) {
    throw std::logic_error(fmt::format("the kernel of chunk {} is issued behind that of chunk {}, but {} is ordered",
                                       chunk.index, before, recording_.job.workload->about.id));
  }
  if (!last_kernel_) return;
  const Stream other = recording_.operations[*last_kernel_].stream;
  if (other == stream) return;
  // Recorded right behind that kernel, not here: what its stream was given since, such as a copy out, is not waited
  // for.
  const Event done = create_event();
  recording_.operations.insert(recording_.operations.begin() + static_cast<std::ptrdiff_t>(*last_kernel_) + 1,
                               Operation{.kind = OperationKind::record_event, .stream = other, .event = done});
  wait(stream, done);
}

void Issuer::side_kernel(Stream stream) { append({.kind = OperationKind::side_kernel, .stream = stream}); }

void Issuer::record(Event event, Stream stream) {
  append({.kind = OperationKind::record_event, .stream = stream, .event = event});
}
void Issuer::wait(Stream stream, Event event) {
  append({.kind = OperationKind::wait_event, .stream = stream, .event = event});
}
void Issuer::host_work(double microseconds) {
  append({.kind = OperationKind::host_work, .microseconds = microseconds});
}
void Issuer::synchronize(Stream stream) { append({.kind = OperationKind::synchronize_stream, .stream = stream}); }
void Issuer::synchronize(Event event) { append({.kind = OperationKind::synchronize_event, .event = event}); }
void Issuer::synchronize_device() { append({.kind = OperationKind::synchronize_device}); }

}  // namespace scanlab::streams
