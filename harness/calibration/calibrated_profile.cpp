// Derives a profile from the times of the microbenchmarks, figure by figure.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "harness/calibration/measurements.hpp"
#include "harness/core/median.hpp"
#include "harness/simulator/device_profile.hpp"

namespace scanlab::simulator {

namespace {

using Json = nlohmann::ordered_json;
using streams::Operation;
using streams::OperationKind;
using streams::TimedReplay;
using Kind = ExperimentKind;

constexpr double kMicro = 1e-6;

class Derivation {
 public:
  explicit Derivation(const Calibration& calibration) : calibration_(calibration) {
    const Json& context = calibration.context;
    source_ =
        fmt::format("measured by scanlab calibrate on one {}, driver {}, {}", calibration.limits.name,
                    context.value("driver", "unknown"), context.value("date", "at an unknown time").substr(0, 10));
  }

  Json profile(const std::string& name) {
    copies();
    calls();
    hand_overs();
    double bytes_per_second = 0;
    put("kernel_times", kernel_times(calibration_, bytes_per_second),
        "kernels behind the copy of their items, nothing beside them");
    put_rate("device_gb_per_s", bytes_per_second, "the fastest kernel, bytes read and written");
    limits();
    Json profile{{"schema", "scanlab-device/1"},
                 {"name", name},
                 {"title", fmt::format("{} (compute capability {}), calibrated", calibration_.limits.name,
                                       calibration_.limits.compute_capability)}};
    profile["figures"] = figures_;
    return profile;
  }

 private:
  // ------------------------------------------------------------------------------------------- what was measured

  Experiments copies(Kind kind, OperationKind way) const { return all_of(calibration_, {.kind = kind, .way = way}); }
  Experiments both_ways_in_streams(int streams) const {
    return all_of(calibration_, {.kind = Kind::copies_both_ways, .streams = streams});
  }
  const MeasuredExperiment& in_streams(OperationKind way, int streams) const {
    return one_of(calibration_, {.kind = Kind::copies_in_streams, .way = way, .streams = streams});
  }

  // ------------------------------------------------------------------------------------------------------ figures

  void put(const std::string& key, const Json& value, const std::string& how) {
    figures_[key] = {{"value", value}, {"source", fmt::format("{}: {}", source_, how)}};
  }
  void put_us(const char* key, double seconds, const std::string& how) {
    put(key, std::round(std::max(0.0, seconds) / kMicro * 1e3) / 1e3,
        seconds < 0 ? how + "; it came out as less than nothing" : how);
  }
  void put_rate(const std::string& key, double bytes_a_second, const std::string& how) {
    put(key, std::round(bytes_a_second / 1e9 * 1e3) / 1e3, how);
  }
  void put_known(const std::string& key, const Json& value, const std::string& source) {
    figures_[key] = {{"value", value}, {"source", source}};
  }

  /// Bytes a second between the two largest sizes: what a copy takes whatever its size is in both.
  static double rate(const Experiments& sizes, OperationKind kind) {
    const MeasuredExperiment& large = *sizes[sizes.size() - 1];
    const MeasuredExperiment& smaller = *sizes[sizes.size() - 2];
    return (bytes(large) - bytes(smaller)) / (device_seconds(large, kind) - device_seconds(smaller, kind));
  }

  /// Seconds that each copy took beyond its bytes, in a row of copies that began and ended within `around` seconds of
  /// host time: the median over sizes up to 4 MiB, where it shows.
  static double latency(const Experiments& sizes, OperationKind kind, double rate, double around) {
    constexpr double kMax = 4 << 20;
    std::vector<double> all;
    for (const MeasuredExperiment* each : sizes) {
      if (bytes(*each) > kMax) continue;
      const auto copies = static_cast<double>(count(*each, kind));
      all.push_back((plain_seconds(*each) - around) / copies - bytes(*each) / rate);
    }
    return median(all);
  }

  void copies() {
    const auto in = copies(Kind::copies, OperationKind::copy_in);
    const auto out = copies(Kind::copies, OperationKind::copy_out);
    alone_ = {rate(in, OperationKind::copy_in), rate(out, OperationKind::copy_out)};
    copy_call_ = call_seconds(in_streams(OperationKind::copy_in, 4), OperationKind::copy_in, 1);
    find_host_wait();
    const double around = copy_call_ + host_wait_;
    copy_latency_ = {latency(in, OperationKind::copy_in, alone_.in, around),
                     latency(out, OperationKind::copy_out, alone_.out, around)};

    const bool both_ways = copy_engines();
    put_rate("copy_in_gb_per_s", alone_.in, "by how much longer 64 MiB take than 16");
    put_rate("copy_out_gb_per_s", alone_.out, "by how much longer 64 MiB take than 16");
    put_us("copy_latency_us", copy_latency_.in, "what a row of copies in takes beyond its bytes, a copy");
    put_us("copy_latency_out_us", copy_latency_.out, "the same of copies out");
    put_traced("traced_in_us", in, OperationKind::copy_in, alone_.in, copy_latency_.in);
    put_traced("traced_out_us", out, OperationKind::copy_out, alone_.out, copy_latency_.out);
    both_ways ? copies_both_ways(around) : copies_one_way_at_a_time();

    const auto pageable_rate = [&](OperationKind kind) {
      const MeasuredExperiment& large = *copies(Kind::copies_pageable, kind).back();
      return bytes(large) / call_seconds(large, kind);
    };
    put_rate("pageable_in_gb_per_s", pageable_rate(OperationKind::copy_in), "calls of 64 MiB");
    put_rate("pageable_out_gb_per_s", pageable_rate(OperationKind::copy_out), "calls of 64 MiB");
  }

  /// By how many copies ran at once: of one way, so many engines serve it; of both ways fewer than of each together, so
  /// many engines fewer there are, since they serve both. Returns whether copies both ways run at once.
  bool copy_engines() {
    const std::size_t in = at_once(in_streams(OperationKind::copy_in, 32));
    const std::size_t out = at_once(in_streams(OperationKind::copy_out, 32));
    std::size_t engines = std::max(in, out);
    for (const MeasuredExperiment* each : both_ways_in_streams(4)) engines = std::max(engines, at_once(*each));
    engines = std::min(engines, in + out);
    Json all = Json::array();
    for (std::size_t i = 0; i < in + out - engines; ++i) all.push_back(Json::array({"in", "out"}));
    for (std::size_t i = 0; i < engines - out; ++i) all.push_back(Json::array({"in"}));
    for (std::size_t i = 0; i < engines - in; ++i) all.push_back(Json::array({"out"}));
    const std::string said = calibration_.context.value("copy_engines", "");
    put("copy_engines", all,
        fmt::format("copies that ran at once for a tenth of the time at least: {} in, {} out, {} both ways{}", in, out,
                    engines, said.empty() ? "" : "; asyncEngineCount is " + said));
    return engines > 1;
  }

  /// `around`: seconds of the host before and after a row of copies.
  void copies_both_ways(double around) {
    const auto sizes = both_ways_in_streams(1);
    const EachWay both{put_rate_both("in", sizes, OperationKind::copy_in, alone_.in),
                       put_rate_both("out", sizes, OperationKind::copy_out, alone_.out)};
    // Short copies both ways fall into step, and each begins as the other does; longer ones begin while the other
    // flows.
    const Experiments short_ones{sizes[0]};
    const Experiments longer{sizes[1]};
    put_us("copy_latency_in_step_in_us", latency(short_ones, OperationKind::copy_in, both.in, around),
           "what a row of copies of 1 MiB both ways takes beyond its bytes, a copy");
    put_us("copy_latency_in_step_out_us", latency(short_ones, OperationKind::copy_out, both.out, around),
           "what a row of copies of 1 MiB both ways takes beyond its bytes, a copy");
    const bool out_is_slower = both.out <= both.in;  // and says when both are done
    const double slower = latency(longer, out_is_slower ? OperationKind::copy_out : OperationKind::copy_in,
                                  std::min(both.in, both.out), around);
    put_us(out_is_slower ? "copy_latency_both_out_us" : "copy_latency_both_in_us", slower,
           "the same of the slower way in a row of copies of 4 MiB both ways");
    put_traced("traced_both_in_us", longer, OperationKind::copy_in, both.in, out_is_slower ? copy_latency_.in : slower);
    put_traced("traced_both_out_us", longer, OperationKind::copy_out, both.out,
               out_is_slower ? slower : copy_latency_.out);
  }

  /// What is copied the other way makes no copy faster: more than the rate alone is noise.
  double put_rate_both(const char* way, const Experiments& sizes, OperationKind kind, double alone) {
    const double both = rate_both(sizes, kind);
    put_rate(fmt::format("both_{}_gb_per_s", way), std::min(both, alone),
             both <= alone ? "what 64 MiB take while copies run the other way"
                           : "as alone, since 64 MiB took no longer while copies ran the other way");
    return std::min(both, alone);
  }

  /// What copies both ways at once take is left out, but for what a profile must have.
  void copies_one_way_at_a_time() {
    for (const char* way : {"in", "out"}) {
      const std::string alone = fmt::format("copy_{}_gb_per_s", way);
      put_known(fmt::format("both_{}_gb_per_s", way), Json(figures_.at(alone).at("value")),
                fmt::format("assumed to be {}, because copies both ways never ran at once", alone));
    }
  }

  /// Bytes a second of the largest copies while the other way is busy all the time. By these alone: what two sizes
  /// differ by has the disturbances of both.
  static double rate_both(const Experiments& sizes, OperationKind kind) {
    const MeasuredExperiment& large = *sizes.back();
    const auto same_way = [&](const streams::Span& span) {
      return large.experiment.recording.operations[span.operation].kind == kind;
    };
    std::vector<double> all;
    for (const TimedReplay& replay : large.replays.traced) {
      double other_end = 0;
      for (const streams::Span& span : replay.timeline.spans) {
        if (!same_way(span)) other_end = std::max(other_end, span.when.end);
      }
      for (const streams::Span& span : replay.timeline.spans) {
        if (same_way(span) && span.when.end <= other_end) all.push_back(span.when.seconds());
      }
    }
    return bytes(large) / median(all);
  }

  /// From the end of one copy to that of the next of its way, beyond bytes and latency, while records are collected and
  /// the other way, if there is one, is busy.
  static std::vector<double> traced_seconds(const Experiments& sizes, OperationKind kind, double rate, double latency) {
    std::vector<double> beyond;
    for (const MeasuredExperiment* each : sizes) {
      const auto& operations = each->experiment.recording.operations;
      for (const TimedReplay& replay : each->replays.traced) {
        double other_end = std::numeric_limits<double>::infinity();
        const streams::Span* before = nullptr;
        for (const streams::Span& span : replay.timeline.spans) {
          if (operations[span.operation].kind != kind) other_end = span.when.end;
        }
        for (const streams::Span& span : replay.timeline.spans) {
          if (operations[span.operation].kind != kind) continue;
          if (before != nullptr && span.when.end <= other_end) {
            beyond.push_back(span.when.end - before->when.end - bytes(*each) / rate - latency);
          }
          before = &span;
        }
      }
    }
    return beyond;
  }

  void put_traced(const char* key, const Experiments& sizes, OperationKind kind, double rate, double latency) {
    const std::vector<double> beyond = traced_seconds(sizes, kind, rate, latency);
    if (!beyond.empty()) put_us(key, median(beyond), "what collection adds to a copy: traces have it in them");
  }

  /// What synchronous copies take beyond the device's own time and the call of an asynchronous one.
  void find_host_wait() {
    std::vector<double> beyond;
    for (const OperationKind kind : {OperationKind::copy_in, OperationKind::copy_out}) {
      for (const MeasuredExperiment* each : copies(Kind::copies_synchronous, kind)) {
        beyond.push_back(call_seconds(*each, kind) - device_seconds(*each, kind) - copy_call_);
      }
    }
    host_wait_ = median(beyond);
  }

  void calls() {
    const double kernel_call =
        call_seconds(one_of(calibration_, {.kind = Kind::kernel_calls}), OperationKind::kernel, 1);
    put_us("issue_us", kernel_call, "a call that launches a kernel");
    put_us("issue_copy_us", copy_call_, "a call of cudaMemcpyAsync");
    put_known("issue_synchronous_copy_us", Json(figures_.at("issue_copy_us").at("value")),
              "assumed to be issue_copy_us, because cudaMemcpy returns when the copy is done: of its time without the "
              "copy, host_wait_us has the rest");
    put_us("issue_kernel_us", kernel_call, "a call that launches a kernel");
    const MeasuredExperiment& events = one_of(calibration_, {.kind = Kind::event_calls});
    put_us("issue_record_us", call_seconds(events, OperationKind::record_event), "a call of cudaEventRecord");
    put_us("issue_wait_us", call_seconds(events, OperationKind::wait_event), "a call of cudaStreamWaitEvent");
    const auto launch = [&](int nodes) {
      return call_seconds(one_of(calibration_, {.kind = Kind::graphs, .kernels = nodes}), OperationKind::kernel);
    };
    const double node = (launch(128) - launch(4)) / (128 - 4);
    put_us("issue_graph_us", launch(4) - 4 * node, "a launch of a graph, but for its nodes");
    put_us("issue_graph_node_us", node, "by how much longer a launch of 128 nodes takes than one of 4");
    put_us("host_wait_us", host_wait_,
           "what cudaMemcpy takes beyond the copy and issue_synchronous_copy_us, which is assumed");
  }

  void hand_overs() {
    // Behind one long copy, which ends when all is issued: the rest is a chain.
    const MeasuredExperiment& gate = *copies(Kind::copies, OperationKind::copy_in).back();
    const double before =
        plain_seconds(gate) / static_cast<double>(count(gate, OperationKind::copy_in)) + copy_call_ + host_wait_;
    const MeasuredExperiment& kernels = one_of(calibration_, {.kind = Kind::kernel_chain});
    const auto links = static_cast<double>(count(kernels, OperationKind::kernel));
    const double kernel = device_seconds(kernels, OperationKind::kernel);
    const double kernel_latency = (plain_seconds(kernels) - before) / links - kernel;
    put_us("kernel_latency_us", kernel_latency, "a kernel of a row of short ones, but for its own time");

    put_us("hand_over_busy_us", busy_hand_over(),
           "half of what lies between two copies out with a kernel between them, while copies in run");

    std::vector<double> each;
    for (const Kind chain : {Kind::chain, Kind::chain_by_events}) {
      for (const MeasuredExperiment* size : all_of(calibration_, {.kind = chain})) {
        const auto n = static_cast<double>(count(*size, OperationKind::kernel));
        const double link = (plain_seconds(*size) - before) / n;
        const double copies =
            copy_latency_.in + copy_latency_.out + bytes(*size) / alone_.in + bytes(*size) / alone_.out;
        const double computed = device_seconds(*size, OperationKind::kernel) + kernel_latency;
        each.push_back((link - copies - computed) / 3);
      }
    }
    put_us("hand_over_us", median(each),
           "a third of what a chain of copy in, kernel, copy out takes beyond their own times");
  }

  /// From the end of a kernel to its copy out, and from that to the next kernel: half of both together.
  double busy_hand_over() const {
    std::vector<double> all;
    for (const MeasuredExperiment* each : all_of(calibration_, {.kind = Kind::chain_under_load})) {
      const auto& operations = each->experiment.recording.operations;
      const double kernel = device_seconds(*each, OperationKind::kernel);
      for (const TimedReplay& replay : each->replays.traced) {
        const streams::Span* before = nullptr;
        for (const streams::Span& span : replay.timeline.spans) {
          if (operations[span.operation].kind != OperationKind::copy_out) continue;
          if (before != nullptr) all.push_back((span.when.start - before->when.end - kernel) / 2);
          before = &span;
        }
      }
    }
    return median(all);
  }

  /// How many hardware queues the copies of one way were in, and whether the engine stayed with one.
  void queues() {
    std::size_t most = 0;
    bool drains = true;
    for (const OperationKind kind : {OperationKind::copy_in, OperationKind::copy_out}) {
      const MeasuredExperiment& measured = in_streams(kind, 32);
      const std::size_t engines = at_once(measured);
      for (const TimedReplay& replay : measured.replays.traced) {
        std::vector<const streams::Span*> by_start;
        for (const streams::Span& span : replay.timeline.spans) by_start.push_back(&span);
        std::ranges::sort(by_start, {}, [](const streams::Span* span) { return span->when.start; });
        std::set<unsigned> queues;
        std::size_t turns = 0;
        for (std::size_t i = 0; i < by_start.size(); ++i) {
          queues.insert(by_start[i]->channel.value_or(0));
          bool stays = i < engines;  // some engine was last with this queue
          for (std::size_t j = 1; j <= std::min(i, engines); ++j)
            stays |= by_start[i]->channel == by_start[i - j]->channel;
          if (!stays) ++turns;
        }
        most = std::max(most, queues.size());
        drains &= turns < 2 * queues.size();
      }
    }
    put("copy_queues", most, "hardware queues of copies in 32 streams");
    put("drains_queues", drains, "whether copies of 32 streams came queue by queue, not in the order of issue");
  }

  void limits() {
    queues();
    const DeviceLimits& limits = calibration_.limits;
    const char* const said_by_cuda = "from cudaDeviceProp of this device";
    put_known(
        "hardware_queues", 8,
        "assumed: 8 unless CUDA_DEVICE_MAX_CONNECTIONS says otherwise, 32 at most: NVIDIA, CUDA C++ Programming Guide");
    put_known("multiprocessors", limits.multiprocessors, said_by_cuda);
    put_known("resident_blocks", limits.resident_blocks, said_by_cuda);
    put_known("resident_threads", limits.resident_threads, said_by_cuda);
    put_known("resident_grids", 128,
              "assumed, of compute capability 7.0 and later: NVIDIA, CUDA C++ Programming Guide, table \"Technical "
              "Specifications per Compute Capability\"");
    put_known(
        "waits_for_started_launches", false,
        "assumed, since the rule is of compute capability 2.0 to 3.0: NVIDIA, CUDA C Programming Guide 5.0, Implicit "
        "Synchronization");
  }

  const Calibration& calibration_;
  std::string source_;
  Json figures_ = Json::object();
  EachWay alone_;
  EachWay copy_latency_;
  double copy_call_ = 0;
  double host_wait_ = 0;
};

}  // namespace

Json profile_of(const Calibration& calibration, const std::string& name) {
  Json profile = Derivation(calibration).profile(name);
  parse_device_profile(profile.dump(), "the calibrated profile");  // what a simulation would refuse is refused here
  return profile;
}

}  // namespace scanlab::simulator
