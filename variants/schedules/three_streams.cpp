// three_streams: a stream a kind of operation, ordered by events. Takes three streams, whatever is asked for.
//
//     copies in    | in 0 | in 1     | in 2     | …
//     kernels             | kernel 0 | kernel 1 | kernel 2 | …
//     copies out                     | out 0    | out 1    | out 2 | …
//
// Idea      A stream for each engine of the device. Streams do not order each other: events must.
// Waits     Kernel i for an event behind copy in i; copy out i for one behind kernel i.
// Overlaps  With two copy engines all three kinds; each engine takes the chunks in order.
// Source    "Considerations for Copy/Compute Overlap", the question what is problematic about three streams, answered.
#include "harness/schedule/issuer.hpp"

namespace scanlab::streams {
namespace {

void issue(Issuer& issuer, const Job&) {
  const Stream in = issuer.create_stream();
  const Stream kernels = issuer.create_stream();
  const Stream out = issuer.create_stream();
  for (const Chunk& chunk : issuer.chunks()) {
    const Event copied_in = issuer.create_event();
    issuer.copy_in(chunk, in);
    issuer.record(copied_in, in);

    const Event computed = issuer.create_event();
    issuer.wait(kernels, copied_in);
    issuer.compute(chunk, kernels);
    issuer.record(computed, kernels);

    issuer.wait(out, computed);
    issuer.copy_out(chunk, out);
  }
}

const ScheduleRegistration kThreeStreams{{
    .about = {.id = "three_streams",
              .title = "One stream for H2D copies, one for kernels, one for D2H copies, ordered by events",
              .source = "Considerations for Copy/Compute Overlap",
              .expectation = "Two copy engines overlap all three steps, with three streams for any number of chunks."},
    .issue = issue,
}};

}  // namespace
}  // namespace scanlab::streams
