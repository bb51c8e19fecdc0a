// The program that advice is about: one CUDA C++ file, which needs nothing of Scanlab.
#pragma once

#include <cstdint>
#include <string>

#include "harness/advice/advice.hpp"

namespace scanlab::simulator {

/// What the whole problem copies, in bytes.
struct CopiedBytes {
  std::int64_t in = 0;
  std::int64_t out = 0;
};

/// Empty if there is a program for this; else one sentence that says why not, whatever is advised: a workload that
/// hands a carry from chunk to chunk, or nothing that is copied out, which is what a program verifies.
std::string program_refusal(const streams::Job& job, CopiedBytes bytes);

/// A file that nvcc -std=c++17 compiles: pinned memory, the streams and events of `advice.advised()`, its chunks in its
/// order of issue, a kernel to be replaced, and a main that times it beside one step after another and verifies both.
/// `file` is what its first lines call it. Throws CommandError (status 2) for a schedule that it has no form of.
std::string cuda_program(const Advice& advice, const DeviceProfile& device, CopiedBytes bytes, const std::string& file);

}  // namespace scanlab::simulator
