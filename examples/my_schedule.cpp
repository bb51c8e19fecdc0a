// my_schedule: copies in one stream, kernels in another, handed over by events.
#include "harness/schedule/issuer.hpp"

namespace scanlab::streams {
namespace {

void issue(Issuer& issuer, const Job&) {
  const Stream copies = issuer.create_stream();
  const Stream kernels = issuer.create_stream();
  for (const Chunk& chunk : issuer.chunks()) {
    const Event copied_in = issuer.create_event();
    issuer.copy_in(chunk, copies);
    issuer.record(copied_in, copies);
    issuer.wait(kernels, copied_in);  // without it: a hazard, which check names
    issuer.compute(chunk, kernels);
    issuer.copy_out(chunk, kernels);
  }
}

const ScheduleRegistration kMySchedule{{
    .about = {.id = "my_schedule",  // the file's name
              .title = "Copies in one stream, kernels in another",
              .source = "folklore",
              .expectation = "Copies in overlap kernels and copies out."},
    .issue = issue,
}};

}  // namespace
}  // namespace scanlab::streams
