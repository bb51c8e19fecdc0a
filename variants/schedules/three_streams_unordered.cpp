// three_streams_unordered: three_streams without its events. WRONG, and kept as a control that must be caught.
//
//     copies in    | in 0 | in 1 | in 2 | …
//     kernels      | kernel 0 | kernel 1 | kernel 2 | …        on what may not be there yet
//     copies out   | out 0 | out 1 | out 2 | …                 of what may not be computed yet
//
// Idea      Streams do not order each other: a kernel may run before its chunk is there.
// Waits     Nothing, beyond the order within a stream.
// Overlaps  Everything, and means nothing.
// Source    "Considerations for Copy/Compute Overlap": what is problematic about three streams, one a kind?
#include "harness/schedule/issuer.hpp"

namespace scanlab::streams {
namespace {

void issue(Issuer& issuer, const Job&) {
  const Stream in = issuer.create_stream();
  const Stream kernels = issuer.create_stream();
  const Stream out = issuer.create_stream();
  for (const Chunk& chunk : issuer.chunks()) {
    issuer.copy_in(chunk, in);
    issuer.compute(chunk, kernels);
    issuer.copy_out(chunk, out);
  }
}

const ScheduleRegistration kThreeStreamsUnordered{{
    .about = {.id = "three_streams_unordered",
              .title = "three_streams without events: a wrong answer",
              .source = "Considerations for Copy/Compute Overlap",
              .expectation = "Kernels run on data that may not be there yet: the results are wrong, sooner or later.",
              .control = true},
    .issue = issue,
}};

}  // namespace
}  // namespace scanlab::streams
