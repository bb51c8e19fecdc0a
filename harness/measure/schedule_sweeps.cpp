#include "harness/measure/schedule_sweeps.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/host/status.hpp"
#include "harness/selection/job_selection.hpp"

namespace scanlab::measure {

const std::vector<ScheduleSweep>& schedule_sweeps() {
  static const std::vector<ScheduleSweep> all{
      {.name = "full",
       .about = "every schedule over chunks and streams, from copies alone to long kernels, in minutes",
       .rounds = 9,
       .cap = 1.25,
       .parts =
           {
               {"depth_first,breadth_first", "scale", "2^28", "2^0:2^7:x2", "2^0:2^4:x2"},
               {"all", "scale", "2^28", "16,64"},
               {"serial_pinned,three_streams,double_buffered,graph", "scale", "2^28", "2^0:2^7:x2"},
               {"serial_pinned,depth_first,breadth_first,three_streams,double_buffered", "scale", "2^28", "2^0:2^7:x2",
                "", "512,1800,4096"},
               {"depth_first,breadth_first", "scale", "2^28", "16", "2^0:2^4:x2", "512,1800,4096"},
               // Copies in, kernels and copies out take about equal parts of the time: there overlap gains most.
               {"all", "scale", "2^28", "2^0:2^6:x4", "", "1800"},
               {"serial_pinned,depth_first,double_buffered", "vector_add,square,feistel,scan", "2^26", "32"},
           }},
      {.name = "quick",
       .about = "every schedule and workload at a small size, in seconds",
       .rounds = 3,
       .cap = 0.4,
       .parts =
           {
               {"depth_first,breadth_first", "scale", "2^26", "1,4,16,64", "1,4"},
               {"all", "scale", "2^26", "16"},
               {"serial_pinned,depth_first,double_buffered", "scale", "2^24", "16", "", "1,512,4096"},
               {"depth_first", "vector_add,square,feistel,scan", "2^24", "16"},
           }},
      {.name = "advise",
       .about = "the choices of `scanlab advise`, to compare advice with, in about two minutes",
       .rounds = 9,
       .cap = 1.7,
       .parts =
           {
               // serial_pinned, three_streams and double_buffered make the same streams whatever is asked for.
               {"serial_pinned,three_streams,double_buffered,graph", "scale", "2^26", "2^0:2^7:x2,12,24,48", "",
                "1,512"},
               {"depth_first,breadth_first", "scale", "2^26", "2^0:2^7:x2,12,24,48", "2,4,8", "1,512"},
               {"serial_pinned,three_streams,double_buffered", "scale", "2^14,2^18,2^22", "2^0:2^4:x2,3,6,12"},
               {"graph,depth_first,breadth_first", "scale", "2^14,2^18,2^22", "2^0:2^4:x2,3,6,12", "1,2,4"},
               {"serial_pinned,three_streams,double_buffered", "vector_add", "2^24", "2^0:2^6:x2,12,24,48"},
               {"graph,depth_first,breadth_first", "vector_add", "2^24", "2^0:2^6:x2,12,24,48", "2,4"},
               {"serial_pinned,three_streams,double_buffered", "feistel", "2^24", "2^0:2^6:x2,12,24,48", "", "64"},
               {"graph,depth_first,breadth_first", "feistel", "2^24", "2^0:2^6:x2,12,24,48", "2,4", "64"},
           }},
      {.name = "model",
       .about = "schedules to compare the engine model with, at most 256 operations each, in a minute",
       .rounds = 5,
       .cap = 1.7,
       .parts =
           {
               {"depth_first,breadth_first", "scale", "2^26", "4,16,64", "2,4,8"},
               {"serial_pinned,three_streams,double_buffered,event_handoff,skewed,graph,per_thread_default,"
                "null_stream_trap",
                "scale", "2^26", "7,24"},
               {"serial_pinned,depth_first,breadth_first,double_buffered", "scale", "2^26", "10", "", "64,512,4096"},
               {"depth_first,three_streams", "vector_add,square,feistel,scan", "2^25", "16"},
               {"depth_first,three_streams", "square,feistel", "2^25", "6", "", "64,512"},
               {"serial_pinned,depth_first,breadth_first,three_streams,graph", "scale", "2^22", "4,16"},
           }},
  };
  return all;
}

std::vector<streams::ScheduledJob> jobs(const ScheduleSweep& sweep, const OptionWords& said) {
  for (const char* option : {"items", "chunks", "streams", "memory", "buffers", "budget", "blocks", "work"}) {
    if (!said.contains(option)) continue;
    throw CommandError(kBadInput,
                       fmt::format("a sweep sets --{} itself; only schedules and --workload narrow it", option));
  }
  std::vector<streams::ScheduledJob> all;
  for (const ScheduleSweepPart& part : sweep.parts) {
    OptionWords words{{"schedule", {part.schedules}},
                      {"workload", {part.workloads}},
                      {"items", {part.items}},
                      {"chunks", {part.chunks}}};
    if (!part.streams.empty()) words["streams"] = {part.streams};
    if (!part.work.empty()) words["work"] = {part.work};
    const std::vector<streams::ScheduledJob> jobs = select_jobs(words, "", "").jobs();
    all.insert(all.end(), jobs.begin(), jobs.end());
  }
  const JobSelection wanted = select_jobs(said, "all", "1");
  const auto among = [](const auto& those, const auto* one) { return std::ranges::find(those, one) != those.end(); };
  std::erase_if(all, [&](const streams::ScheduledJob& each) {
    return (said.contains("schedule") && !among(wanted.schedules, each.schedule)) ||
           !among(wanted.workloads, each.job.workload);
  });
  return all;
}

}  // namespace scanlab::measure
