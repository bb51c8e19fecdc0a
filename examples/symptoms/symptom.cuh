// The ten symptoms share this: checked calls, arrays, work whose result the host knows, and the clock.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <source_location>
#include <string>
#include <vector>

using Item = std::uint32_t;

/// Ends the program with one sentence, and status 2, if a call of CUDA failed.
void check(cudaError_t error, const std::source_location& where = std::source_location::current());

/// Takes an item through steps of a linear congruential generator. A step takes a thread about two nanoseconds.
__host__ __device__ inline Item advanced(Item item, int steps) {
  for (int i = 0; i < steps; ++i) item = item * 1664525U + 1013904223U;
  return item;
}

/// Advances n items by `steps`, in any number of blocks and threads.
__global__ void advance(Item* items, std::size_t n, int steps);

// The process ends after one form of one symptom: nothing is freed.
Item* device_items(std::size_t n);  // of zeros
Item* pinned_items(std::size_t n);  // of zeros
cudaStream_t new_stream(unsigned flags = cudaStreamNonBlocking, int priority = 0);
cudaEvent_t new_event(unsigned flags = cudaEventDisableTiming);

/// Makes what is issued in `to` from now on wait for what was issued in `from` before.
void wait_for(cudaStream_t from, cudaStream_t to);

/// A graph of what `issue` issues in a stream.
cudaGraphExec_t captured(cudaStream_t stream, const std::function<void()>& issue);

/// One form of a symptom, in one instance.
class Run {
 public:
  explicit Run(bool is_slow, int instance, double scale, int repetitions)
      : slow(is_slow), repetitions(repetitions), instance_(instance), scale_(scale) {}
  const bool slow;
  int repetitions;

  /// A number of this instance from `from` to `to`. A size is multiplied by --scale.
  int number(int from, int to);
  int size(int from, int to);
  /// A variant of the symptom; those of instances 0, 1, ... take turns.
  int choice(int variants) const { return instance_ % variants; }

  /// Times what `issue` issues, until the device is done: the median of all repetitions, after one that warms up. A
  /// profiler sees the repetitions between cudaProfilerStart and cudaProfilerStop.
  void time(const std::function<void()>& issue);
  /// The same without warming up, where the first use is the symptom.
  void time_first_use(const std::function<void()>& issue);
  /// Takes the milliseconds of a repetition from here, and not from the host's clock; they are for so many bytes.
  void measure(std::function<double()> milliseconds, double bytes);

  /// How often the work was issued.
  int runs() const { return runs_; }
  /// Compares n items of the device or the host with the expected one.
  void verify(const Item* items, std::size_t n, Item expected);

  /// Milliseconds, the checksum, and a rate where bytes were given. Returns the exit status.
  int report(const std::string& name) const;

 private:
  double once(const std::function<void()>& issue);

  int instance_;
  double scale_;
  std::size_t numbers_ = 0;  ///< that were taken
  std::vector<double> milliseconds_;
  std::function<double()> measured_;
  double bytes_ = 0;
  int runs_ = 0;
  Item checksum_ = 0;
  std::string wrong_;
};

struct Symptom {
  const char* symptom;
  const char* cause;
  const char* cure;
  void (*run)(Run&);
};

/// A symptom registers itself by its name.
struct Registered {
  Registered(const char* name, const Symptom& symptom) { all().emplace(name, symptom); }
  static std::map<std::string, Symptom>& all();
};
