// double_buffered: a fixed number of device buffers, two say, used in turn behind events: for data larger than the
// device. Takes three streams, whatever is asked for.
//
//     copies in    | in 0 | in 1     | in 2     | in 3     | …          buffers 0, 1, 0, 1
//     kernels             | kernel 0 | kernel 1 | kernel 2 | …
//     copies out                     | out 0    | out 1    | out 2 | …
//
// Idea      As three_streams, but a buffer is used again once it is free. Inputs and outputs have buffers of their
//           own, so that two of each keep all three streams at work. Each buffer's events are recorded anew for every
//           chunk: a wait is for the latest record.
// Waits     Kernel i for copy in i, copy out i for kernel i; of the chunk that had the buffer before, copy in i for
//           the kernel, which has read the input, and kernel i for the copy out, which has read the output.
// Overlaps  What three_streams does, in a fixed budget of device memory.
// Source    Scanlab's; double buffering is folklore.
#include "harness/schedule/issuer.hpp"

namespace scanlab::streams {
namespace {

/// The events of one buffer.
struct Uses {
  Event copied_in, computed, copied_out;
};

void issue(Issuer& issuer, const Job& job) {
  const Stream in = issuer.create_stream();
  const Stream kernels = issuer.create_stream();
  const Stream out = issuer.create_stream();
  std::vector<Uses> uses;
  for (const Chunk& chunk : issuer.chunks_in_turn(job.buffers)) {
    const bool used_before = chunk.index >= job.buffers;
    if (!used_before) uses.push_back({issuer.create_event(), issuer.create_event(), issuer.create_event()});
    const auto& [copied_in, computed, copied_out] = uses[chunk.buffer];

    if (used_before) issuer.wait(in, computed);
    issuer.copy_in(chunk, in);
    issuer.record(copied_in, in);

    issuer.wait(kernels, copied_in);
    if (used_before) issuer.wait(kernels, copied_out);
    issuer.compute(chunk, kernels);
    issuer.record(computed, kernels);

    issuer.wait(out, computed);
    issuer.copy_out(chunk, out);
    issuer.record(copied_out, out);
  }
}

const ScheduleRegistration kDoubleBuffered{{
    .about = {.id = "double_buffered",
              .title = "A fixed number of device buffers, used in turn behind events",
              .source = "Scanlab",
              .expectation = "Overlaps as three_streams does, in a fixed budget of device memory."},
    .issue = issue,
}};

}  // namespace
}  // namespace scanlab::streams
