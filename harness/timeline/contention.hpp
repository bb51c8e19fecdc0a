// Time that is lost while an engine is at work: kernels that stood ready beside others, and work that is slower beside
// other work. Gaps of an engine do not show it.
#pragma once

#include <vector>

#include "harness/timeline/diagnosis.hpp"

namespace scanlab::streams {

/// A kernel stands ready once all that CUDA's rules and the host's issue make it wait for is over. If it begins later,
/// and then runs alone, it could have run beside those before it: it loses the time for which it stood ready, or for
/// which it ran alone, whichever is shorter. What is left of the delay, the kernels behind it in its stream lose. No
/// cause has more seconds than kernels ran alone in all streams but the one with most of them.
///
/// A kernel is slower beside others if every such run took longer than each of its runs alone, by a quarter in the
/// median, and if kernels at the same time do less than 1.5 times as much as one after another. A copy is slower beside
/// copies the other way by 3 % in the median, of those of like size from pinned memory. Without runs alone neither is
/// named.
std::vector<Diagnosis> contention(const Timeline& timeline);

}  // namespace scanlab::streams
