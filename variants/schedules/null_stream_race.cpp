// null_stream_race: null_stream_nonblocking, with the chunk's own kernel in the default stream. WRONG, and kept as a
// control that must be caught.
//
//     stream 0         | in 0 | out 0 |
//     stream 1         | in 1 | out 1 | …
//     default stream   | kernel 0 | kernel 1 | …      on what may not be there yet
//
// Idea      The kernel was forgotten in the legacy default stream. Beside blocking streams that is only slow; beside
//           non-blocking ones nothing orders it with its copies.
// Waits     Nothing, beyond the order within a stream.
// Overlaps  Everything, and means nothing.
// Source    Tutorial 08 of the CUDA Programming Series, "Streams & Async Execution", section 6, its advice half
//           followed.
#include "harness/schedule/issuer.hpp"

namespace scanlab::streams {
namespace {

void issue(Issuer& issuer, const Job& job) {
  const std::vector<Stream> streams = issuer.create_streams(job.streams, StreamKind::non_blocking);
  for (const Chunk& chunk : issuer.chunks()) {
    const Stream stream = streams[chunk.index % streams.size()];
    issuer.copy_in(chunk, stream);
    issuer.compute(chunk, kLegacyDefault);
    issuer.copy_out(chunk, stream);
  }
}

const ScheduleRegistration kNullStreamRace{{
    .about = {.id = "null_stream_race",
              .title = "The kernel in the legacy default stream beside non-blocking streams: a wrong answer",
              .source = "Tutorial 08, Streams & Async Execution, section 6",
              .expectation = "Nothing orders a kernel with its copies: the results are wrong, sooner or later.",
              .control = true},
    .issue = issue,
}};

}  // namespace
}  // namespace scanlab::streams
