// scan: the inclusive sum of the whole array, chunk by chunk, with a carry passed on: kernels come in the order of the
// chunks.
//
// Source  Scanlab's scans; the carry is that of any scan in parts.
#include "harness/streams/workload.hpp"

namespace scanlab::streams {
namespace {

const WorkloadRegistration kScan{{.about = {.id = "scan",
                                            .title = "Inclusive sum, a carry passed from chunk to chunk",
                                            .source = "Scanlab",
                                            .type = ElementType::i32,
                                            .ordered = true,
                                            .work = "not used"}}};

}  // namespace
}  // namespace scanlab::streams
