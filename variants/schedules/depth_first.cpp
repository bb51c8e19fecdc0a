// depth_first: chunk after chunk, copy in, compute, copy out; round-robin over the streams.
//
//     stream 0   | in 0 | kernel 0 | out 0 |                in 2 …
//     stream 1          | in 1 | kernel 1 | out 1 |
//
// Idea      A chunk's three steps stay in one stream, which keeps them in order; chunks in different streams may
//           overlap.
// Waits     Nothing, beyond the order within a stream.
// Overlaps  With two copy engines all three steps of different chunks. With one copy engine and one queue nothing: the
//           copy in of chunk 1 stands behind the copy out of chunk 0, which waits for kernel 0.
// Source    Markidis, "Optimizing Host-Device Data Communication III", the first approach; Harris, "How to Overlap
//           Data Transfers in CUDA C/C++", 2012.
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
  }
}

const ScheduleRegistration kDepthFirst{{
    .about = {.id = "depth_first",
              .title = "H2D copy, kernel, D2H copy, chunk after chunk, round-robin over the streams",
              .source = "Markidis, Optimizing Host-Device Data Communication III, first approach; Harris 2012",
              .expectation =
                  "Two copy engines overlap all three steps. One copy engine and one queue overlap nothing."},
    .issue = issue,
}};

}  // namespace
}  // namespace scanlab::streams
