// Time that is lost while an engine is at work: kernels that stood ready beside others, and work that is slower beside
// other work. Gaps of an engine do not show it.
#pragma once

#include <vector>

#include "harness/timeline/diagnosis.hpp"

namespace scanlab::streams {

/// A kernel stood ready if all that CUDA's rules and the host's issue made it wait for was over: it could have run
/// beside others, and ran alone later. What it lost is the shorter of both times; kernels behind it in its stream lose
/// with it. Work is slower beside other work if it took longer than the same work alone, a kernel by a quarter, and a
/// copy, per byte, by 3 %. Both need to be there.
std::vector<Diagnosis> contention(const Timeline& timeline);

}  // namespace scanlab::streams
