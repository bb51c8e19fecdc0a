#include "harness/schedule/recording.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "harness/schedule/issuer.hpp"

namespace scanlab::streams {

std::int64_t device_bytes(const Recording& recording) {
  const WorkloadDescription& workload = recording.job.workload->about;
  return recording.buffers * recording.buffer_items * static_cast<std::int64_t>(workload.item_bytes()) *
         (workload.inputs + 1);
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
