// The microbenchmarks of `scanlab calibrate`: copies alone, both ways, kernels behind a copy, hand-overs, calls. Plain
// C++, no CUDA: each is a recording, run as a schedule is. None is a schedule that anybody would compare.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/schedule/recording.hpp"

namespace scanlab::simulator {

enum class ExperimentKind {
  copies,               ///< one way, in one stream
  copies_in_streams,    ///< likewise, in several
  copies_both_ways,     ///< in streams of their own
  copies_synchronous,   ///< one way, of pinned memory
  copies_pageable,      ///< one way
  kernel_chain,         ///< kernels one behind the other
  chain,                ///< copy in, kernel, copy out, and again, in one stream
  chain_by_events,      ///< the same, from stream to stream
  chain_under_load,     ///< kernel, copy out, and again, beside copies in
  kernel_calls,         ///< the host launches kernels
  event_calls,          ///< the host records events and has a stream wait for them
  graphs,               ///< kernels launched as one graph
  kernels,              ///< each behind the copy in of its items, nothing beside them
  kernels_side_by_side  ///< in several streams
};
const char* name(ExperimentKind kind);

struct Microbenchmark {
  std::string name;  ///< for people
  ExperimentKind kind{};
  std::optional<streams::OperationKind> way{};  ///< of copies one way: copy_in or copy_out
  std::int64_t bytes = 0;                       ///< of each copy, if all have as many
  int streams = 0;                              ///< if that is what experiments of the kind differ in, as the next two
  int kernels = 0;                              ///< of a graph
  std::int64_t items = 0;                       ///< of each kernel
  streams::Recording recording{};
};

/// `works`: how much work an item, of the kernels of every workload that heeds it. The order is that of the host arrays
/// that they need, so that neighbours can share them.
std::vector<Microbenchmark> calibration_experiments(const std::vector<int>& works);

}  // namespace scanlab::simulator
