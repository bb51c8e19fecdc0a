// A schedule: the order in which copies, kernels and events are issued to streams, as calls of an Issuer.
#pragma once

#include <cstdint>
#include <string>

#include "harness/core/registry.hpp"
#include "harness/schedule/workload.hpp"

namespace scanlab::streams {

class Issuer;

enum class HostMemory {
  pinned,    ///< page-locked: a copy engine reads it while the host goes on
  pageable,  ///< the driver stages it through pinned memory of its own
  managed,   ///< cudaMallocManaged: of programs that were watched alone
};
const char* name(HostMemory memory);

/// One thing to be done by any schedule.
struct Job {
  const Workload* workload = nullptr;
  std::int64_t items = 0;  ///< >= 0; need not be divisible by anything
  int chunks = 8;          ///< >= 1; more than items: the last are empty
  int streams = 4;         ///< >= 1; more than chunks: some stay idle
  HostMemory memory = HostMemory::pinned;
  int buffers = 2;  ///< >= 2: device buffers an array, for a schedule that reuses them; others have one a chunk
  int blocks = 0;   ///< of a kernel; 0: as many as its items ask for, and the device holds
  int work = 1;     ///< >= 1, an item: what it counts, the workload says
};

/// The most chunks, and the most streams: more would be counted for minutes before anything else is found wrong.
inline constexpr int kMaxChunksOrStreams = 1'000'000;

/// Empty if the job can be done; else one sentence that says why not.
std::string refusal(const Job& job);

/// A schedule's description.
struct ScheduleDescription {
  std::string id;  ///< the file's name
  std::string title;
  std::string source;
  std::string expectation;                 ///< a sentence: what overlaps, and what does not
  HostMemory memory = HostMemory::pinned;  ///< unless the user asks for another
  bool captured = false;  ///< into a CUDA graph, beginning with created stream 0, and the graph is run instead
  bool control = false;   ///< a wrong answer, kept to be caught
};

struct Schedule {
  static constexpr const char* kNoun = "schedule";

  ScheduleDescription about;
  /// Issues the job. Whoever runs a schedule waits for the device at the end: the schedule need not.
  void (*issue)(Issuer& issuer, const Job& job) = nullptr;
};

using ScheduleRegistry = RegistryOf<Schedule>;

/// Static object that registers a schedule before main: the last line of a schedule's file.
struct ScheduleRegistration {
  explicit ScheduleRegistration(Schedule schedule) { ScheduleRegistry::instance().add(std::move(schedule)); }
};

/// A schedule and the job that it runs.
struct ScheduledJob {
  const Schedule* schedule = nullptr;
  Job job;
};
/// "depth_first, scale: 1000 items in 8 chunks, 4 streams, pinned memory, work 1".
std::string describe(const ScheduledJob& chosen);

}  // namespace scanlab::streams
