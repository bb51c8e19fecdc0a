// skewed: as depth_first, but the copy in and the kernel of chunk i + 1 are issued before the copy out of chunk i.
//
//     issued   in 0, kernel 0; in 1, kernel 1; out 0; in 2, kernel 2; out 1; …; out of the last
//
// Idea      With one copy engine, or one queue, the copy out of chunk i waits for its kernel, and whatever copy stands
//           behind it waits too. So the next copy in is put before it.
// Waits     Nothing, beyond the order within a stream. With one stream the copy out of chunk i then waits for kernel
//           i + 1: two streams are the least that gain.
// Overlaps  With one copy engine, kernels and copies; with two, what depth_first does. With one hardware work
//           queue the copy out still waits until all blocks of the kernel issued before it have started.
// Source    "When are they worth using?" (Когда их стоит использовать?), part 7 of a lecture on cudaStream.
#include "harness/schedule/issuer.hpp"

namespace scanlab::streams {
namespace {

void issue(Issuer& issuer, const Job& job) {
  const std::vector<Stream> streams = issuer.create_streams(job.streams);
  const std::vector<Chunk> chunks = issuer.chunks();
  const auto stream_of = [&](const Chunk& chunk) { return streams[chunk.index % streams.size()]; };
  const auto begin = [&](const Chunk& chunk) {
    issuer.copy_in(chunk, stream_of(chunk));
    issuer.compute(chunk, stream_of(chunk));
  };
  begin(chunks.front());
  for (std::size_t i = 1; i < chunks.size(); ++i) {
    begin(chunks[i]);
    issuer.copy_out(chunks[i - 1], stream_of(chunks[i - 1]));
  }
  issuer.copy_out(chunks.back(), stream_of(chunks.back()));
}

const ScheduleRegistration kSkewed{{
    .about = {.id = "skewed",
              .title = "H2D copy and kernel of the next chunk issued before the D2H copy of this one",
              .source = "When are they worth using? (Когда их стоит использовать?), part 7 of a lecture on cudaStream",
              .expectation = "One copy engine overlaps kernels with copies, where depth_first overlaps nothing."},
    .issue = issue,
}};

}  // namespace
}  // namespace scanlab::streams
