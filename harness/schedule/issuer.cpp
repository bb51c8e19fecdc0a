#include "harness/schedule/issuer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace scanlab::streams {

std::vector<Stream> Issuer::create_streams(int count, StreamKind kind) {
  std::vector<Stream> created;
  for (int i = 0; i < count; ++i) {
    created.push_back({kind, static_cast<int>(recording_.streams.size())});
    recording_.streams.push_back(created.back());
  }
  return created;
}

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

std::int64_t device_bytes(const Recording& recording) {
  return recording.job.workload->about.array_bytes(recording.buffers * recording.buffer_items);
}

Recording record(const Schedule& schedule, const Job& job) {
  if (const std::string reason = refusal(job); !reason.empty()) throw std::invalid_argument(reason);
  Recording recording{.job = job, .captured = schedule.about.captured};
  recording.buffer_items = longest_chunk(job.items, job.chunks);
  Issuer issuer(recording);
  schedule.issue(issuer, job);
  for (const Operation& operation : recording.operations) {
    if (!operation.chunk.empty()) recording.buffers = std::max(recording.buffers, operation.chunk.buffer + 1);
  }
  return recording;
}

int streams_made(const Schedule& schedule, Job job) {
  const int asked = std::exchange(job.streams, 1);
  job.items = job.chunks = 1;  // the number of streams does not depend on them, and so it costs little
  const auto of_one = record(schedule, job).streams.size();
  job.streams = 2;
  return record(schedule, job).streams.size() != of_one ? asked : std::max(1, static_cast<int>(of_one));
}

}  // namespace scanlab::streams
