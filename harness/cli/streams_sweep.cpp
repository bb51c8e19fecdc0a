#include "harness/cli/streams_sweep.hpp"

namespace scanlab::cli {

namespace po = boost::program_options;

const std::vector<StreamsSweep>& streams_sweeps() {
  static const std::vector<StreamsSweep> all{
      {.name = "full",
       .about = "chunks by streams, every schedule, from copies alone to kernels that outlast them: minutes",
       .rounds = 9,
       .cap = 1.7,
       .parts =
           {
               {"--schedule=depth_first,breadth_first", "--workload=scale", "--items=2^28", "--chunks=2^0:2^7:x2",
                "--streams=2^0:2^4:x2"},
               {"--schedule=all", "--workload=scale", "--items=2^28", "--chunks=16,64"},
               {"--schedule=serial_pinned,depth_first,breadth_first,double_buffered", "--workload=scale",
                "--items=2^28", "--chunks=16", "--work=1,64,512,4096"},
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
  };
  return all;
}

std::vector<ScheduledJob> jobs(const StreamsSweep& sweep) {
  std::vector<ScheduledJob> all;
  for (const std::vector<std::string>& words : sweep.parts) {
    po::options_description options;
    add_job_options(options, "", "");
    po::variables_map values;
    po::store(po::command_line_parser(words).options(options).run(), values);
    po::notify(values);
    const std::vector<ScheduledJob> part = read_job_selection(values, "", "").jobs();
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace scanlab::cli
