// square: every item squared.
//
// Source  Tutorial 08 of the CUDA Programming Series, "Streams & Async Execution", squareKernel.
#include "harness/streams/workload.hpp"

namespace scanlab::streams {
namespace {

const WorkloadRegistration kSquare{{.about = {.id = "square",
                                              .title = "Every item squared",
                                              .source = "Tutorial 08, Streams & Async Execution: squareKernel",
                                              .type = ElementType::f32,
                                              .work = "squarings"}}};

}  // namespace
}  // namespace scanlab::streams
