#include "harness/calibration/calibration_experiments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "harness/schedule/issuer.hpp"

namespace scanlab::simulator {

namespace {

using streams::Chunk;
using streams::Issuer;
using streams::Job;
using streams::Operation;
using streams::OperationKind;
using streams::Recording;
using streams::Stream;
using Kind = ExperimentKind;

constexpr std::int64_t kKi = 1024;
constexpr std::int64_t kMi = kKi * kKi;
constexpr std::int64_t kFloat = 4;
constexpr std::int64_t kLargestCopy = 64 * kMi;  ///< bytes

/// Cuts pieces of any size out of a job's arrays, one behind the other, and starts anew at the end.
class Pieces {
 public:
  explicit Pieces(const Job& job) : items_(job.items) {}
  Chunk next(std::int64_t items) {
    if (first_ + items > items_) first_ = 0;
    const Chunk piece{.index = index_++, .first = first_, .items = items, .buffer = 0};
    first_ += items;
    return piece;
  }

 private:
  std::int64_t items_;
  std::int64_t first_ = 0;
  int index_ = 0;
};

using Issue = std::function<void(Issuer&, Pieces&)>;

Recording compose(Job job, const Issue& issue, bool captured) {
  Recording recording{.job = job, .captured = captured};
  Issuer issuer(recording);
  Pieces pieces(job);
  issue(issuer, pieces);
  recording.buffers = 1;
  for (const Operation& operation : recording.operations) {
    recording.buffer_items = std::max(recording.buffer_items, operation.chunk.items);
    recording.job.chunks = std::max(recording.job.chunks, operation.chunk.index + 1);
  }
  return recording;
}

class Collection {
 public:
  /// Experiments that follow have this job: what their arrays hold, and what their kernels compute.
  void use(const Job& job) { job_ = job; }
  void add(Microbenchmark experiment, const Issue& issue, bool captured = false) {
    experiment.recording = compose(job_, issue, captured);
    all_.push_back(std::move(experiment));
  }
  std::vector<Microbenchmark> take() { return std::move(all_); }

 private:
  Job job_;
  std::vector<Microbenchmark> all_;
};

Job job_of(const char* workload, std::int64_t items, int work, streams::HostMemory memory) {
  return {
      .workload = streams::WorkloadRegistry::instance().find(workload), .items = items, .memory = memory, .work = work};
}

constexpr OperationKind kWays[] = {OperationKind::copy_in, OperationKind::copy_out};
const char* way_name(OperationKind way) { return way == OperationKind::copy_in ? "in" : "out"; }

void copy(Issuer& issuer, OperationKind way, const Chunk& piece, Stream stream) {
  way == OperationKind::copy_in ? issuer.copy_in(piece, stream) : issuer.copy_out(piece, stream);
}

/// How often a copy of so many bytes: enough for a median, in a few milliseconds.
int times(std::int64_t bytes) { return static_cast<int>(std::clamp<std::int64_t>(2 * kLargestCopy / bytes, 4, 16)); }

// ------------------------------------------------------------------------------------------------ copies alone

void add_copies(Collection& all) {
  for (const std::int64_t bytes : {64 * kKi, 256 * kKi, kMi, 4 * kMi, 16 * kMi, kLargestCopy}) {
    for (const OperationKind way : kWays) {
      all.add({.name = fmt::format("copies_{}/bytes:{}", way_name(way), bytes),
               .kind = Kind::copies,
               .way = way,
               .bytes = bytes},
              [=](Issuer& issuer, Pieces& pieces) {
                const Stream stream = issuer.create_stream();
                for (int i = 0; i < times(bytes); ++i) copy(issuer, way, pieces.next(bytes / kFloat), stream);
              });
    }
  }
  for (const unsigned streams : {4u, 32u}) {  // of 32, some share a hardware queue
    for (const OperationKind way : kWays) {
      if (streams == 4 && way == OperationKind::copy_out)
        continue;  // of 4 only the calls count, which cost as much either way
      all.add({.name = fmt::format("copies_{}_streams:{}", way_name(way), streams),
               .kind = Kind::copies_in_streams,
               .way = way,
               .streams = static_cast<int>(streams)},
              [=](Issuer& issuer, Pieces& pieces) {
                const std::vector<Stream> several = issuer.create_streams(static_cast<int>(streams));
                for (unsigned i = 0; i < 64; ++i) copy(issuer, way, pieces.next(kMi / kFloat), several[i % streams]);
              });
    }
  }
}

void add_copies_both_ways(Collection& all) {
  for (const std::int64_t bytes : {kMi, 4 * kMi, 16 * kMi, kLargestCopy}) {
    for (const int streams : {1, 4}) {
      if (streams > 1 && bytes == kLargestCopy) continue;
      all.add({.name = fmt::format("both_ways/streams:{}/bytes:{}", streams, bytes),
               .kind = Kind::copies_both_ways,
               .bytes = bytes,
               .streams = streams},
              [=](Issuer& issuer, Pieces& pieces) {
                const std::vector<Stream> in = issuer.create_streams(streams);
                const std::vector<Stream> out = issuer.create_streams(streams);
                for (int i = 0; i < times(bytes); ++i) {
                  const auto which = static_cast<std::size_t>(i % streams);
                  issuer.copy_in(pieces.next(bytes / kFloat), in[which]);
                  issuer.copy_out(pieces.next(bytes / kFloat), out[which]);
                }
              });
    }
  }
}

void add_synchronous_copies(Collection& all) {
  for (const std::int64_t bytes : {64 * kKi, kMi, 4 * kMi, 16 * kMi, kLargestCopy}) {
    for (const OperationKind way : kWays) {
      all.add({.name = fmt::format("pinned_synchronous_{}/bytes:{}", way_name(way), bytes),
               .kind = Kind::copies_synchronous,
               .way = way,
               .bytes = bytes},
              [=](Issuer& issuer, Pieces& pieces) {
                for (int i = 0; i < 4; ++i) {
                  const Chunk piece = pieces.next(bytes / kFloat);
                  way == OperationKind::copy_in ? issuer.copy_in_now(piece) : issuer.copy_out_now(piece);
                }
              });
    }
  }
}

void add_pageable_copies(Collection& all) {
  for (const std::int64_t bytes : {64 * kKi, kMi, 4 * kMi, 16 * kMi, kLargestCopy}) {
    for (const OperationKind way : kWays) {
      all.add({.name = fmt::format("pageable_{}/bytes:{}", way_name(way), bytes),
               .kind = Kind::copies_pageable,
               .way = way,
               .bytes = bytes},
              [=](Issuer& issuer, Pieces& pieces) {
                const Stream stream = issuer.create_stream();
                for (int i = 0; i < 4; ++i) copy(issuer, way, pieces.next(bytes / kFloat), stream);
              });
    }
  }
}

// --------------------------------------------------------------------------------------------------- hand-overs

constexpr std::int64_t kTiny = 1024;  ///< items of a kernel that only has to be there
constexpr int kLinks = 12;            ///< of a chain

/// One behind the other in one stream, or by events from stream to stream. Behind a long copy, so that all is issued
/// before the chain begins.
void add_chains(Collection& all) {
  const auto gate = [](Issuer& issuer, Pieces& pieces, Stream stream) {
    issuer.copy_in(pieces.next(kLargestCopy / kFloat), stream);
  };
  const auto hand_over = [](Issuer& issuer, Stream from, Stream to) {
    const streams::Event event = issuer.create_event();
    issuer.record(event, from);
    issuer.wait(to, event);
  };
  all.add({.name = "chain/kernels", .kind = Kind::kernel_chain}, [=](Issuer& issuer, Pieces& pieces) {
    const Stream stream = issuer.create_stream();
    gate(issuer, pieces, stream);
    for (int i = 0; i < 2 * kLinks; ++i) issuer.compute(pieces.next(kTiny), stream);
  });
  for (const std::int64_t bytes : {64 * kKi, kMi}) {
    all.add({.name = fmt::format("chain/in_kernel_out/bytes:{}", bytes), .kind = Kind::chain, .bytes = bytes},
            [=](Issuer& issuer, Pieces& pieces) {
              const Stream stream = issuer.create_stream();
              gate(issuer, pieces, stream);
              for (int i = 0; i < kLinks; ++i) {
                const Chunk piece = pieces.next(bytes / kFloat);
                issuer.copy_in(piece, stream);
                issuer.compute(piece, stream);
                issuer.copy_out(piece, stream);
              }
            });
    all.add({.name = fmt::format("chain/in_kernel_out_by_events/bytes:{}", bytes),
             .kind = Kind::chain_by_events,
             .bytes = bytes},
            [=](Issuer& issuer, Pieces& pieces) {
              const std::vector<Stream> three = issuer.create_streams(3);
              gate(issuer, pieces, three[0]);
              for (int i = 0; i < kLinks; ++i) {
                const Chunk piece = pieces.next(bytes / kFloat);
                issuer.copy_in(piece, three[0]);
                hand_over(issuer, three[0], three[1]);
                issuer.compute(piece, three[1]);
                hand_over(issuer, three[1], three[2]);
                issuer.copy_out(piece, three[2]);
                hand_over(issuer, three[2], three[0]);
              }
            });
  }
}

/// While long copies in run: what a busy bus does to a hand-over.
void add_chains_under_load(Collection& all) {
  for (const std::int64_t bytes : {kMi, 4 * kMi}) {
    all.add({.name = fmt::format("under_load/kernel_out/streams:1/bytes:{}", bytes),
             .kind = Kind::chain_under_load,
             .bytes = bytes},
            [=](Issuer& issuer, Pieces& pieces) {
              const Stream load = issuer.create_stream();
              const Stream chain = issuer.create_stream();
              for (int i = 0; i < 3; ++i) issuer.copy_in(pieces.next(kLargestCopy / kFloat), load);
              for (int i = 0; i < 16; ++i) {
                const Chunk piece = pieces.next(bytes / kFloat);
                issuer.compute(piece, chain);
                issuer.copy_out(piece, chain);
              }
            });
  }
}

// -------------------------------------------------------------------------------------------------------- calls

/// Adds the experiments that measure the host's time per call.
void add_calls(Collection& all) {
  all.add({.name = "calls/kernels", .kind = Kind::kernel_calls}, [](Issuer& issuer, Pieces& pieces) {
    const std::vector<Stream> four = issuer.create_streams(4);
    for (unsigned i = 0; i < 64; ++i) issuer.compute(pieces.next(kTiny), four[i % 4]);
  });
  all.add({.name = "calls/events", .kind = Kind::event_calls}, [](Issuer& issuer, Pieces& pieces) {
    const std::vector<Stream> two = issuer.create_streams(2);
    issuer.copy_in(pieces.next(kLargestCopy / kFloat), two[0]);
    for (int i = 0; i < 32; ++i) {
      const streams::Event event = issuer.create_event();
      issuer.record(event, two[0]);
      issuer.wait(two[1], event);
    }
  });
}

/// Launched as one: what the launch costs the host, and each node.
void add_graphs(Collection& all) {
  for (const int nodes : {4, 128}) {
    all.add(
        {.name = fmt::format("graph/kernels:{}", nodes), .kind = Kind::graphs, .kernels = nodes},
        [=](Issuer& issuer, Pieces& pieces) {
          const Stream stream = issuer.create_stream();
          for (int i = 0; i < nodes; ++i) issuer.compute(pieces.next(kTiny), stream);
        },
        /*captured=*/true);
  }
}

// ------------------------------------------------------------------------------------------------------ kernels

constexpr std::int64_t kMaxKernelItems = std::int64_t{1} << 24;

std::vector<std::int64_t> kernel_sizes() {
  std::vector<std::int64_t> sizes{1 << 10, 1 << 12, 1 << 14};
  for (std::int64_t items = 1 << 16; items <= kMaxKernelItems; items *= 2) sizes.push_back(items);
  return sizes;
}

/// Each kernel behind the copy in of its items, as everywhere: the copy leaves them in the cache as far as it holds
/// them. Nothing beside them.
void add_kernels(Collection& all, const streams::Workload& workload, int work) {
  constexpr int kRounds = 3;
  const std::string name = fmt::format("kernels/workload:{}/work:{}", workload.about.id, work);
  const auto in_and_compute = [](Issuer& issuer, const Chunk& piece, Stream stream) {
    issuer.copy_in(piece, stream);
    issuer.compute(piece, stream);
  };
  if (workload.about
          .ordered) {  // of as many launches a kernel as its size asks for: records of one size are told apart
    for (const std::int64_t items : kernel_sizes()) {
      all.add({.name = fmt::format("{}/items:{}", name, items), .kind = Kind::kernels, .items = items},
              [=](Issuer& issuer, Pieces& pieces) {
                const Stream stream = issuer.create_stream();
                for (int i = 0; i < kRounds; ++i) in_and_compute(issuer, pieces.next(items), stream);
              });
    }
    return;
  }
  all.add({.name = name, .kind = Kind::kernels}, [=](Issuer& issuer, Pieces& pieces) {
    const Stream stream = issuer.create_stream();
    for (int round = 0; round < kRounds; ++round) {
      for (const std::int64_t items : kernel_sizes()) in_and_compute(issuer, pieces.next(items), stream);
    }
  });
}

/// Kernels beside each other: of a few blocks, and of as many as the device holds, where one begins as another ends.
void add_kernels_side_by_side(Collection& all, const streams::Workload& workload, int work) {
  for (const std::int64_t items : {1 << 16, 1 << 18, 1 << 19, 1 << 22}) {
    for (const unsigned streams : {2u, 4u}) {
      all.add({.name = fmt::format("side_by_side/workload:{}/work:{}/streams:{}/items:{}", workload.about.id, work,
                                   streams, items),
               .kind = Kind::kernels_side_by_side,
               .streams = static_cast<int>(streams),
               .items = items},
              [=](Issuer& issuer, Pieces& pieces) {
                const std::vector<Stream> several = issuer.create_streams(static_cast<int>(streams));
                for (unsigned i = 0; i < 4 * streams; ++i) issuer.compute(pieces.next(items), several[i % streams]);
              });
    }
  }
}

}  // namespace

const char* name(ExperimentKind kind) {
  static constexpr std::array kNames{
      "copies",  "copies_in_streams",   "copies_both_ways", "copies_synchronous", "copies_pageable", "kernel_chain",
      "chain",   "chain_by_events",     "chain_under_load", "kernel_calls",       "event_calls",     "graphs",
      "kernels", "kernels_side_by_side"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::vector<Microbenchmark> calibration_experiments(const std::vector<int>& works) {
  using streams::HostMemory;
  Collection all;
  constexpr std::int64_t kItems = 2 * kLargestCopy / kFloat;
  all.use(job_of("scale", kItems, 1, HostMemory::pinned));
  add_copies(all);
  add_copies_both_ways(all);
  add_synchronous_copies(all);
  add_chains(all);
  add_chains_under_load(all);
  add_calls(all);
  add_graphs(all);
  all.use(job_of("scale", kItems, 1, HostMemory::pageable));
  add_pageable_copies(all);
  for (const auto& [id, workload] : streams::WorkloadRegistry::instance().all()) {
    const bool heeds_work = !workload.about.ordered;
    for (const int work : heeds_work ? works : std::vector<int>{1}) {
      all.use(job_of(id.c_str(), kMaxKernelItems, work, HostMemory::pinned));
      add_kernels(all, workload, work);
      if (heeds_work) add_kernels_side_by_side(all, workload, work);
    }
  }
  return all.take();
}

}  // namespace scanlab::simulator
