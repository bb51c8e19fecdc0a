// Derives a profile from the times of the microbenchmarks, figure by figure.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "harness/calibration/measurements.hpp"
#include "harness/core/median.hpp"
#include "harness/simulator/device_profile.hpp"

namespace scanlab::simulator {

namespace {

using Json = nlohmann::ordered_json;
using streams::OperationKind;
using streams::Span;
using streams::TimedReplay;

constexpr OperationKind kWays[] = {OperationKind::copy_in, OperationKind::copy_out};
const char* name_of(OperationKind way) { return way == OperationKind::copy_in ? "in" : "out"; }
double& part(EachWay& each, OperationKind way) { return way == OperationKind::copy_in ? each.in : each.out; }
double bytes(const MeasuredExperiment& measured) { return measured.experiment.bytes(); }

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
    return {{"schema", "scanlab-device/1"},
            {"name", name},
            {"title", fmt::format("{} (compute capability {}), calibrated", calibration_.limits.name,
                                  calibration_.limits.compute_capability)},
            {"figures", figures_}};
  }

 private:
  Experiments all(const std::string& beginning) const { return all_of(calibration_, beginning); }
  const MeasuredExperiment& only(const std::string& name) const { return one_of(calibration_, name); }
  Experiments copies(const char* kind, OperationKind way) const {
    return all(fmt::format("{}_{}/", kind, name_of(way)));
  }
  const MeasuredExperiment& in_32_streams(OperationKind way) const {
    return only(fmt::format("copies_{}_streams:32", name_of(way)));
  }

  void put(const std::string& key, const Json& value, const std::string& how) {
    put_known(key, value, fmt::format("{}: {}", source_, how));
  }
  void put_us(const std::string& key, double seconds, const std::string& how) {
    put(key, to_thousandths(std::max(0.0, seconds) / kMicro),
        seconds < 0 ? how + "; it came out as less than nothing" : how);
  }
  void put_rate(const std::string& key, double bytes_a_second, const std::string& how) {
    put(key, to_thousandths(bytes_a_second / 1e9), how);
  }
  void put_known(const std::string& key, const Json& value, const std::string& source) {
    figures_[key] = {{"value", value}, {"source", source}};
  }

  /// Bytes a second between the two largest sizes: what a copy takes whatever its size is in both.
  static double rate(const Experiments& sizes, OperationKind way) {
    const MeasuredExperiment& large = *sizes[sizes.size() - 1];
    const MeasuredExperiment& smaller = *sizes[sizes.size() - 2];
    return (bytes(large) - bytes(smaller)) / (device_seconds(large, way) - device_seconds(smaller, way));
  }

  /// Seconds that each copy of a row took beyond its bytes: the median over sizes up to 4 MiB, where it shows.
  double latency(const Experiments& sizes, OperationKind way, double rate) const {
    constexpr double kMax = 4 << 20;
    std::vector<double> all;
    for (const MeasuredExperiment* each : sizes) {
      if (bytes(*each) > kMax) continue;
      all.push_back((plain_seconds(*each) - copy_call_ - host_wait_) / count(*each, way) - bytes(*each) / rate);
    }
    return median(all);
  }

  void copies() {
    copy_call_ = call_seconds(only("copies_in_streams:4"), OperationKind::copy_in, 1);
    find_host_wait();
    const bool both_ways = copy_engines();
    for (const OperationKind way : kWays) {
      const Experiments sizes = copies("copies", way);
      const double alone = part(alone_, way) = rate(sizes, way);
      const double beyond = part(copy_latency_, way) = latency(sizes, way, alone);
      put_rate(fmt::format("copy_{}_gb_per_s", name_of(way)), alone, "by how much longer 64 MiB take than 16");
      put_us(way == OperationKind::copy_in ? "copy_latency_us" : "copy_latency_out_us", beyond,
             fmt::format("what a row of copies {} takes beyond its bytes, a copy", name_of(way)));
      put_traced(fmt::format("traced_{}_us", name_of(way)), sizes, way, alone, beyond);
      const MeasuredExperiment& large = *copies("pageable", way).back();
      put_rate(fmt::format("pageable_{}_gb_per_s", name_of(way)), bytes(large) / call_seconds(large, way),
               "calls of 64 MiB");
    }
    both_ways ? copies_both_ways() : copies_one_way_at_a_time();
  }

  /// The engines of a way are as many as its copies that ran at once; those that serve both ways are as many as these
  /// of each way together exceed the copies of both ways at once. Returns whether copies both ways run at once.
  bool copy_engines() {
    const std::size_t in = at_once(in_32_streams(OperationKind::copy_in));
    const std::size_t out = at_once(in_32_streams(OperationKind::copy_out));
    std::size_t engines = std::max(in, out);
    for (const MeasuredExperiment* each : all("both_ways/streams:4/")) engines = std::max(engines, at_once(*each));
    engines = std::min(engines, in + out);
    Json value(in + out - engines, Json::array({"in", "out"}));
    value.insert(value.end(), engines - out, Json::array({"in"}));
    value.insert(value.end(), engines - in, Json::array({"out"}));
    const std::string stated = calibration_.context.value("copy_engines", "");
    put("copy_engines", value,
        fmt::format("copies that ran at once for a tenth of the time at least: {} in, {} out, {} both ways{}", in, out,
                    engines, stated.empty() ? "" : "; asyncEngineCount is " + stated));
    return engines > 1;
  }

  void copies_both_ways() {
    const Experiments sizes = all("both_ways/streams:1/");
    // Short copies both ways fall into step; longer ones begin while the other flows.
    const Experiments in_step{sizes[0]};
    const Experiments longer{sizes[1]};
    EachWay both;
    for (const OperationKind way : kWays) {
      const double measured = rate_both(*sizes.back(), way);
      // The other way makes no copy faster: more than the rate alone is noise.
      const double rate = part(both, way) = std::min(measured, part(alone_, way));
      put_rate(fmt::format("both_{}_gb_per_s", name_of(way)), rate,
               measured == rate ? "what 64 MiB take while copies run the other way"
                                : "as alone, since 64 MiB took no longer while copies ran the other way");
      put_us(fmt::format("copy_latency_in_step_{}_us", name_of(way)), latency(in_step, way, rate),
             "what a row of copies of 1 MiB both ways takes beyond its bytes, a copy");
    }
    const OperationKind slower = kWays[both.out <= both.in ? 1 : 0];  // and says when both are done
    const double slower_latency = latency(longer, slower, part(both, slower));
    put_us(fmt::format("copy_latency_both_{}_us", name_of(slower)), slower_latency,
           "the same of the slower way in a row of copies of 4 MiB both ways");
    for (const OperationKind way : kWays) {
      put_traced(fmt::format("traced_both_{}_us", name_of(way)), longer, way, part(both, way),
                 way == slower ? slower_latency : part(copy_latency_, way));
    }
  }

  /// Leaves out what copies both ways at once take, but for what a profile must have.
  void copies_one_way_at_a_time() {
    for (const OperationKind way : kWays) {
      const std::string alone = fmt::format("copy_{}_gb_per_s", name_of(way));
      put_known(fmt::format("both_{}_gb_per_s", name_of(way)), Json(figures_.at(alone).at("value")),
                fmt::format("assumed to be {}, because copies both ways never ran at once", alone));
    }
  }

  /// Visits the traced copies of one way, each with the one before it, while the other way, if there is one, is busy.
  static void visit_copies(const MeasuredExperiment& measured, OperationKind way,
                           const std::function<void(const Span* before, const Span&)>& visit) {
    const auto& operations = measured.experiment.recording.operations;
    for (const TimedReplay& replay : measured.replays.traced) {
      double other_end = std::numeric_limits<double>::infinity();
      for (const Span& span : replay.timeline.spans) {
        if (operations[span.operation].kind != way) other_end = span.when.end;
      }
      const Span* before = nullptr;
      for (const Span& span : replay.timeline.spans) {
        if (operations[span.operation].kind != way) continue;
        if (span.when.end <= other_end) visit(before, span);
        before = &span;
      }
    }
  }

  /// Bytes a second of the largest copies while the other way is busy: a difference of sizes has the noise of both.
  static double rate_both(const MeasuredExperiment& large, OperationKind way) {
    std::vector<double> all;
    visit_copies(large, way, [&](const Span*, const Span& span) { all.push_back(span.when.seconds()); });
    return bytes(large) / median(all);
  }

  /// From the end of one copy to that of the next of its way, beyond bytes and latency.
  void put_traced(const std::string& key, const Experiments& sizes, OperationKind way, double rate, double latency) {
    std::vector<double> beyond;
    for (const MeasuredExperiment* each : sizes) {
      visit_copies(*each, way, [&](const Span* before, const Span& span) {
        if (before == nullptr) return;
        beyond.push_back(span.when.end - before->when.end - bytes(*each) / rate - latency);
      });
    }
    if (!beyond.empty()) put_us(key, median(beyond), "what collection adds to a copy: traces have it in them");
  }

  /// Finds the time of a synchronous copy beyond the device's own time and the call of an asynchronous copy.
  void find_host_wait() {
    std::vector<double> beyond;
    for (const OperationKind way : kWays) {
      for (const MeasuredExperiment* each : copies("pinned_synchronous", way)) {
        beyond.push_back(call_seconds(*each, way) - device_seconds(*each, way) - copy_call_);
      }
    }
    host_wait_ = median(beyond);
  }

  void calls() {
    const double kernel_call = call_seconds(only("calls/kernels"), OperationKind::kernel, 1);
    put_us("issue_us", kernel_call, "a call that launches a kernel");
    put_us("issue_copy_us", copy_call_, "a call of cudaMemcpyAsync");
    put_known("issue_synchronous_copy_us", Json(figures_.at("issue_copy_us").at("value")),
              "assumed to be issue_copy_us, because cudaMemcpy returns when the copy is done: of its time without the "
              "copy, host_wait_us has the rest");
    put_us("issue_kernel_us", kernel_call, "a call that launches a kernel");
    const MeasuredExperiment& events = only("calls/events");
    put_us("issue_record_us", call_seconds(events, OperationKind::record_event), "a call of cudaEventRecord");
    put_us("issue_wait_us", call_seconds(events, OperationKind::wait_event), "a call of cudaStreamWaitEvent");
    const auto launch = [&](int nodes) {
      return call_seconds(only(fmt::format("graph/kernels:{}", nodes)), OperationKind::kernel);
    };
    const double node = (launch(128) - launch(4)) / (128 - 4);
    put_us("issue_graph_us", launch(4) - 4 * node, "a launch of a graph, but for its nodes");
    put_us("issue_graph_node_us", node, "by how much longer a launch of 128 nodes takes than one of 4");
    put_us("host_wait_us", host_wait_,
           "what cudaMemcpy takes beyond the copy and issue_synchronous_copy_us, which is assumed");
  }

  void hand_overs() {
    // Behind one long copy, which ends when all is issued: the rest is a chain.
    const MeasuredExperiment& gate = *copies("copies", OperationKind::copy_in).back();
    const double before = plain_seconds(gate) / count(gate, OperationKind::copy_in) + copy_call_ + host_wait_;
    const auto link_of = [&](const MeasuredExperiment& chain) {
      return (plain_seconds(chain) - before) / count(chain, OperationKind::kernel) -
             device_seconds(chain, OperationKind::kernel);
    };
    const double kernel_latency = link_of(only("chain/kernels"));
    put_us("kernel_latency_us", kernel_latency, "a kernel of a row of short ones, but for its own time");

    put_us("hand_over_busy_us", busy_hand_over(),
           "half of what lies between two copies out with a kernel between them, while copies in run");

    std::vector<double> hand_overs;
    for (const MeasuredExperiment* each : all("chain/in_kernel_out")) {
      const double copies = copy_latency_.in + copy_latency_.out + bytes(*each) / alone_.in + bytes(*each) / alone_.out;
      hand_overs.push_back((link_of(*each) - copies - kernel_latency) / 3);
    }
    put_us("hand_over_us", median(hand_overs),
           "a third of what a chain of copy in, kernel, copy out takes beyond their own times");
  }

  /// From the end of a kernel to its copy out, and from that to the next kernel: half of both together.
  double busy_hand_over() const {
    std::vector<double> halves;
    for (const MeasuredExperiment* each : all("under_load/")) {
      const double kernel = device_seconds(*each, OperationKind::kernel);
      visit_spans(*each, OperationKind::copy_out, [&](const Span* before, const Span& span) {
        if (before != nullptr) halves.push_back((span.when.start - before->when.end - kernel) / 2);
      });
    }
    return median(halves);
  }

  /// How many hardware work queues the copies of one way were in, and whether the engine stayed with one.
  void queues() {
    std::size_t most = 0;
    bool drains = true;
    for (const OperationKind way : kWays) {
      const MeasuredExperiment& measured = in_32_streams(way);
      const std::size_t engines = at_once(measured);
      for (const TimedReplay& replay : measured.replays.traced) {
        std::vector<Span> by_start = replay.timeline.spans;
        std::ranges::sort(by_start, {}, [](const Span& span) { return span.when.start; });
        std::set<unsigned> queues;
        std::size_t turns = 0;
        for (std::size_t i = 0; i < by_start.size(); ++i) {
          queues.insert(by_start[i].channel.value_or(0));
          const auto first = by_start.begin() + static_cast<std::ptrdiff_t>(i - std::min(i, engines));
          const auto last = by_start.begin() + static_cast<std::ptrdiff_t>(i);
          // Some engine was last with this queue, or has had none.
          if (i >= engines && std::ranges::find(first, last, last->channel, &Span::channel) == last) ++turns;
        }
        most = std::max(most, queues.size());
        drains &= turns < 2 * queues.size();
      }
    }
    put("copy_queues", most, "hardware work queues of copies in 32 streams");
    put("drains_queues", drains, "whether copies of 32 streams came queue by queue, not in the order of issue");
  }

  void limits() {
    queues();
    const DeviceLimits& limits = calibration_.limits;
    const char* const stated_by_cuda = "from cudaDeviceProp of this device";
    put_known(
        "hardware_queues", 8,
        "assumed: 8 unless CUDA_DEVICE_MAX_CONNECTIONS says otherwise, 32 at most: NVIDIA, CUDA C++ Programming Guide");
    put_known("multiprocessors", limits.multiprocessors, stated_by_cuda);
    put_known("resident_blocks", limits.resident_blocks, stated_by_cuda);
    put_known("resident_threads", limits.resident_threads, stated_by_cuda);
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
