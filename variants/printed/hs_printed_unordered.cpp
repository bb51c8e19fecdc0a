// hs_printed_unordered: the slide's kernel without the barrier after the load, with the shift mended, so that this
// fault shows alone.
#include "variants/printed/hs_printed.hpp"

namespace scanlab::printed {
namespace {

const simt::PrintedKernelRegistration kHsPrintedUnordered{{
    .about = {.id = "hs_printed_unordered",
              .title = "Hillis and Steele's scan, without the barrier after the load",
              .source = "other copies of ME759, lecture of 16 October 2013, \"Hillis & Steele: Kernel Function\"; the "
                        "loop of hs_printed is mended here",
              .fault = simt::FaultKind::race,
              .remark = "a thread adds its neighbour's item, which the neighbour may not have loaded yet; "
                        "__syncthreads() behind the load mends it"},
    .refusal = hs_refusal,
    .run = run_hs<HillisSteele<true, false>>,
}};

}  // namespace
}  // namespace scanlab::printed
