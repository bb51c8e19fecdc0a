// Why a schedule lost overlap, in words, with the numbers that say so.
#pragma once

#include <string>
#include <vector>

#include "harness/timeline/timeline.hpp"

namespace scanlab::streams {

enum class Cause {
  pageable_memory,     ///< copies go through the driver's staging and hold the host
  managed_memory,      ///< copies of managed memory hold the host
  synchronous_copies,  ///< cudaMemcpy: the host waits for each
  blocking_launches,   ///< CUDA_LAUNCH_BLOCKING: the host waits for each kernel
  default_stream,      ///< the legacy default stream held others back, or was held back
  too_few_streams,     ///< chunks stood behind other chunks in their stream
  too_few_buffers,     ///< chunks waited, by an event, for the buffer of another
  shared_queue,        ///< streams shared a hardware work queue
  launch_rule,         ///< compute capability 2.0 to 3.0: what depends on a kernel waited for other launches to start
  issue_order,         ///< an engine took operations in the order of issue, and the first was not ready
  small_work,          ///< the device is done with an operation sooner than the next one comes, or begins
  late_issue,          ///< the host did not issue in time, though the operations are long
  other_process,       ///< another process or context was at work on the device
  lazy_loading,        ///< kernels were loaded when they were first launched
  small_copies,        ///< copies too small for their issue
  outside_graph,       ///< between launches of graphs the device waited for work that is in none
  host_functions,      ///< streams waited for functions of the host
  full_device,         ///< a kernel of few blocks stood ready while the blocks of another filled the device
  reused_memory,       ///< kernels of several streams ran one after another, which allocate from one pool
  unrecorded_order,    ///< kernels of several streams ran one after another, and nothing recorded says why
  slower_kernels,      ///< kernels take longer beside others than alone
  slower_copies,       ///< copies take longer beside copies the other way than alone
  latency,             ///< the device takes time to begin with an operation that nothing holds
  start_up,            ///< until the first operation of all begins
  few_chunks,          ///< filling and draining the pipeline is much of the whole
  saturated_engine,    ///< one engine hardly stops: nothing is lost that an order of issue could give
};
const char* name(Cause cause);

struct Diagnosis {
  Cause cause{};
  double seconds = 0;  ///< for which it kept the busiest engine idle, or work took longer; of saturated_engine: at work
  std::string evidence;
};

/// The causes that keep the busiest engine idle for a twentieth of the makespan or more, or lose as much while it is at
/// work, the worst first. Where the operation that ends a gap waited for an earlier step of its own chunk, what that
/// step waited for is blamed. Two causes may count the same time. saturated_engine comes last. Empty if nothing stands
/// out.
std::vector<Diagnosis> diagnose(const Timeline& timeline, const TimelineAnalysis& analysis);

}  // namespace scanlab::streams
