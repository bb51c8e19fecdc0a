#include "harness/schedule/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "harness/schedule/chunks.hpp"

namespace scanlab::streams {

const char* name(HostMemory memory) {
  return memory == HostMemory::pinned ? "pinned" : memory == HostMemory::pageable ? "pageable" : "managed";
}

std::string refusal(const Job& job) {
  const auto too_few = [](const char* what, std::int64_t given, const char* reason) {
    return fmt::format("{} {} are not enough: {}", given, what, reason);
  };
  if (job.workload == nullptr) return "a job needs a workload";
  if (job.items < 0) return too_few("items", job.items, "take none or more");
  if (job.chunks < 1) return too_few("chunks", job.chunks, "the items are cut into 1 chunk or more");
  if (job.streams < 1) return too_few("streams", job.streams, "chunks are issued to 1 stream or more");
  if (job.buffers < 2) {
    return too_few("device buffers an array", job.buffers,
                   "2 are the least with which one chunk is copied while another is computed");
  }
  if (job.blocks < 0)
    return too_few("blocks a kernel", job.blocks, "take 1 or more, or 0 for as many as its items ask for");
  if (job.work < 1) return too_few("units of work an item", job.work, "take 1 or more");
  if (job.chunks > kMaxChunksOrStreams || job.streams > kMaxChunksOrStreams) {
    return fmt::format("{} chunks and {} streams are too many: take {} of each at most", job.chunks, job.streams,
                       kMaxChunksOrStreams);
  }
  return {};
}

int buffers_within(const Job& job, std::int64_t bytes) {
  const WorkloadDescription& workload = job.workload->about;
  const auto buffer = longest_chunk(job.items, job.chunks) * static_cast<std::int64_t>(workload.item_bytes());
  const std::int64_t one_of_each = std::max<std::int64_t>(1, buffer * (workload.inputs + 1));
  return static_cast<int>(std::clamp<std::int64_t>(bytes / one_of_each, 0, std::numeric_limits<int>::max()));
}

std::string describe(const ScheduledJob& chosen) {
  const Job& job = chosen.job;
  return fmt::format("{}, {}: {} items in {} chunks, {} streams, {} memory, work {}", chosen.schedule->about.id,
                     job.workload->about.id, job.items, job.chunks, job.streams, name(job.memory), job.work);
}

}  // namespace scanlab::streams
