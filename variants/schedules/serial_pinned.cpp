// serial_pinned: as serial, from and to pinned memory.
//
//     default stream | in 0 | kernel 0 | out 0 | in 1 | kernel 1 | out 1 | …
//
// Idea      A copy engine reads and writes pinned memory itself: no staging by the driver. Still one step at a time, so
//           what this gains on serial is gained by pinning alone.
// Waits     Everything for everything before it.
// Overlaps  Nothing, on any device.
// Source    "Using streams in CUDA", lecture, October 16, 2013; Tutorial 08 of the CUDA Programming Series, "Streams &
//           Async Execution", section 2.
#include "harness/schedule/issuer.hpp"

namespace scanlab::streams {
namespace {

void issue(Issuer& issuer, const Job&) {
  for (const Chunk& chunk : issuer.chunks()) {
    issuer.copy_in_now(chunk);
    issuer.compute(chunk, kLegacyDefault);
    issuer.copy_out_now(chunk);
  }
}

const ScheduleRegistration kSerialPinned{{
    .about = {.id = "serial_pinned",
              .title = "Synchronous copies of pinned memory, everything in the default stream",
              .source = "Using streams in CUDA, 2013; Tutorial 08, Streams & Async Execution",
              .expectation = "Nothing overlaps: the sum of both copies, at the full rate of the bus, and the kernel."},
    .issue = issue,
}};

}  // namespace
}  // namespace scanlab::streams
