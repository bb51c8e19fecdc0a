// The microbenchmarks of `scanlab calibrate`.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "harness/calibration/calibration.hpp"
#include "harness/schedule/issuer.hpp"

namespace scanlab::simulator {

namespace {

using Facts = nlohmann::ordered_json;
using streams::Chunk;
using streams::HostMemory;
using streams::Issuer;
using streams::Job;
using streams::Stream;

constexpr std::int64_t kKi = 1024;
constexpr std::int64_t kMi = kKi * kKi;
constexpr std::int64_t kFloat = 4;
constexpr std::int64_t kLargestCopy = 64 * kMi;  ///< bytes
constexpr std::int64_t kMaxKernelItems = std::int64_t{1} << 24;
constexpr std::int64_t kTiny = 1024;  ///< items of a kernel that only has to be there

/// Cuts the next so many items out of the job's arrays, and starts anew at their end.
using Cut = std::function<Chunk(std::int64_t items)>;
using Issue = std::function<void(Issuer&, const Cut&)>;

struct Collection {
  void add(std::string name, Facts facts, const Issue& issue, bool captured = false) {
    streams::Recording recording{.job = job, .captured = captured, .buffers = 1};
    Issuer issuer(recording);
    int pieces = 0;
    std::int64_t first = 0;
    issue(issuer, [&](std::int64_t items) {
      if (first + items > job.items) first = 0;
      recording.buffer_items = std::max(recording.buffer_items, items);
      const Chunk piece{.index = pieces++, .first = first, .items = items, .buffer = 0};
      first += items;
      return piece;
    });
    recording.job.chunks = std::max(job.chunks, pieces);
    all.push_back({std::move(name), std::move(facts), std::move(recording)});
  }

  Job job;  ///< of the experiments that follow: what their arrays hold, and what their kernels compute
  std::vector<Microbenchmark> all;
};

Job job_of(const std::string& workload, std::int64_t items, int work, HostMemory memory = HostMemory::pinned) {
  return {
      .workload = streams::WorkloadRegistry::instance().find(workload), .items = items, .memory = memory, .work = work};
}

void copy(Issuer& issuer, bool in, const Chunk& piece, Stream stream) {
  in ? issuer.copy_in(piece, stream) : issuer.copy_out(piece, stream);
}

/// How often a copy of so many bytes: enough for a median, in a few milliseconds.
int times(std::int64_t bytes) { return static_cast<int>(std::clamp<std::int64_t>(2 * kLargestCopy / bytes, 4, 16)); }

Facts one_way(const char* kind, bool in) { return {{"kind", kind}, {"way", in ? "copy_in" : "copy_out"}}; }

/// Adds rows of copies one way, of several sizes each.
void add_copies(Collection& all, const std::string& name, const char* kind, bool synchronous) {
  const bool alone = name == "copies";
  for (const std::int64_t bytes : {64 * kKi, 256 * kKi, kMi, 4 * kMi, 16 * kMi, kLargestCopy}) {
    if (!alone && bytes == 256 * kKi) continue;
    for (const bool in : {true, false}) {
      Facts facts = one_way(kind, in);
      facts["bytes"] = bytes;
      all.add(fmt::format("{}_{}/bytes:{}", name, in ? "in" : "out", bytes), facts,
              [=](Issuer& issuer, const Cut& cut) {
                const Stream stream = synchronous ? streams::kLegacyDefault : issuer.create_stream();
                for (int i = 0; i < (alone ? times(bytes) : 4); ++i) {
                  const Chunk piece = cut(bytes / kFloat);
                  if (!synchronous) copy(issuer, in, piece, stream);
                  if (synchronous) in ? issuer.copy_in_now(piece) : issuer.copy_out_now(piece);
                }
              });
    }
  }
}

void add_copies_in_streams(Collection& all, int streams, bool in) {
  Facts facts = one_way("copies_in_streams", in);
  facts["streams"] = streams;
  all.add(fmt::format("copies_{}_streams:{}", in ? "in" : "out", streams), facts, [=](Issuer& issuer, const Cut& cut) {
    const std::vector<Stream> several = issuer.create_streams(streams);
    for (int i = 0; i < 64; ++i) copy(issuer, in, cut(kMi / kFloat), several[static_cast<std::size_t>(i % streams)]);
  });
}

void add_copies_both_ways(Collection& all) {
  for (const std::int64_t bytes : {kMi, 4 * kMi, 16 * kMi, kLargestCopy}) {
    for (const int streams : {1, 4}) {
      if (streams > 1 && bytes == kLargestCopy) continue;
      all.add(fmt::format("both_ways/streams:{}/bytes:{}", streams, bytes),
              {{"kind", "copies_both_ways"}, {"bytes", bytes}, {"streams", streams}},
              [=](Issuer& issuer, const Cut& cut) {
                const std::vector<Stream> in = issuer.create_streams(streams);
                const std::vector<Stream> out = issuer.create_streams(streams);
                for (int i = 0; i < times(bytes); ++i) {
                  const auto which = static_cast<std::size_t>(i % streams);
                  issuer.copy_in(cut(bytes / kFloat), in[which]);
                  issuer.copy_out(cut(bytes / kFloat), out[which]);
                }
              });
    }
  }
}

/// Adds operations one behind the other in one stream, or by events from stream to stream. A long copy comes first, so
/// that all is issued before the chain begins.
void add_chains(Collection& all) {
  constexpr int kLinks = 12;
  const auto gate = [](Issuer& issuer, const Cut& cut, Stream stream) {
    issuer.copy_in(cut(kLargestCopy / kFloat), stream);
  };
  const auto hand_over = [](Issuer& issuer, Stream from, Stream to) {
    if (from == to) return;
    const streams::Event event = issuer.create_event();
    issuer.record(event, from);
    issuer.wait(to, event);
  };
  all.add("chain/kernels", {{"kind", "kernel_chain"}}, [=](Issuer& issuer, const Cut& cut) {
    const Stream stream = issuer.create_stream();
    gate(issuer, cut, stream);
    for (int i = 0; i < 2 * kLinks; ++i) issuer.compute(cut(kTiny), stream);
  });
  for (const std::int64_t bytes : {64 * kKi, kMi}) {
    for (const bool by_events : {false, true}) {
      all.add(fmt::format("chain/in_kernel_out{}/bytes:{}", by_events ? "_by_events" : "", bytes),
              {{"kind", by_events ? "chain_by_events" : "chain"}, {"bytes", bytes}},
              [=](Issuer& issuer, const Cut& cut) {
                const std::vector<Stream> created = issuer.create_streams(by_events ? 3 : 1);
                const Stream in = created.front(), kernel = created[created.size() / 2], out = created.back();
                gate(issuer, cut, in);
                for (int i = 0; i < kLinks; ++i) {
                  const Chunk piece = cut(bytes / kFloat);
                  issuer.copy_in(piece, in);
                  hand_over(issuer, in, kernel);
                  issuer.compute(piece, kernel);
                  hand_over(issuer, kernel, out);
                  issuer.copy_out(piece, out);
                  hand_over(issuer, out, in);
                }
              });
    }
  }
  // While long copies in run: what a busy bus does to a hand-over.
  for (const std::int64_t bytes : {kMi, 4 * kMi}) {
    all.add(fmt::format("under_load/kernel_out/streams:1/bytes:{}", bytes),
            {{"kind", "chain_under_load"}, {"bytes", bytes}}, [=](Issuer& issuer, const Cut& cut) {
              const Stream load = issuer.create_stream();
              const Stream chain = issuer.create_stream();
              for (int i = 0; i < 3; ++i) issuer.copy_in(cut(kLargestCopy / kFloat), load);
              for (int i = 0; i < 16; ++i) {
                const Chunk piece = cut(bytes / kFloat);
                issuer.compute(piece, chain);
                issuer.copy_out(piece, chain);
              }
            });
  }
}

/// Adds the experiments that measure the host's time per call, and per launch and node of a graph.
void add_calls(Collection& all) {
  all.add("calls/kernels", {{"kind", "kernel_calls"}}, [](Issuer& issuer, const Cut& cut) {
    const std::vector<Stream> four = issuer.create_streams(4);
    for (unsigned i = 0; i < 64; ++i) issuer.compute(cut(kTiny), four[i % 4]);
  });
  all.add("calls/events", {{"kind", "event_calls"}}, [](Issuer& issuer, const Cut& cut) {
    const std::vector<Stream> two = issuer.create_streams(2);
    issuer.copy_in(cut(kLargestCopy / kFloat), two[0]);
    for (int i = 0; i < 32; ++i) {
      const streams::Event event = issuer.create_event();
      issuer.record(event, two[0]);
      issuer.wait(two[1], event);
    }
  });
  for (const int nodes : {4, 128}) {
    all.add(
        fmt::format("graph/kernels:{}", nodes), {{"kind", "graphs"}, {"kernels", nodes}},
        [=](Issuer& issuer, const Cut& cut) {
          const Stream stream = issuer.create_stream();
          for (int i = 0; i < nodes; ++i) issuer.compute(cut(kTiny), stream);
        },
        /*captured=*/true);
  }
}

/// Adds kernels each behind the copy in of its items, as everywhere: the copy leaves them in the cache as far as it
/// holds them. Nothing runs beside them. A kernel of an ordered workload has as many launches as its size asks for:
/// records of one size are distinguished.
void add_kernels(Collection& all, const streams::Workload& workload) {
  const std::string name = fmt::format("kernels/workload:{}/work:{}", workload.about.id, all.job.work);
  std::vector<std::int64_t> sizes{1 << 10, 1 << 12, 1 << 14};
  for (std::int64_t items = 1 << 16; items <= kMaxKernelItems; items *= 2) sizes.push_back(items);
  const auto rounds = [](const std::vector<std::int64_t>& several) {
    return [several](Issuer& issuer, const Cut& cut) {
      const Stream stream = issuer.create_stream();
      for (int round = 0; round < 3; ++round) {
        for (const std::int64_t items : several) {
          const Chunk piece = cut(items);
          issuer.copy_in(piece, stream);
          issuer.compute(piece, stream);
        }
      }
    };
  };
  if (!workload.about.ordered) return all.add(name, {{"kind", "kernels"}}, rounds(sizes));
  for (const std::int64_t items : sizes) {
    all.add(fmt::format("{}/items:{}", name, items), {{"kind", "kernels"}, {"items", items}}, rounds({items}));
  }
}

/// Adds kernels beside each other: of a few blocks, and of as many as the device holds, where one begins as another
/// ends.
void add_kernels_side_by_side(Collection& all, const streams::Workload& workload) {
  for (const std::int64_t items : {1 << 16, 1 << 18, 1 << 19, 1 << 22}) {
    for (const unsigned streams : {2u, 4u}) {
      all.add(fmt::format("side_by_side/workload:{}/work:{}/streams:{}/items:{}", workload.about.id, all.job.work,
                          streams, items),
              {{"kind", "kernels_side_by_side"}, {"streams", streams}, {"items", items}},
              [=](Issuer& issuer, const Cut& cut) {
                const std::vector<Stream> several = issuer.create_streams(static_cast<int>(streams));
                for (unsigned i = 0; i < 4 * streams; ++i) issuer.compute(cut(items), several[i % streams]);
              });
    }
  }
}

}  // namespace

std::vector<Microbenchmark> calibration_experiments(const std::vector<int>& works) {
  constexpr std::int64_t kItems = 2 * kLargestCopy / kFloat;
  Collection all{.job = job_of("scale", kItems, 1), .all = {}};
  add_copies(all, "copies", "copies", false);
  add_copies_in_streams(all, 4, true);  // of 4 only the calls count, which cost as much either way
  for (const bool in : {true, false}) add_copies_in_streams(all, 32, in);  // some share a hardware work queue
  add_copies_both_ways(all);
  add_copies(all, "pinned_synchronous", "copies_synchronous", true);
  add_chains(all);
  add_calls(all);
  all.job = job_of("scale", kItems, 1, HostMemory::pageable);
  add_copies(all, "pageable", "copies_pageable", false);
  for (const auto& [id, workload] : streams::WorkloadRegistry::instance().all()) {
    const bool heeds_work = !workload.about.ordered;
    for (const int work : heeds_work ? works : std::vector<int>{1}) {
      all.job = job_of(id, kMaxKernelItems, work);
      add_kernels(all, workload);
      if (heeds_work) add_kernels_side_by_side(all, workload);
    }
  }
  return std::move(all.all);
}

}  // namespace scanlab::simulator
