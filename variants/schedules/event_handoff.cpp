// event_handoff: two streams, handed over by events, and the host at work beside them. Takes two streams, whatever is
// asked for.
//
//     copies in           | in 0 | in 1            | in 2             | …
//     kernels and out            | kernel 0 |      | out 0 | kernel 1 | out 1 | …
//     host                | work | work | …
//
// Idea      While the copy in of a chunk is under way in one stream, the other copies the previous result out, both
//           copy engines at work; its kernel waits for both. cudaStreamWaitEvent holds back the stream and not the
//           host, which does something of its own meanwhile.
// Waits     Kernel i for an event behind copy in i; by the order of its stream, for copy out i - 1.
// Overlaps  Copies in with kernels and with copies out; never a kernel with a copy out. The host's work with all.
// Source    "Using streams in CUDA", lecture, October 16, 2013, "Use of cudaStreamWaitEvent"; Tutorial 08 of the CUDA
//           Programming Series, "Streams & Async Execution", section 4.
#include "harness/schedule/issuer.hpp"

namespace scanlab::streams {
namespace {

constexpr double kHostMicroseconds = 50;  // a chunk: less than a copy of a few MiB, so that it can hide

void issue(Issuer& issuer, const Job&) {
  const Stream in = issuer.create_stream();
  const Stream other = issuer.create_stream();
  const std::vector<Chunk> chunks = issuer.chunks();
  for (const Chunk& chunk : chunks) {
    const Event copied_in = issuer.create_event();
    issuer.copy_in(chunk, in);
    issuer.record(copied_in, in);

    if (chunk.index > 0) issuer.copy_out(chunks[chunk.index - 1], other);
    issuer.wait(other, copied_in);
    issuer.compute(chunk, other);
    issuer.host_work(kHostMicroseconds);
  }
  issuer.copy_out(chunks.back(), other);
}

const ScheduleRegistration kEventHandoff{{
    .about = {.id = "event_handoff",
              .title = "Two streams handed over by cudaStreamWaitEvent, and host work beside them",
              .source = "Using streams in CUDA, 2013; Tutorial 08, Streams & Async Execution, section 4",
              .expectation = "H2D copies overlap kernels and D2H copies. A kernel never overlaps a D2H copy. The host "
                             "computes meanwhile."},
    .issue = issue,
}};

}  // namespace
}  // namespace scanlab::streams
