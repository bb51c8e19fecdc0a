#include "harness/schedule/operation.hpp"

#include <fmt/format.h>

#include <array>

namespace scanlab::streams {

namespace {

template <class Enum, std::size_t count>
const char* name_in(const std::array<const char*, count>& names, Enum value) {
  return names.at(static_cast<std::size_t>(value));
}

}  // namespace

const char* name(StreamKind kind) {
  return name_in(std::array{"blocking", "non_blocking", "legacy_default", "per_thread_default"}, kind);
}

const char* name(OperationKind kind) {
  return name_in(std::array{"copy_in", "copy_out", "kernel", "side_kernel", "record_event", "wait_event", "host_work",
                            "synchronize_stream", "synchronize_event", "synchronize_device"},
                 kind);
}

const char* name(Place place) {
  return name_in(std::array{"host_input", "host_output", "device_input", "device_output", "carry"}, place);
}

bool is_copy(const Operation& operation) {
  return operation.kind == OperationKind::copy_in || operation.kind == OperationKind::copy_out;
}

bool is_work(const Operation& operation) {
  return is_copy(operation) || operation.kind == OperationKind::kernel || operation.kind == OperationKind::side_kernel;
}

bool is_mark(const Operation& operation) {
  return operation.kind == OperationKind::record_event || operation.kind == OperationKind::wait_event;
}

std::string describe(const Stream& stream) {
  if (stream.created()) return fmt::format("stream {}", stream.index);
  return stream == kLegacyDefault ? "the legacy default stream" : "the per-thread default stream";
}

std::string describe(const Operation& operation) {
  const std::string stream = describe(operation.stream);
  const char* const now = operation.synchronous ? "synchronous " : "";
  switch (operation.kind) {
    case OperationKind::copy_in:
      return fmt::format("the {}copy in of chunk {}, input {}, in {}", now, operation.chunk.index, operation.array,
                         stream);
    case OperationKind::copy_out:
      return fmt::format("the {}copy out of chunk {} in {}", now, operation.chunk.index, stream);
    case OperationKind::kernel:
      return fmt::format("the kernel of chunk {} in {}", operation.chunk.index, stream);
    case OperationKind::side_kernel:
      return fmt::format("a side kernel in {}", stream);
    case OperationKind::record_event:
      return fmt::format("the record of event {} in {}", operation.event.index, stream);
    case OperationKind::wait_event:
      return fmt::format("the wait of {} for event {}", stream, operation.event.index);
    case OperationKind::host_work:
      return operation.label.empty() ? "the host's work" : operation.label;
    case OperationKind::synchronize_stream:
      return fmt::format("the host's wait for {}", stream);
    case OperationKind::synchronize_event:
      return fmt::format("the host's wait for event {}", operation.event.index);
    case OperationKind::synchronize_device:
      break;
  }
  return "the host's wait for the device";
}

std::string describe(const Access& access) {
  switch (access.place) {
    case Place::host_input:
      return fmt::format("host input {}", access.array);
    case Place::host_output:
      return "the host output";
    case Place::device_input:
      return fmt::format("buffer {} of device input {}", access.buffer, access.array);
    case Place::device_output:
      return fmt::format("buffer {} of the device output", access.buffer);
    case Place::carry:
      break;
  }
  return "the carry between chunks";
}

}  // namespace scanlab::streams
