// vector_add: the sum of two arrays, item by item. Two copies in for one out: the bus up is the bottleneck.
//
// Source  Tutorial 08 of the CUDA Programming Series, "Streams & Async Execution", exercise 1.
#include "harness/streams/workload.hpp"

namespace scanlab::streams {
namespace {

const WorkloadRegistration kVectorAdd{{.about = {.id = "vector_add",
                                                 .title = "The sum of two arrays, item by item",
                                                 .source = "Tutorial 08, Streams & Async Execution: exercise 1",
                                                 .type = ElementType::f32,
                                                 .inputs = 2,
                                                 .work = "additions"}}};

}  // namespace
}  // namespace scanlab::streams
