// null_stream_nonblocking: null_stream_trap, out of the trap by streams that are created non-blocking.
//
//     stream 0         | in 0 | kernel 0 | out 0 |
//     stream 1                | in 1 | kernel 1 | out 1 | …
//     default stream   | side | side | …
//
// Idea      cudaStreamCreateWithFlags with cudaStreamNonBlocking: the legacy default stream neither waits for such a
//           stream nor holds it back.
// Waits     Nothing, beyond the order within a stream.
// Overlaps  What depth_first does, and the side kernels with all of it.
// Source    Tutorial 08 of the CUDA Programming Series, "Streams & Async Execution", section 6.
#include "harness/schedule/issuer.hpp"

namespace scanlab::streams {
namespace {

void issue(Issuer& issuer, const Job& job) {
  const std::vector<Stream> streams = issuer.create_streams(job.streams, StreamKind::non_blocking);
  for (const Chunk& chunk : issuer.chunks()) {
    const Stream stream = streams[chunk.index % streams.size()];
    issuer.copy_in(chunk, stream);
    issuer.compute(chunk, stream);
    issuer.copy_out(chunk, stream);
    issuer.side_kernel(kLegacyDefault);
  }
}

const ScheduleRegistration kNullStreamNonblocking{{
    .about = {.id = "null_stream_nonblocking",
              .title = "null_stream_trap with non-blocking streams",
              .source = "Tutorial 08, Streams & Async Execution, section 6",
              .expectation = "Overlaps as depth_first does, and the side kernels beside it."},
    .issue = issue,
}};

}  // namespace
}  // namespace scanlab::streams
