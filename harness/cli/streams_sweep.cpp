#include "harness/cli/streams_sweep.hpp"

#include <fmt/format.h>

#include "harness/cli/command.hpp"

namespace scanlab::cli {

namespace po = boost::program_options;

const std::vector<StreamsSweep>& streams_sweeps() {
  static const std::vector<StreamsSweep> all{
      {.name = "full",
       .about = "chunks by streams, every schedule, from copies alone to kernels that outlast them: minutes",
       .rounds = 9,
       .cap = 1.25,
       .parts =
           {
               {"--schedule=depth_first,breadth_first", "--workload=scale", "--items=2^28", "--chunks=2^0:2^7:x2",
                "--streams=2^0:2^4:x2"},
               {"--schedule=all", "--workload=scale", "--items=2^28", "--chunks=16,64"},
               {"--schedule=serial_pinned,three_streams,double_buffered,graph", "--workload=scale", "--items=2^28",
                "--chunks=2^0:2^7:x2"},
               {"--schedule=serial_pinned,depth_first,breadth_first,three_streams,double_buffered", "--workload=scale",
                "--items=2^28", "--chunks=2^0:2^7:x2", "--work=512,1800,4096"},
               {"--schedule=depth_first,breadth_first", "--workload=scale", "--items=2^28", "--chunks=16",
                "--streams=2^0:2^4:x2", "--work=512,1800,4096"},
               // Copies in, kernels and copies out take about equal parts of the time: there overlap gains most.
               {"--schedule=all", "--workload=scale", "--items=2^28", "--chunks=2^0:2^6:x4", "--work=1800"},
               {"--schedule=serial_pinned,depth_first,double_buffered", "--workload=vector_add,square,feistel,scan",
                "--items=2^26", "--chunks=32"},
           }},
      {.name = "quick",
       .about = "every schedule and workload at a small size: seconds",
       .rounds = 3,
       .cap = 0.4,
       .parts =
           {
               {"--schedule=depth_first,breadth_first", "--workload=scale", "--items=2^26", "--chunks=1,4,16,64",
                "--streams=1,4"},
               {"--schedule=all", "--workload=scale", "--items=2^26", "--chunks=16"},
               {"--schedule=serial_pinned,depth_first,double_buffered", "--workload=scale", "--items=2^24",
                "--chunks=16", "--work=1,512,4096"},
               {"--schedule=depth_first", "--workload=vector_add,square,feistel,scan", "--items=2^24", "--chunks=16"},
           }},
      {.name = "advise",
       .about = "what advice is held against, the choices that it may come to: a minute or two",
       .rounds = 9,
       .cap = 1.7,
       .parts =
           {
               // serial_pinned, three_streams and double_buffered make the same streams whatever is asked for.
               {"--schedule=serial_pinned,three_streams,double_buffered,graph", "--workload=scale", "--items=2^26",
                "--chunks=2^0:2^7:x2,12,24,48", "--work=1,512"},
               {"--schedule=depth_first,breadth_first", "--workload=scale", "--items=2^26",
                "--chunks=2^0:2^7:x2,12,24,48", "--streams=2,4,8", "--work=1,512"},
               {"--schedule=serial_pinned,three_streams,double_buffered", "--workload=scale", "--items=2^14,2^18,2^22",
                "--chunks=2^0:2^4:x2,3,6,12"},
               {"--schedule=graph,depth_first,breadth_first", "--workload=scale", "--items=2^14,2^18,2^22",
                "--chunks=2^0:2^4:x2,3,6,12", "--streams=1,2,4"},
               {"--schedule=serial_pinned,three_streams,double_buffered", "--workload=vector_add", "--items=2^24",
                "--chunks=2^0:2^6:x2,12,24,48"},
               {"--schedule=graph,depth_first,breadth_first", "--workload=vector_add", "--items=2^24",
                "--chunks=2^0:2^6:x2,12,24,48", "--streams=2,4"},
               {"--schedule=serial_pinned,three_streams,double_buffered", "--workload=feistel", "--items=2^24",
                "--chunks=2^0:2^6:x2,12,24,48", "--work=64"},
               {"--schedule=graph,depth_first,breadth_first", "--workload=feistel", "--items=2^24",
                "--chunks=2^0:2^6:x2,12,24,48", "--streams=2,4", "--work=64"},
           }},
      {.name = "model",
       .about = "what the engine model is held against, none of more than 256 operations: a minute",
       .rounds = 5,
       .cap = 1.7,
       .parts =
           {
               {"--schedule=depth_first,breadth_first", "--workload=scale", "--items=2^26", "--chunks=4,16,64",
                "--streams=2,4,8"},
               {"--schedule=serial_pinned,three_streams,double_buffered,event_handoff,skewed,graph,per_thread_default,"
                "null_stream_trap",
                "--workload=scale", "--items=2^26", "--chunks=7,24"},
               {"--schedule=serial_pinned,depth_first,breadth_first,double_buffered", "--workload=scale",
                "--items=2^26", "--chunks=10", "--work=64,512,4096"},
               {"--schedule=depth_first,three_streams", "--workload=vector_add,square,feistel,scan", "--items=2^25",
                "--chunks=16"},
               {"--schedule=depth_first,three_streams", "--workload=square,feistel", "--items=2^25", "--chunks=6",
                "--work=64,512"},
               {"--schedule=serial_pinned,depth_first,breadth_first,three_streams,graph", "--workload=scale",
                "--items=2^22", "--chunks=4,16"},
           }},
  };
  return all;
}

std::vector<streams::ScheduledJob> jobs(const StreamsSweep& sweep, const po::variables_map& values) {
  std::vector<streams::ScheduledJob> all;
  for (const std::vector<std::string>& words : sweep.parts) {
    po::options_description options;
    add_job_options(options, "", "");
    po::variables_map values;
    po::store(po::command_line_parser(words).options(options).run(), values);
    po::notify(values);
    const std::vector<streams::ScheduledJob> part = read_job_selection(values, "", "").jobs();
    all.insert(all.end(), part.begin(), part.end());
  }
  for (const char* option : {"items", "chunks", "streams", "memory", "buffers", "budget", "blocks", "work"}) {
    if (values.count(option) == 0) continue;
    throw CommandError(kBadInput,
                       fmt::format("a sweep sets --{} itself; only schedules and --workload narrow it", option));
  }
  const JobSelection wanted = read_job_selection(values, "all", "1");
  const auto among = [](const auto& those, const auto* one) { return std::ranges::find(those, one) != those.end(); };
  std::erase_if(all, [&](const streams::ScheduledJob& each) {
    return (values.count("schedule") != 0 && !among(wanted.schedules, each.schedule)) ||
           !among(wanted.workloads, each.job.workload);
  });
  return all;
}

std::string sweep_help() {
  std::string text = "a named list of cases instead of a selection, which SCHEDULE and --workload may narrow:";
  for (const StreamsSweep& sweep : streams_sweeps()) text += fmt::format(" {} ({});", sweep.name, sweep.about);
  text.pop_back();
  return text;
}

}  // namespace scanlab::cli
