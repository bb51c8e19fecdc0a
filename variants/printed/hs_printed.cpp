// hs_printed: the slide's kernel whose loop does not advance.
#include "variants/printed/hs_printed.hpp"

namespace scanlab::printed {
namespace {

const simt::PrintedKernelRegistration kHsPrinted{{
    .about = {.id = "hs_printed",
              .title = "Hillis and Steele's scan, with a loop that does not advance",
              .source = "ME759, lecture of 16 October 2013, \"Hillis & Steele: Kernel Function\"",
              .fault = simt::FaultKind::no_progress,
              .remark =
                  "the loop ends each round with 'offset <= 1', a comparison that changes nothing, so that offset "
                  "stays 1 for ever; 'offset <<= 1', a shift, mends it"},
    .refusal = hs_refusal,
    .run = run_hs<HillisSteele<false, true>>,
}};

}  // namespace
}  // namespace scanlab::printed
