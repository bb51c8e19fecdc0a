// per_thread_default: null_stream_trap, out of the trap by a default stream that is the host thread's own.
//
//     stream 0             | in 0 | kernel 0 | out 0 |
//     stream 1                    | in 1 | kernel 1 | out 1 | …
//     per-thread default   | side | side | …
//
// Idea      Compiled with --default-stream per-thread, a kernel without a stream goes to cudaStreamPerThread, a stream
//           like the created ones. (It is a blocking stream: the legacy default stream would hold it back.)
// Waits     Nothing, beyond the order within a stream.
// Overlaps  What depth_first does, and the side kernels with all of it.
// Source    Tutorial 08 of the CUDA Programming Series, "Streams & Async Execution", section 6.
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
    issuer.side_kernel(kPerThreadDefault);
  }
}

const ScheduleRegistration kPerThreadDefault{{
    .about = {.id = "per_thread_default",
              .title = "null_stream_trap with the side kernel in the per-thread default stream",
              .source = "Tutorial 08, Streams & Async Execution, section 6",
              .expectation = "Overlaps as depth_first does, and the side kernels beside it."},
    .issue = issue,
}};

}  // namespace
}  // namespace scanlab::streams
