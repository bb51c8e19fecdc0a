// feistel: deciphers what the host enciphered: an unrolled Feistel network of so many rounds. As much work a byte as
// one likes, and a result that must be the plain text.
//
// Source  "Considerations for Copy/Compute Overlap", decrypt_gpu.
#include "harness/streams/workload.hpp"

namespace scanlab::streams {
namespace {

const WorkloadRegistration kFeistel{{.about = {.id = "feistel",
                                               .title = "Deciphers a Feistel network of so many rounds",
                                               .source = "Considerations for Copy/Compute Overlap: decrypt_gpu",
                                               .type = ElementType::i64,
                                               .work = "rounds"}}};

}  // namespace
}  // namespace scanlab::streams
