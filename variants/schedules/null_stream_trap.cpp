// null_stream_trap: depth_first, and after each chunk a side kernel in the legacy default stream.
//
//     stream 0         | in 0 | kernel 0 | out 0 |
//     default stream                             | side |
//     stream 1                                          | in 1 | kernel 1 | out 1 | …
//
// Idea      A kernel without a stream, in a library say, with data of its own. The legacy default stream waits for all
//           that was issued to blocking streams, and holds back all that is issued to them later.
// Waits     The side kernel for all before it; all after it for the side kernel.
// Overlaps  Nothing across a side kernel: the chunks run one by one.
// Source    Tutorial 08 of the CUDA Programming Series, "Streams & Async Execution", section 6; "Using streams in
//           CUDA", lecture, October 16, 2013, on commands to stream 0.
#include "harness/schedule/issuer.hpp"

namespace scanlab::streams {
namespace {

void issue(Issuer& issuer, const Job& job) {
  const std::vector<Stream> streams = issuer.create_streams(job.streams);
  for (const Chunk& chunk : issuer.chunks()) {
    const Stream stream = streams[chunk.index % streams.size()];
    issuer.copy_in(chunk, stream);
    issuer.compute(chunk, stream);
    issuer.copy_out(chunk, stream);
    issuer.side_kernel(kLegacyDefault);
  }
}

const ScheduleRegistration kNullStreamTrap{{
    .about = {.id = "null_stream_trap",
              .title = "depth_first with a side kernel in the legacy default stream",
              .source = "Tutorial 08, Streams & Async Execution, section 6; Using streams in CUDA, 2013",
              .expectation = "Chunks run one by one: each side kernel waits for, and holds back, every stream."},
    .issue = issue,
}};

}  // namespace
}  // namespace scanlab::streams
