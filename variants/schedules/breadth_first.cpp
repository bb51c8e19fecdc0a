// breadth_first: all copies in, then all kernels, then all copies out; round-robin over the streams.
//
//     stream 0   | in 0 |      | kernel 0 |          | out 0 |
//     stream 1          | in 1 |          | kernel 1 |       | out 1 |
//
// Idea      The same operations in the same streams as depth_first, issued kind by kind.
// Waits     Nothing, beyond the order within a stream.
// Overlaps  Where all copies go through one engine, a kernel overlaps the copies in of later chunks: the copy out of
//           chunk 0 no longer stands before the copy in of chunk 1. With two copy engines and one queue of kernels
//           copies out may start late, and depth_first wins. With many queues the order of issue hardly matters.
// Source    Markidis, "Optimizing Host-Device Data Communication III", the second approach; Harris, "How to Overlap
//           Data Transfers in CUDA C/C++", 2012.
#include "harness/schedule/issuer.hpp"

namespace scanlab::streams {
namespace {

void issue(Issuer& issuer, const Job& job) {
  const std::vector<Stream> streams = issuer.create_streams(job.streams);
  const std::vector<Chunk> chunks = issuer.chunks();
  for (const Chunk& chunk : chunks) issuer.copy_in(chunk, streams[chunk.index % streams.size()]);
  for (const Chunk& chunk : chunks) issuer.compute(chunk, streams[chunk.index % streams.size()]);
  for (const Chunk& chunk : chunks) issuer.copy_out(chunk, streams[chunk.index % streams.size()]);
}

const ScheduleRegistration kBreadthFirst{{
    .about = {.id = "breadth_first",
              .title = "All H2D copies, then all kernels, then all D2H copies, round-robin over the streams",
              .source = "Markidis, Optimizing Host-Device Data Communication III, second approach; Harris 2012",
              .expectation = "One copy engine overlaps kernels with H2D copies. With as many streams as chunks, newer "
                             "devices overlap all three."},
    .issue = issue,
}};

}  // namespace
}  // namespace scanlab::streams
