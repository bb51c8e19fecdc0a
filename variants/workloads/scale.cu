// scale: every item times a factor.
//
// Idea    The smallest kernel there is: copies bound it, unless `work` makes it longer.
// Source  Tutorial 08 of the CUDA Programming Series, "Streams & Async Execution", scaleKernel.
#include "harness/streams/workload.hpp"

namespace scanlab::streams {
namespace {

const WorkloadRegistration kScale{{.about = {.id = "scale",
                                             .title = "Every item times a factor",
                                             .source = "Tutorial 08, Streams & Async Execution: scaleKernel",
                                             .type = ElementType::f32,
                                             .work = "multiplications"}}};

}  // namespace
}  // namespace scanlab::streams
