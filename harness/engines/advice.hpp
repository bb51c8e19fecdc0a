// Which schedule, how many chunks and how many streams: every choice simulated, the fastest first.
#pragma once

#include <vector>

#include "harness/engines/simulation.hpp"

namespace scanlab::engines {

struct Choice {
  const streams::Schedule* schedule = nullptr;
  int chunks = 1;
  int streams = 1;
  double seconds = 0;  ///< until the host has seen that all is done
};

/// What is chosen from.
struct SearchSpace {
  std::vector<const streams::Schedule*> schedules;
  std::vector<int> chunks;
  std::vector<int> streams;
};

/// Every right schedule of pinned memory that does nothing but the job, with 1 to 256 chunks in 1 to 8 streams.
SearchSpace usual_choices();

struct Advice {
  Choice serial;                ///< one chunk, one synchronous step after another
  Choice whole;                 ///< the fastest with one chunk: calls that do not wait may gain without any overlap
  std::vector<Choice> choices;  ///< the fastest first; of equals the one with fewer chunks, then fewer streams
  double copies = 0;            ///< seconds of all copies, one after another, and of the kernel, at the full rate
  double kernel = 0;
  /// Seconds that no schedule beats: of the busiest engine.
  double bound = 0;

  const Choice& best() const { return choices.front(); }
  /// How many times faster than serial.
  double gain() const { return serial.seconds / best().seconds; }
  /// Whether chunks in streams gain a twentieth at least: less is lost in the differences between two runs.
  bool worth_it() const { return best().chunks > 1 && whole.seconds > 1.05 * best().seconds; }
};

/// As `costs`. Where the kernel's time is given, it is that of all items, and a block, of a thread an item, takes as
/// long in a chunk as it takes there: chunks too small for the device do not make it faster.
Costs chunk_costs(const streams::Recording& recording, const DeviceProfile& device, const Problem& problem);

/// `job` says workload, items, work and blocks; its chunks and streams are not looked at. Choices that cut it into more
/// chunks than it has items are left out. Throws as `costs` and `simulate` do; std::invalid_argument if the space is
/// empty.
Advice advise(const streams::Job& job, const DeviceProfile& device, const Problem& problem, const SearchSpace& space);

}  // namespace scanlab::engines
