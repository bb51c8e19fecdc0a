// hso_reentry: one tree over all n items; each launch continues where the last one stopped.
//
// Idea    A block's shared memory holds 2048 items, a tree over more does not fit. So a launch does some levels of the
//         tree and leaves global memory such that the next one can go on: after d levels the nodes lie 2^d apart, the
//         next launch brings 2048 of those a block into shared memory. Up-sweep launch by launch, then the down-sweep
//         the same way back.
// Work    2(n - 1) additions and n - 1 swaps, for any n; n more additions if inclusive.
// Span    2 ceil(log2 n) steps in 2 ceil(log2 n / levels) launches.
// Traffic about 4n with 11 levels a launch, 5n if inclusive; later launches touch n / 2^levels items, each in a sector
//         of its own.
// Source  ME759, University of Wisconsin-Madison, lecture of 16 October 2013, "Going beyond 2048 entries". Its text is
//         one level off: it has leads 2^6 and mates 2^5 apart after 6 steps, where they are 2^7 and 2^6 apart.
#include "variants/scan/hso_reentry.cuh"

namespace scanlab::scan {
namespace {
const Registration kHsoReentry{simt::portable_scan<HsoReentry<Unpadded>>()};
}  // namespace
}  // namespace scanlab::scan
