// serial: pageable memory, synchronous copies, everything in the default stream, as a first program has it.
//
//     default stream | in 0 | kernel 0 | out 0 | in 1 | kernel 1 | out 1 | …
//
// Idea      cudaMemcpy, a kernel, cudaMemcpy. The host waits in both copies.
// Waits     Everything for everything before it.
// Overlaps  Nothing, on any device.
// Source    Markidis, "Optimizing Host-Device Data Communication III", the sequential code; Tutorial 08 of the CUDA
//           Programming Series, "Streams & Async Execution", section 1.
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

const ScheduleRegistration kSerial{{
    .about = {.id = "serial",
              .title = "Synchronous copies of pageable memory, everything in the default stream",
              .source =
                  "Markidis, Optimizing Host-Device Data Communication III; Tutorial 08, Streams & Async Execution",
              .expectation =
                  "Nothing overlaps: the sum of both copies, at the rate of pageable memory, and the kernel.",
              .memory = HostMemory::pageable},
    .issue = issue,
}};

}  // namespace
}  // namespace scanlab::streams
