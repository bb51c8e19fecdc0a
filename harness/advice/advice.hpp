// Which schedule, how many chunks and how many streams: every choice simulated, the fastest first.
#pragma once

#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/simulator/bounds.hpp"
#include "harness/simulator/simulation.hpp"

namespace scanlab::simulator {

struct ScheduleChoice {
  const streams::Schedule* schedule = nullptr;
  int chunks = 1;
  int streams = 1;        ///< as it makes them: one that makes three whatever is asked for has 3
  double seconds = 0;     ///< until the host has seen that all is done
  std::size_t calls = 0;  ///< of the host, beside those that make streams and events
  double held = 1;        ///< on the device at once: part of the arrays, from above 0 to little more than 1

  /// Whether the model cannot tell them apart: to nine digits they take as long.
  bool ties_with(const ScheduleChoice& other) const;
};

/// "depth_first, 16 chunks, 2 streams"
std::string describe(const ScheduleChoice& choice);
/// The job with the choice's schedule, chunks and streams, and what is predicted.
nlohmann::ordered_json to_json(const ScheduleChoice& choice, streams::Job job);

/// `recording` is of the choice.
ScheduleChoice choice_of(const streams::Schedule& schedule, const streams::Recording& recording, double seconds);

/// Sorts choices, the fastest first. Among equals the simplest is first: by streams, chunks, whether a graph must be
/// captured, calls and name.
void rank(std::vector<ScheduleChoice>& choices);

/// Whether it does the whole job in order, and nothing beside it: no work for the host, no kernel of another kind.
bool does_the_job_alone(const streams::Schedule& schedule);

/// The choices to search.
struct SearchSpace {
  std::vector<const streams::Schedule*> schedules;
  std::vector<int> chunks;
  std::vector<int> streams;
};

/// Every right schedule of pinned memory that does nothing but the job, with 1 to 256 chunks in 1 to 8 streams.
SearchSpace usual_choices();

struct Advice {
  ScheduleChoice serial;  ///< one chunk, one synchronous step after another
  ScheduleChoice whole;   ///< the fastest with one chunk: calls that do not wait may gain without any overlap
  std::vector<ScheduleChoice> choices;  ///< as `rank` puts them, each once
  Parts parts;                          ///< of one chunk
  /// Seconds that none of these choices can beat: the least of their bounds.
  double bound = std::numeric_limits<double>::infinity();

  const ScheduleChoice& best() const { return choices.front(); }
  /// How many times faster than serial.
  double gain() const { return serial.seconds / best().seconds; }
  /// Whether chunks in streams gain a twentieth at least: less is lost in the differences between two runs.
  bool worth_it() const { return best().chunks > 1 && whole.seconds > 1.05 * best().seconds; }
  /// Returns the advised choice: the whole in one piece if chunks are not worth it.
  const ScheduleChoice& advised() const { return worth_it() ? best() : whole; }
};

/// Simulates every choice with at most a chunk per item. `job` gives workload, items, work and blocks. Throws as
/// `costs` and `simulate` do; std::invalid_argument if the space is empty.
Advice advise(const streams::Job& job, const DeviceProfile& device, const KnownTimes& known, const SearchSpace& space);

/// Says in words what limits the gain of streams.
std::string limit_of(const Advice& advice, const DeviceProfile& device);

/// All of it, every choice.
nlohmann::ordered_json to_json(const Advice& advice, const streams::Job& job);

}  // namespace scanlab::simulator
