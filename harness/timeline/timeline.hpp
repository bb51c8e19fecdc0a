// When each operation of a recording ran, and what can be read from that: how much overlapped, which engine was idle,
// and why. Measured or simulated alike; no CUDA.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/schedule/recording.hpp"

namespace scanlab::streams {

/// The parts of a device that work at the same time.
enum class Engine { copy_in, compute, copy_out };
inline constexpr std::array kEngines{Engine::copy_in, Engine::compute, Engine::copy_out};
const char* name(Engine engine);
/// Where an operation that is work runs.
Engine engine_of(const Operation& operation);

/// An interval of time in seconds. Zero is when the host began to issue.
struct Interval {
  double start = 0;
  double end = 0;
  double seconds() const { return end - start; }
};
/// Seconds.
double overlap_of(const Interval& a, const Interval& b);
/// Seconds of all of them: disjoint, in order.
double overlap_of(const std::vector<Interval>& all, const Interval& when);

/// Why an engine was idle until its next operation began.
enum class Idle {
  stream_order,    ///< the operation waited for another in its stream
  event,           ///< for an event
  default_stream,  ///< by the rules of the legacy default stream
  host,            ///< the host had not issued it
  queue,           ///< nothing that CUDA promises held it: it stood behind another in a hardware work queue
  other_way,       ///< its copy engine, which copied the other way
  launches,        ///< the rule of compute capability 2.0 to 3.0: earlier launches had not started, or a check was open
  other_process,   ///< nothing of its own held it: another process or context was at work on the device
  latency,         ///< nothing held it: the device takes time to begin
  no_more_work,    ///< there is no next
};
const char* name(Idle reason);

/// The last thing that held an operation, beside other work of its engine.
struct Wait {
  double until = 0;  ///< the moment from which it held no longer; 0: nothing held
  Idle reason = Idle::latency;
  std::optional<std::size_t> blocker;
};

/// When the device worked at an operation: from the beginning of its first launch to the end of its last.
struct Span {
  std::size_t operation = 0;
  Interval when;
  std::optional<unsigned> channel;    ///< the hardware work queue, if it is known
  std::int64_t blocks = 0;            ///< of a kernel, of its largest launch; 0: not known
  std::optional<Wait> held;           ///< what only the device knew to hold it, if it is known
  double fill = 0;                    ///< of a kernel: its blocks over those that the device holds; 0: not known
  std::optional<std::size_t> kernel;  ///< which of Timeline::kernels it is: a name, with a grid and a block
  bool in_graph = false;              ///< launched by a graph
  bool allocated = false;  ///< the host allocated memory in a stream's order just before it, and had freed some so
  bool behind_host_function = false;  ///< a function of the host is taken to stand before it in its stream
  bool pinned = true;                 ///< of a copy: the host's memory
};

struct Timeline {
  const Recording* recording = nullptr;
  std::vector<Span> spans;       ///< one for each operation that is work, in the order of issue
  std::vector<Interval> issued;  ///< the host's, of every operation; empty if it is not known
  double latency = 15e-6;        ///< below this a wait is what a launch, or the hand-over between two engines, takes
  std::vector<int> threads;      ///< the host's thread that issued each operation; empty: the same for all
  std::vector<Interval> others;  ///< of other processes and contexts at work on the device: disjoint, in order
  int copy_engines = 2;          ///< 1: the device copies one way at a time
  std::vector<Interval> loads;   ///< in which launches loaded their kernels, disjoint, in order
  bool lacks_orders = false;     ///< streams wait for events of which no record is there
  std::vector<std::string> kernels;  ///< their names

  /// From zero to the end of the last span.
  double makespan() const;
  bool same_thread(std::size_t a, std::size_t b) const { return threads.empty() || threads[a] == threads[b]; }
};

struct Gap {
  Engine engine{};
  Interval when;
  Idle reason{};
  std::optional<std::size_t> next;     ///< the operation that ended it
  std::optional<std::size_t> blocker;  ///< whose end, or return to the host, it waited for; `next`: its own call's
};

/// One operation of the critical path, and what it waited for at last.
struct PathStep {
  std::size_t operation = 0;
  Interval when;
  double waited = 0;  ///< seconds between what it waited for and its start
};

/// The results of reading a timeline.
struct TimelineAnalysis {
  double makespan = 0;
  double covered = 0;                          ///< seconds in which any engine was at work
  std::array<double, kEngines.size()> busy{};  ///< seconds at work, one operation or more at once
  std::vector<Wait> waits;                     ///< of each span of the timeline
  std::vector<Gap> gaps;                       ///< of every engine, in the order of time
  std::vector<PathStep> path;                  ///< to the operation that ended last, first to last

  /// Seconds, had no engine worked beside another.
  double serial() const;
  /// The part of the possible overlap of engines that was reached: 0 if one worked at a
  /// time, 1 if none worked but beside the busiest, or had nothing to do. Time in which all were idle is no part of it.
  double overlap() const;
  /// "overlap 95% of what is possible", and for how long no engine was at work.
  std::string overlap_in_words() const;
  double idle(Engine engine) const { return makespan - busy[static_cast<std::size_t>(engine)]; }
  double idle(Engine engine, Idle reason) const;
};

/// Whether the host's call returned only when the device had done the operation: by its kind, or by the times.
bool holds_host(const Timeline& timeline, const Span& span);

/// A call that takes longer than this many latencies does more than issue.
inline constexpr double kIssueLatencies = 4;

/// The time that any of the intervals covers, disjoint and in order.
std::vector<Interval> joined(std::vector<Interval> intervals);

/// How much a copy moves.
double bytes_of(const Recording& recording, const Span& span);

/// When an engine is at work, on one operation or more: disjoint, in order.
std::vector<Interval> at_work(const Timeline& timeline, Engine engine);
/// Seconds of that.
double busy_seconds(const Timeline& timeline, Engine engine);

/// In time that grows as the operations do, up to a logarithm.
TimelineAnalysis analyse(const Timeline& timeline);

/// "copies in idle from 1.2 to 3.4 ms: the copy in of chunk 4 … waited for the kernel of chunk 0 …, in the same
/// stream".
std::string describe(const Recording& recording, const Gap& gap);

/// Lines: overlap, what each engine did, the critical path, and every gap of at least `shortest_gap` seconds with its
/// reason.
std::string describe(const Timeline& timeline, const TimelineAnalysis& analysis, double shortest_gap);

}  // namespace scanlab::streams
