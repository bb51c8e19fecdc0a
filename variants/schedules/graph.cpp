// graph: depth_first, captured into a CUDA graph.
//
//     stream 0   fork | in 0 | kernel 0 | out 0 |               join
//     stream 1               | in 1 | kernel 1 | out 1 |
//
// Idea      The whole schedule is captured once and launched as one: no calls of the host between operations. A capture
//           begins in stream 0; an event takes it to the other streams, and events bring them back before its end.
// Waits     Each stream for the fork; stream 0, at last, for all.
// Overlaps  What depth_first does, or more: a graph keeps the dependencies and forgets the order of issue.
// Source    CUDA Programming Guide, "CUDA Graphs", on stream capture across streams; the schedule as depth_first.
#include "harness/schedule/issuer.hpp"

namespace scanlab::streams {
namespace {

void issue(Issuer& issuer, const Job& job) {
  const std::vector<Stream> streams = issuer.create_streams(job.streams);
  const Event fork = issuer.create_event();
  issuer.record(fork, streams.front());
  for (std::size_t i = 1; i < streams.size(); ++i) issuer.wait(streams[i], fork);

  for (const Chunk& chunk : issuer.chunks()) {
    const Stream stream = streams[chunk.index % streams.size()];
    issuer.copy_in(chunk, stream);
    issuer.compute(chunk, stream);
    issuer.copy_out(chunk, stream);
  }

  for (std::size_t i = 1; i < streams.size(); ++i) {
    const Event join = issuer.create_event();
    issuer.record(join, streams[i]);
    issuer.wait(streams.front(), join);
  }
}

const ScheduleRegistration kGraph{{
    .about = {.id = "graph",
              .title = "depth_first captured into a CUDA graph, launched as one",
              .source = "CUDA Programming Guide, CUDA Graphs",
              .expectation = "Overlaps as depth_first does, without calls of the host in between.",
              .captured = true},
    .issue = issue,
}};

}  // namespace
}  // namespace scanlab::streams
