// What the engine model is given of a program: kernels of so many blocks and copies of so many bytes, in streams with a
// priority and a partition of the multiprocessors.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/schedule/issuer.hpp"
#include "harness/simulator/simulation.hpp"

namespace scanlab::features {

class Program {
 public:
  /// captured: into a graph. partitions: multiprocessors of each partition; none: one of all.
  explicit Program(bool captured = false, std::vector<int> partitions = {});

  streams::Stream new_stream(int priority = 0, int partition = 0);
  /// blocks: of 1024 threads, of which each takes so long.
  void kernel(streams::Stream stream, std::int64_t blocks, double block_seconds);
  void copy_in(streams::Stream stream, std::int64_t bytes);
  void copy_out(streams::Stream stream, std::int64_t bytes);
  void synchronize() { streams::Issuer(recording_).synchronize_device(); }
  void synchronize(streams::Stream stream) { streams::Issuer(recording_).synchronize(stream); }

  /// Until the host has seen that all is done.
  double seconds(const simulator::DeviceProfile& device) const { return simulated(device).seconds; }
  /// From the issue of the stream's first operation to the end of its last.
  double seconds(const simulator::DeviceProfile& device, streams::Stream stream) const;

 private:
  struct Kernel {
    std::size_t operation;
    std::int64_t blocks;
    double block_seconds;
  };
  simulator::Simulation simulated(const simulator::DeviceProfile& device) const;
  streams::Chunk chunk_of(std::int64_t bytes);

  streams::Recording recording_;
  std::vector<int> partitions_;
  std::vector<Kernel> kernels_;
  struct Place {
    int priority;
    int partition;
  };
  std::vector<Place> places_;  ///< by stream
};

}  // namespace scanlab::features
