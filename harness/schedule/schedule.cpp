#include "harness/schedule/schedule.hpp"

#include <fmt/format.h>

#include <tuple>

namespace scanlab::streams {

const char* name(HostMemory memory) {
  return memory == HostMemory::pinned ? "pinned" : memory == HostMemory::pageable ? "pageable" : "managed";
}

std::string refusal(const Job& job) {
  if (job.workload == nullptr) return "a job needs a workload";
  const std::tuple<const char*, std::int64_t, int> least[] = {
      {"items", job.items, 0},
      {"chunks", job.chunks, 1},
      {"streams", job.streams, 1},
      {"device buffers an array", job.buffers, 2},  // one chunk is copied while another is computed
      {"blocks a kernel", job.blocks, 0},
      {"units of work an item", job.work, 1}};
  for (const auto& [what, given, fewest] : least) {
    if (given < fewest) return fmt::format("{} {} are not enough: take {} or more", given, what, fewest);
  }
  if (job.chunks > kMaxChunksOrStreams || job.streams > kMaxChunksOrStreams) {
    return fmt::format("{} chunks and {} streams are too many: take {} of each at most", job.chunks, job.streams,
                       kMaxChunksOrStreams);
  }
  return {};
}

std::string describe(const ScheduledJob& chosen) {
  const Job& job = chosen.job;
  return fmt::format("{}, {}: {} items in {} chunks, {} streams, {} memory, work {}", chosen.schedule->about.id,
                     job.workload->about.id, job.items, job.chunks, job.streams, name(job.memory), job.work);
}

}  // namespace scanlab::streams
