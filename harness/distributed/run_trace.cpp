#include "harness/distributed/run_trace.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>

#include "harness/core/median.hpp"
#include "harness/host/clock.hpp"

namespace scanlab::distributed {

namespace {

constexpr std::int64_t kUntraced = 10;

std::string_view name(streams::Activity::Kind kind) {
  using Kind = streams::Activity::Kind;
  return kind == Kind::kernel ? "kernel" : kind == Kind::memset ? "memset" : "copy";
}

/// Returns on all ranks at one moment: those that wait for a condition wake up one after another.
void meet(Communicator& communicator) {
  constexpr auto kToWakeUp = std::chrono::microseconds(500);
  spin_until(communicator.from_leader(Clock::now() + kToWakeUp));
}

}  // namespace

void RunTracer::trace(const DistributedCase& traced, BoundRank& bound, RankBackend& backend,
                      Communicator& communicator) {
  Traced made{.timed = &traced, .devices = communicator.gather(backend.device()), .runs = {}};
  const auto now = [&] { return communicator.rank() == 0 ? now_() : 0; };
  backend.time(bound, kUntraced, 1);
  for (int run = 0; run < runs_; ++run) {
    std::int64_t begin = 0;
    backend.run_alone(bound, [&] {
      communicator.barrier();
      begin = now();
      meet(communicator);
    });
    communicator.barrier();
    made.runs.emplace_back(begin, now());
    communicator.barrier();  // nobody prepares the next run before that
  }
  if (communicator.rank() == 0) traced_.push_back(std::move(made));
}

measure::Facts RunTracer::traces(const std::vector<streams::Activity>& recorded) const {
  std::vector<streams::Activity> by_start = recorded;
  std::erase_if(by_start, [](const auto& each) { return each.name == kHoldsBack; });
  std::ranges::stable_sort(by_start, {}, [](const auto& each) { return std::pair(each.start, each.device); });
  measure::Facts all = measure::Facts::array();
  for (const Traced& each : traced_) {
    if (each.timed->verified) all.push_back(entry(each, by_start));
  }
  return all;
}

measure::Facts RunTracer::entry(const Traced& traced, const std::vector<streams::Activity>& by_start) const {
  const auto& devices = traced.devices;
  measure::Facts made = measure::Facts::object();
  describe(*traced.timed, static_cast<int>(devices.size()), made);
  made["verified"] = traced.timed->verified;
  measure::Facts& activities = made["activities"] = measure::Facts::array();
  for (std::size_t run = 0; run < traced.runs.size(); ++run) {
    const auto [begin, end] = traced.runs[run];
    std::vector<bool> seen(devices.size(), false);
    std::int64_t zero = -1;
    for (const streams::Activity& each : by_start) {
      if (each.start < begin || each.start >= end) continue;
      const auto rank = static_cast<std::size_t>(std::ranges::find(devices, each.device) - devices.begin());
      if (rank == devices.size()) {
        throw std::runtime_error(fmt::format("CUPTI recorded GPU {}, which no rank has", each.device));
      }
      if (zero < 0) zero = each.start;
      seen[rank] = true;
      activities.push_back({{"run", run},
                            {"rank", rank},
                            {"device", each.device},
                            {"kind", name(each.kind)},
                            {"name", each.name},
                            {"bytes", each.bytes},
                            {"start_ns", each.start - zero},
                            {"end_ns", each.end - zero}});
    }
    for (std::size_t rank = 0; rank < seen.size(); ++rank) {
      if (seen[rank] || traced.timed->plan.distribution.held(static_cast<int>(rank)) == 0) continue;
      throw std::runtime_error(
          fmt::format("CUPTI recorded nothing of rank {} in run {} of {}", rank, run, traced.timed->name));
    }
  }
  return made;
}

std::vector<std::int64_t> run_lengths(const measure::Facts& entry) {
  std::vector<std::int64_t> lengths;
  for (const auto& each : entry["activities"]) {
    const auto run = each["run"].get<std::size_t>();
    if (lengths.size() <= run) lengths.resize(run + 1, 0);
    lengths[run] = std::max(lengths[run], each["end_ns"].get<std::int64_t>());
  }
  return lengths;
}

void print_traces(const measure::Facts& traces, std::ostream& out) {
  fmt::print(out, "{:<22} {:>5} {:>12} {:>14} {:>5} {:>12}  {}\n", "algorithm", "type", "redop", "count", "runs",
             "median (us)", "kernels");
  for (const measure::Facts& each : traces) {
    std::set<std::string> kernels;
    for (const measure::Facts& activity : each["activities"]) {
      if (activity["kind"] == "kernel") kernels.insert(activity["name"].get<std::string>());
    }
    const std::vector<std::int64_t> lengths = run_lengths(each);
    fmt::print(out, "{:<22} {:>5} {:>12} {:>14} {:>5} {:>12.2f}  {}\n", each["variant"].get<std::string>(),
               each["type"].get<std::string>(), each["op"].get<std::string>(), each["items"].get<std::int64_t>(),
               lengths.size(), 1e-3 * median(std::vector<double>(lengths.begin(), lengths.end())),
               fmt::join(kernels, ", "));
  }
}

}  // namespace scanlab::distributed
