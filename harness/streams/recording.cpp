#include "harness/streams/recording.hpp"

#include <algorithm>
#include <stdexcept>

#include "harness/streams/issuer.hpp"

namespace scanlab::streams {

Recording record(const Schedule& schedule, const Job& job) {
  if (const std::string why = refusal(job); !why.empty()) throw std::invalid_argument(why);
  Recording recording{.job = job, .captured = schedule.about.captured};
  recording.buffer_items = longest_chunk(job.items, job.chunks);
  Issuer issuer(recording);
  schedule.issue(issuer, job);
  for (const Operation& operation : recording.operations) {
    if (!operation.chunk.empty()) recording.buffers = std::max(recording.buffers, operation.chunk.buffer + 1);
  }
  return recording;
}

}  // namespace scanlab::streams
