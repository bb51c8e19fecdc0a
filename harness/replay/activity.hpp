// A profiler's part in this process: CUPTI's activity records, thrown away, or kept as a timeline. CUPTI is opened when
// it is asked for, so that the program runs without it. No CUDA types here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/timeline/timeline.hpp"

namespace scanlab::streams {

enum class Collection {
  concurrent,  ///< as today's profilers trace
  serialised   ///< CUPTI's older kind, which lets no two kernels run at once
};

/// Begins before CUDA starts in this process, and drops the records. Returns why it cannot be, or nothing.
std::string collect_kernels(Collection collection);

/// The device's work for one call, on any of its devices.
struct Activity {
  enum class Kind { kernel, copy_in, copy_out, copy, memset };  ///< copy: within a device, or between two
  Kind kind{};
  int device = 0;          ///< as CUDA counts them in this process
  std::string name{};      ///< of a kernel beyond schedules, short_name(); else empty
  std::int64_t start = 0;  ///< nanoseconds of the collector's clock, which is one for all devices
  std::int64_t end = 0;
  std::uint64_t bytes = 0;        ///< of a copy or a memset
  std::uint32_t correlation = 0;  ///< grows from call to call
  std::uint64_t graph_node = 0;   ///< 0: not of a graph
  std::uint32_t channel = 0;      ///< the hardware work queue
  std::int64_t blocks = 0;        ///< of a kernel
};

/// A kernel's name without namespaces, template arguments and parameters; of a portable kernel, its class. `name` may
/// be mangled.
std::string short_name(const char* name);

/// Collects activities between `begin` and `end`. One at a time.
class ActivityCollector {
 public:
  /// `of_schedules`: kernels and copies alone, else also memsets and copies between devices. Throws std::runtime_error
  /// that says what is missing.
  explicit ActivityCollector(bool of_schedules);

  void begin();
  /// The device must be idle. Throws std::runtime_error if records were lost.
  std::vector<Activity> end();
  /// The collector's clock, now.
  std::int64_t now() const;

 private:
  bool of_schedules_;
};

/// Returns the span of each operation, in the order of issue, from its activities; `zero` is when the host began to
/// issue, by the collector's clock. Copies and kernels are matched in the order of their calls; nodes of a graph in the
/// order of their ids, or, if that contradicts the recording's dependencies, of their start. Throws std::runtime_error
/// if they do not fit: another number, or copies of other sizes.
std::vector<Span> spans_of(const Recording& recording, std::vector<Activity> activities, std::int64_t zero);

}  // namespace scanlab::streams
