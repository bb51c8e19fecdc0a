// What the microbenchmarks' times say, figure by figure. Times without collection wherever they will do: collecting
// puts more than a microsecond between two copies. Only how long a copy or a kernel takes on the device is the
// records'.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "harness/core/median.hpp"
#include "harness/simulator/calibration.hpp"
#include "harness/simulator/device_profile.hpp"

namespace scanlab::simulator {

namespace {

using Json = nlohmann::ordered_json;
using streams::Operation;
using streams::OperationKind;
using streams::TimedReplay;

constexpr double kMicro = 1e-6;
constexpr std::int64_t kFills = 1 << 22;  ///< items of a kernel that fills the device, beside another

/// Of a list of experiments that differ in their bytes.
struct Sized {
  const MeasuredExperiment* measured = nullptr;
  double bytes = 0;
};

class Derivation {
 public:
  explicit Derivation(const Calibration& calibration) : calibration_(calibration) {
    for (const MeasuredExperiment& each : calibration.experiments) by_name_[each.experiment.name] = &each;
    const Json& context = calibration.context;
    source_ =
        fmt::format("measured by scanlab calibrate on one {}, driver {}, {}", calibration.limits.name,
                    context.value("driver", "unknown"), context.value("date", "at an unknown time").substr(0, 10));
  }

  Json profile(const std::string& name) {
    copies();
    calls();
    hand_overs();
    kernels();
    Json profile{{"schema", "scanlab-device/1"},
                 {"name", name},
                 {"title", fmt::format("{} (compute capability {}), calibrated", calibration_.limits.name,
                                       calibration_.limits.compute_capability)}};
    for (const MeasuredExperiment& each : calibration_.experiments) {  // no figure is read from them: it threw, if so
      if (!each.failure.empty()) profile["without"].push_back(each.experiment.name);
    }
    profile["figures"] = figures_;
    return profile;
  }

 private:
  // ------------------------------------------------------------------------------------------- what was measured

  const MeasuredExperiment& find(const std::string& name) const {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) throw CalibrationError(fmt::format("there is no experiment {}", name));
    return usable(*found->second);
  }

  /// A figure that is read from it would be missing, or be another than its source says.
  static const MeasuredExperiment& usable(const MeasuredExperiment& measured) {
    if (measured.failure.empty()) return measured;
    throw CalibrationError(fmt::format("{}: {}; without it there is no profile: calibrate anew",
                                       measured.experiment.name, measured.failure));
  }

  /// By growing bytes.
  std::vector<Sized> sized(const std::string& prefix) const {
    std::vector<Sized> all;
    for (const MeasuredExperiment& each : calibration_.experiments) {
      const std::string& name = each.experiment.name;
      if (!name.starts_with(prefix + "/bytes:")) continue;
      all.push_back({&usable(each), std::stod(name.substr(name.rfind(':') + 1))});
    }
    return all;
  }

  static double plain_seconds(const MeasuredExperiment& measured) {
    std::vector<double> all;
    for (const TimedReplay& replay : measured.replays.plain) all.push_back(replay.seconds);
    return median(all);
  }

  static std::size_t count(const MeasuredExperiment& measured, OperationKind kind) {
    return static_cast<std::size_t>(
        std::ranges::count(measured.experiment.recording.operations, kind, &Operation::kind));
  }

  /// Of the calls of one kind, but for the first `skip` operations: seconds of the host, without collection.
  static double call_seconds(const MeasuredExperiment& measured, OperationKind kind, std::size_t skip = 0) {
    std::vector<double> all;
    const auto& operations = measured.experiment.recording.operations;
    for (const TimedReplay& replay : measured.replays.plain) {
      for (std::size_t i = skip; i < operations.size(); ++i) {
        if (operations[i].kind == kind) all.push_back(replay.timeline.issued[i].seconds());
      }
    }
    return median(all);
  }

  /// How long the device worked at operations of one kind, those of so many items (0: all).
  static double device_seconds(const MeasuredExperiment& measured, OperationKind kind, std::int64_t items = 0) {
    std::vector<double> all;
    for (const TimedReplay& replay : measured.replays.collected) {
      for (const streams::Span& span : replay.timeline.spans) {
        const Operation& operation = measured.experiment.recording.operations[span.operation];
        if (operation.kind != kind || (items != 0 && operation.chunk.items != items)) continue;
        all.push_back(span.when.seconds());
      }
    }
    return median(all);
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
  static double rate(const std::vector<Sized>& sizes, OperationKind kind) {
    const Sized& large = sizes[sizes.size() - 1];
    const Sized& smaller = sizes[sizes.size() - 2];
    return (large.bytes - smaller.bytes) /
           (device_seconds(*large.measured, kind) - device_seconds(*smaller.measured, kind));
  }

  /// Seconds that each copy took beyond its bytes, in a row of copies that began and ended within `around` seconds of
  /// host time: the median over sizes up to 4 MiB, where it shows.
  static double latency(const std::vector<Sized>& sizes, OperationKind kind, double rate, double around) {
    constexpr double kMost = 4 << 20;
    std::vector<double> all;
    for (const Sized& each : sizes) {
      if (each.bytes > kMost) continue;
      const auto copies = static_cast<double>(count(*each.measured, kind));
      all.push_back((plain_seconds(*each.measured) - around) / copies - each.bytes / rate);
    }
    return median(all);
  }

  void copies() {
    const auto in = sized("copies_in");
    const auto out = sized("copies_out");
    alone_ = {rate(in, OperationKind::copy_in), rate(out, OperationKind::copy_out)};
    copy_call_ = call_seconds(find("copies_in_streams:4"), OperationKind::copy_in, 1);
    find_host_wait();
    const double around = copy_call_ + host_wait_;
    copy_latency_ = {latency(in, OperationKind::copy_in, alone_.in, around),
                     latency(out, OperationKind::copy_out, alone_.out, around)};

    const bool both_ways = copy_engines();
    put_rate("copy_in_gb_per_s", alone_.in, "by how much longer 64 MiB take than 16");
    put_rate("copy_out_gb_per_s", alone_.out, "by how much longer 64 MiB take than 16");
    put_us("copy_latency_us", copy_latency_.in, "what a row of copies in takes beyond its bytes, a copy");
    put_us("copy_latency_out_us", copy_latency_.out, "the same of copies out");
    put_collected("collected_in_us", in, OperationKind::copy_in, alone_.in, copy_latency_.in);
    put_collected("collected_out_us", out, OperationKind::copy_out, alone_.out, copy_latency_.out);
    both_ways ? copies_both_ways(around) : copies_one_way_at_a_time();

    const auto pageable_rate = [&](const char* experiment, OperationKind kind) {
      const Sized large = sized(experiment).back();
      return large.bytes / call_seconds(*large.measured, kind);
    };
    put_rate("pageable_in_gb_per_s", pageable_rate("pageable_in", OperationKind::copy_in), "calls of 64 MiB");
    put_rate("pageable_out_gb_per_s", pageable_rate("pageable_out", OperationKind::copy_out), "calls of 64 MiB");
  }

  /// The most operations that ran at once, for a tenth of the time that any did: two records may touch.
  static std::size_t at_once(const MeasuredExperiment& measured) {
    constexpr double kPart = 0.1;
    std::map<int, double> seconds;  // by how many ran
    for (const TimedReplay& replay : measured.replays.collected) {
      std::vector<std::pair<double, int>> changes;
      for (const streams::Span& span : replay.timeline.spans) {
        changes.emplace_back(span.when.start, 1);
        changes.emplace_back(span.when.end, -1);
      }
      std::ranges::sort(changes);
      int running = 0;
      for (std::size_t i = 0; i + 1 < changes.size(); ++i) {
        running += changes[i].second;
        seconds[running] += changes[i + 1].first - changes[i].first;
      }
    }
    seconds.erase(0);
    double all = 0;
    for (const auto& [running, time] : seconds) all += time;
    double so_many = 0;
    for (auto each = seconds.rbegin(); each != seconds.rend(); ++each) {
      so_many += each->second;
      if (so_many >= kPart * all) return static_cast<std::size_t>(each->first);
    }
    return 1;
  }

  /// By how many copies ran at once: of one way, so many engines serve it; of both ways fewer than of each together, so
  /// many engines fewer there are, since they serve both. Returns whether copies both ways run at once.
  bool copy_engines() {
    const std::size_t in = at_once(find("copies_in_streams:32"));
    const std::size_t out = at_once(find("copies_out_streams:32"));
    std::size_t engines = std::max(in, out);
    for (const Sized& each : sized("both_ways/streams:4")) engines = std::max(engines, at_once(*each.measured));
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
    const auto sizes = sized("both_ways/streams:1");
    const EachWay both{put_rate_both("in", sizes, OperationKind::copy_in, alone_.in),
                       put_rate_both("out", sizes, OperationKind::copy_out, alone_.out)};
    // Short copies both ways fall into step, and each begins as the other does; longer ones begin while the other
    // flows.
    const std::vector<Sized> short_ones{sizes[0]};
    const std::vector<Sized> longer{sizes[1]};
    put_us("copy_latency_in_step_in_us", latency(short_ones, OperationKind::copy_in, both.in, around),
           "what a row of copies of 1 MiB both ways takes beyond its bytes, a copy");
    put_us("copy_latency_in_step_out_us", latency(short_ones, OperationKind::copy_out, both.out, around),
           "what a row of copies of 1 MiB both ways takes beyond its bytes, a copy");
    const bool out_is_slower = both.out <= both.in;  // and says when both are done
    const double slower = latency(longer, out_is_slower ? OperationKind::copy_out : OperationKind::copy_in,
                                  std::min(both.in, both.out), around);
    put_us(out_is_slower ? "copy_latency_both_out_us" : "copy_latency_both_in_us", slower,
           "the same of the slower way in a row of copies of 4 MiB both ways");
    put_collected("collected_both_in_us", longer, OperationKind::copy_in, both.in,
                  out_is_slower ? copy_latency_.in : slower);
    put_collected("collected_both_out_us", longer, OperationKind::copy_out, both.out,
                  out_is_slower ? slower : copy_latency_.out);
  }

  /// What is copied the other way makes no copy faster: more than the rate alone is noise.
  double put_rate_both(const char* way, const std::vector<Sized>& sizes, OperationKind kind, double alone) {
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
  static double rate_both(const std::vector<Sized>& sizes, OperationKind kind) {
    const Sized& large = sizes.back();
    const auto same_way = [&](const streams::Span& span) {
      return large.measured->experiment.recording.operations[span.operation].kind == kind;
    };
    std::vector<double> all;
    for (const TimedReplay& replay : large.measured->replays.collected) {
      double other_end = 0;
      for (const streams::Span& span : replay.timeline.spans) {
        if (!same_way(span)) other_end = std::max(other_end, span.when.end);
      }
      for (const streams::Span& span : replay.timeline.spans) {
        if (same_way(span) && span.when.end <= other_end) all.push_back(span.when.seconds());
      }
    }
    return large.bytes / median(all);
  }

  /// From the end of one copy to that of the next of its way, beyond bytes and latency, while records are collected and
  /// the other way, if there is one, is busy.
  static std::vector<double> collected_seconds(const std::vector<Sized>& sizes, OperationKind kind, double rate,
                                               double latency) {
    std::vector<double> beyond;
    for (const Sized& each : sizes) {
      const auto& operations = each.measured->experiment.recording.operations;
      for (const TimedReplay& replay : each.measured->replays.collected) {
        double other_end = std::numeric_limits<double>::infinity();
        const streams::Span* before = nullptr;
        for (const streams::Span& span : replay.timeline.spans) {
          if (operations[span.operation].kind != kind) other_end = span.when.end;
        }
        for (const streams::Span& span : replay.timeline.spans) {
          if (operations[span.operation].kind != kind) continue;
          if (before != nullptr && span.when.end <= other_end) {
            beyond.push_back(span.when.end - before->when.end - each.bytes / rate - latency);
          }
          before = &span;
        }
      }
    }
    return beyond;
  }

  void put_collected(const char* key, const std::vector<Sized>& sizes, OperationKind kind, double rate,
                     double latency) {
    const std::vector<double> beyond = collected_seconds(sizes, kind, rate, latency);
    if (!beyond.empty()) put_us(key, median(beyond), "what collection adds to a copy: traces have it in them");
  }

  /// What synchronous copies take beyond the device's own time and the call of an asynchronous one.
  void find_host_wait() {
    std::vector<double> beyond;
    for (const auto& [name, kind] : {std::pair{"pinned_synchronous_in", OperationKind::copy_in},
                                     std::pair{"pinned_synchronous_out", OperationKind::copy_out}}) {
      for (const Sized& each : sized(name)) {
        beyond.push_back(call_seconds(*each.measured, kind) - device_seconds(*each.measured, kind) - copy_call_);
      }
    }
    host_wait_ = median(beyond);
  }

  void calls() {
    const double kernel_call = call_seconds(find("calls/kernels"), OperationKind::kernel, 1);
    put_us("issue_us", kernel_call, "a call that launches a kernel");
    put_us("issue_copy_us", copy_call_, "a call of cudaMemcpyAsync");
    put_known("issue_synchronous_copy_us", Json(figures_.at("issue_copy_us").at("value")),
              "assumed to be issue_copy_us, because cudaMemcpy returns when the copy is done: of its time without the "
              "copy, host_wait_us has the rest");
    put_us("issue_kernel_us", kernel_call, "a call that launches a kernel");
    const MeasuredExperiment& events = find("calls/events");
    put_us("issue_record_us", call_seconds(events, OperationKind::record_event), "a call of cudaEventRecord");
    put_us("issue_wait_us", call_seconds(events, OperationKind::wait_event), "a call of cudaStreamWaitEvent");
    const auto launch = [&](int nodes) {
      return call_seconds(find(fmt::format("graph/kernels:{}", nodes)), OperationKind::kernel);
    };
    const double node = (launch(128) - launch(4)) / (128 - 4);
    put_us("issue_graph_us", launch(4) - 4 * node, "a launch of a graph, but for its nodes");
    put_us("issue_graph_node_us", node, "by how much longer a launch of 128 nodes takes than one of 4");
    put_us("host_wait_us", host_wait_,
           "what cudaMemcpy takes beyond the copy and issue_synchronous_copy_us, which is assumed");
  }

  void hand_overs() {
    // Behind one long copy, which ends when all is issued: the rest is a chain.
    const MeasuredExperiment& gate = find("copies_in/bytes:67108864");
    const double before =
        plain_seconds(gate) / static_cast<double>(count(gate, OperationKind::copy_in)) + copy_call_ + host_wait_;
    const MeasuredExperiment& kernels = find("chain/kernels");
    const auto links = static_cast<double>(count(kernels, OperationKind::kernel));
    const double kernel = device_seconds(kernels, OperationKind::kernel);
    const double kernel_latency = (plain_seconds(kernels) - before) / links - kernel;
    put_us("kernel_latency_us", kernel_latency, "a kernel of a row of short ones, but for its own time");

    put_us("hand_over_busy_us", busy_hand_over(),
           "half of what lies between two copies out with a kernel between them, while copies in run");

    std::vector<double> each;
    for (const char* chain : {"chain/in_kernel_out", "chain/in_kernel_out_by_events"}) {
      for (const Sized& size : sized(chain)) {
        const auto n = static_cast<double>(count(*size.measured, OperationKind::kernel));
        const double link = (plain_seconds(*size.measured) - before) / n;
        const double copies = copy_latency_.in + copy_latency_.out + size.bytes / alone_.in + size.bytes / alone_.out;
        const double computed = device_seconds(*size.measured, OperationKind::kernel) + kernel_latency;
        each.push_back((link - copies - computed) / 3);
      }
    }
    put_us("hand_over_us", median(each),
           "a third of what a chain of copy in, kernel, copy out takes beyond their own times");
  }

  /// From the end of a kernel to its copy out, and from that to the next kernel: half of both together.
  double busy_hand_over() const {
    std::vector<double> all;
    for (const Sized& each : sized("under_load/kernel_out/streams:1")) {
      const auto& operations = each.measured->experiment.recording.operations;
      const double kernel = device_seconds(*each.measured, OperationKind::kernel);
      for (const TimedReplay& replay : each.measured->replays.collected) {
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

  void kernels() {
    Json all = Json::array();
    double most_bytes_a_second = 0;
    for (const auto& [id, workload] : streams::WorkloadRegistry::instance().all()) {
      std::map<int, std::map<std::int64_t, std::pair<double, std::int64_t>>> by_work;  // seconds and blocks
      std::map<int, std::vector<double>> calls;
      for (const MeasuredExperiment& measured : calibration_.experiments) {
        const streams::Job& job = measured.experiment.recording.job;
        if (!measured.experiment.name.starts_with(fmt::format("kernels/workload:{}/", id))) continue;
        calls[job.work].push_back(call_seconds(usable(measured), OperationKind::kernel));
        for (const streams::Span& span : measured.replays.collected.front().timeline.spans) {
          const Operation& operation = measured.experiment.recording.operations[span.operation];
          if (operation.kind != OperationKind::kernel) continue;
          const std::int64_t items = operation.chunk.items;
          by_work[job.work][items] = {device_seconds(measured, OperationKind::kernel, items), span.blocks};
        }
      }
      for (const auto& [work, rows] : by_work) {
        Json times{
            {"workload", id}, {"work", work}, {"issue_us", std::round(median(calls[work]) / kMicro * 1e3) / 1e3}};
        const double together = seconds_together(id, work);
        if (together > 0) {
          times["together_us_an_item"] = together / kMicro;
          times["spread"] = std::round(1e3 * spread(id, work, together)) / 1e3;
        }
        std::int64_t blocks = 1;
        for (const auto& [items, row] : rows) {
          blocks = std::max(blocks, row.second);  // a scan of another kind may take fewer
          times["items"].push_back(items);
          times["us"].push_back(std::round(row.first / kMicro * 1e3) / 1e3);
          times["blocks"].push_back(blocks);
          const auto bytes = static_cast<double>(items) * static_cast<double>(workload.about.item_bytes()) *
                             (workload.about.inputs + 1);
          most_bytes_a_second = std::max(most_bytes_a_second, bytes / row.first);
        }
        all.push_back(std::move(times));
      }
    }
    put("kernel_times", all, "kernels behind the copy of their items, nothing beside them");
    put_rate("device_gb_per_s", most_bytes_a_second, "the fastest kernel, bytes read and written");
    limits();
  }

  /// Seconds of an item where kernels run in several streams, none beside them; 0 of a workload whose kernels cannot.
  double seconds_together(const std::string& workload, int work) const {
    double least = 0;
    for (const MeasuredExperiment& measured : calibration_.experiments) {
      const std::string prefix = fmt::format("side_by_side/workload:{}/work:{}/", workload, work);
      if (!measured.experiment.name.starts_with(prefix)) continue;
      double items = 0;
      for (const Operation& operation : usable(measured).experiment.recording.operations) {
        items += static_cast<double>(operation.chunk.items);
      }
      std::vector<double> all;
      for (const TimedReplay& replay : measured.replays.collected) {
        const auto& spans = replay.timeline.spans;
        const auto start = [](const streams::Span& span) { return span.when.start; };
        const auto end = [](const streams::Span& span) { return span.when.end; };
        all.push_back((std::ranges::max(spans, {}, end).when.end - std::ranges::min(spans, {}, start).when.start) /
                      items);
      }
      least = least == 0 ? median(all) : std::min(least, median(all));
    }
    return least;
  }

  /// How much sooner the first block of a kernel that fills the device ends than the mean: the kernel behind it, which
  /// waits for room, begins then. A kernel takes its work, done at the full rate but for the tail.
  double spread(const std::string& workload, int work, double together) const {
    std::vector<double> all;
    for (const MeasuredExperiment& measured : calibration_.experiments) {
      if (measured.experiment.name !=
          fmt::format("side_by_side/workload:{}/work:{}/streams:2/items:{}", workload, work, kFills)) {
        continue;
      }
      for (const TimedReplay& replay : measured.replays.collected) {
        const streams::Interval& first = replay.timeline.spans[0].when;
        const streams::Interval& second = replay.timeline.spans[1].when;
        all.push_back(1 - (second.start - first.start) / (together * kFills));
      }
    }
    return all.empty() ? 0 : std::clamp(median(all), 0.0, 0.95);
  }

  /// How many hardware queues the copies of one way were in, and whether the engine stayed with one.
  void queues() {
    std::size_t most = 0;
    bool drains = true;
    for (const auto& [name, kind] : {std::pair{"copies_in_streams:32", OperationKind::copy_in},
                                     std::pair{"copies_out_streams:32", OperationKind::copy_out}}) {
      const MeasuredExperiment& measured = find(name);
      const std::size_t engines = at_once(measured);
      for (const TimedReplay& replay : measured.replays.collected) {
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
  std::map<std::string, const MeasuredExperiment*> by_name_;
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
