// A profiler's part in this process: CUPTI's activity records of kernels, collected and thrown away. No CUDA types
// here.
#pragma once

#include <string>

namespace scanlab::streams {

enum class Collection {
  concurrent,  ///< as today's profilers trace
  serialised   ///< CUPTI's older kind, which lets no two kernels run at once
};

/// Begins before CUDA starts in this process; there is no end. Returns why it cannot be, or nothing.
std::string collect_kernels(Collection collection);

}  // namespace scanlab::streams
