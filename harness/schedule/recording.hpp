// A schedule, run once: the operations in the order of their issue. The replayer runs it, the checker and the
// simulator read it; so nothing is composed while it is timed.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/schedule/operation.hpp"
#include "harness/schedule/schedule.hpp"

namespace scanlab::streams {

struct Recording {
  Job job;
  bool captured = false;  ///< as ScheduleDescription says
  std::vector<Operation> operations;
  std::vector<Stream> streams;    ///< the created ones: streams[i].index is i
  int events = 0;                 ///< event i of the operations is the i-th of these
  int buffers = 0;                ///< device buffers an array: chunk.buffer is less
  std::int64_t buffer_items = 0;  ///< what a buffer must hold
};

/// Device memory for its buffers; what kernels need beside them is not counted.
std::int64_t device_bytes(const Recording& recording);

/// Throws std::invalid_argument with the job's refusal.
Recording record(const Schedule& schedule, const Job& job);

/// The streams that it makes of a job with `job.streams`: so many; or, whatever is asked for, as many as it needs. 1 if
/// it makes none and stays in a default stream.
int streams_made(const Schedule& schedule, Job job);

}  // namespace scanlab::streams
