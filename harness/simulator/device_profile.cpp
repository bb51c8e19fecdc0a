#include "harness/simulator/device_profile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>

#include "device_profiles.hpp"
#include "harness/core/registry.hpp"
#include "harness/schedule/workload.hpp"

namespace scanlab::simulator {

void read_value(const Value& value, CopyEngine& engine) {
  for (const Value& way : value.items()) (way.choice({"in", "out"}) == "in" ? engine.in : engine.out) = true;
  if (!engine.in && !engine.out) value.expect("a list of ways, such as [\"in\"]");
}

void read_value(const Value& value, KernelTimes& times) {
  constexpr Limits kItems{.low = 1, .high = std::int64_t{1} << 40};
  constexpr Limits kMicroseconds{.low = 0, .high = 1e9, .unit = 1e-6};
  std::vector<std::int64_t> items;
  std::vector<double> seconds;
  std::vector<std::int64_t> blocks;
  FieldReader fields(value);
  fields("workload", times.workload);
  fields("work", times.work, {.low = 1, .high = 1 << 30});
  fields("issue_us", times.call, kMicroseconds);
  fields.optional("together_us_an_item", times.together, kMicroseconds);
  fields.optional("spread", times.spread, {.low = 0, .high = 0.99});  // at 1 its blocks would take no time
  fields("items", items, kItems);
  fields("us", seconds, {.high = 1e9, .above = 0, .unit = 1e-6});
  fields("blocks", blocks, kItems);
  fields.refuse_others();
  value.at("workload").choice(streams::WorkloadRegistry::instance().ids());
  if (items.empty() || seconds.size() != items.size() || blocks.size() != items.size()) {
    value.fail("expected items, us and blocks to be lists of one length");
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0 && items[i] <= items[i - 1]) {
      value.at("items").items()[i].fail(fmt::format("expected more than the {} before", items[i - 1]));
    }
    times.rows.push_back({.items = items[i], .seconds = seconds[i], .blocks = blocks[i]});
  }
  // Noise may let one of many fall, but times of more items are extrapolated from the last two.
  if (items.size() > 1 && seconds.back() < *std::prev(seconds.end(), 2)) {
    value.at("us").items().back().fail("the last is less than the one before, so that more items would take less time");
  }
}

namespace {

using Json = nlohmann::ordered_json;

constexpr char kSchema[] = "scanlab-device/1";
constexpr int kWarp = 32;

/// A profile's figures without their sources.
struct Figures {
  Document values;
  std::map<std::string, std::string> sources;
};

Figures read_figures(const Value& profile) {
  profile.allow_keys({"schema", "name", "title", "figures"});
  profile.check_schema(kSchema, "use a profile of 'scanlab calibrate'");
  Figures figures{.values = {.file = profile.file(), .json = Json::object(), .lines = {}}, .sources = {}};
  const Value all = profile.at("figures");
  for (const std::string& key : all.keys()) {
    const Value figure = all.at(key);
    figure.allow_keys({"value", "source"});
    figures.values.json[key] = figure.at("value").json();
    figures.sources[key] = figure.at("source").text();
  }
  return figures;
}

DeviceProfile read_profile(const Value& document, const Figures& figures) {
  constexpr Limits kRate{.high = 1e6, .above = 0, .unit = 1e9};
  constexpr Limits kMicroseconds{.low = 0, .high = 1e6, .unit = 1e-6};
  constexpr Limits kCount{.low = 1, .high = 1 << 20};
  DeviceProfile profile{.name = document.at("name").text(), .title = document.at("title").text()};
  const Value values = figures.values;
  FieldReader fields(values);
  const auto microseconds = [&](const char* key, double& member, double otherwise = 0) {
    member = otherwise;
    fields.optional(key, member, kMicroseconds);
  };
  fields("copy_engines", profile.copy_engines);
  fields("copy_in_gb_per_s", profile.alone.in, kRate);
  fields("copy_out_gb_per_s", profile.alone.out, kRate);
  fields("both_in_gb_per_s", profile.both.in, kRate);
  fields("both_out_gb_per_s", profile.both.out, kRate);
  fields("pageable_in_gb_per_s", profile.pageable.in, kRate);
  fields("pageable_out_gb_per_s", profile.pageable.out, kRate);
  fields("copy_latency_us", profile.copy_latency.in, kMicroseconds);
  microseconds("copy_latency_out_us", profile.copy_latency.out, profile.copy_latency.in);
  microseconds("copy_latency_both_in_us", profile.latency_both.in, profile.copy_latency.in);
  microseconds("copy_latency_both_out_us", profile.latency_both.out, profile.copy_latency.out);
  microseconds("copy_latency_in_step_in_us", profile.latency_in_step.in, profile.latency_both.in);
  microseconds("copy_latency_in_step_out_us", profile.latency_in_step.out, profile.latency_both.out);
  microseconds("traced_in_us", profile.traced.in);
  microseconds("traced_out_us", profile.traced.out);
  microseconds("traced_both_in_us", profile.traced_both.in, profile.traced.in);
  microseconds("traced_both_out_us", profile.traced_both.out, profile.traced.out);
  fields("kernel_latency_us", profile.kernel_latency, kMicroseconds);
  double issue = 0;
  fields("issue_us", issue, kMicroseconds);
  microseconds("issue_copy_us", profile.calls.copy, issue);
  microseconds("issue_synchronous_copy_us", profile.calls.synchronous_copy, issue);
  microseconds("issue_kernel_us", profile.calls.kernel, issue);
  microseconds("issue_record_us", profile.calls.record, issue);
  microseconds("issue_wait_us", profile.calls.wait, issue);
  microseconds("issue_graph_us", profile.calls.graph, issue);
  microseconds("issue_graph_node_us", profile.calls.graph_node);
  microseconds("host_wait_us", profile.host_wait);
  microseconds("hand_over_us", profile.hand_over);
  microseconds("hand_over_busy_us", profile.hand_over_busy);
  fields.optional("kernel_times", profile.kernels);
  fields("device_gb_per_s", profile.device_rate, kRate);
  fields("hardware_queues", profile.hardware_queues, kCount);
  fields.optional("copy_queues", profile.copy_queues, kCount);
  fields.optional("drains_queues", profile.drains_queues);
  fields("multiprocessors", profile.multiprocessors, kCount);
  fields("resident_blocks", profile.resident_blocks, kCount);
  fields("resident_threads", profile.resident_threads, kCount);
  fields("resident_grids", profile.resident_grids, kCount);
  fields("waits_for_started_launches", profile.waits_for_started_launches);
  fields.refuse_others();
  profile.sources = figures.sources;

  for (const bool in : {true, false}) {
    const auto serves = [&](const CopyEngine& engine) { return engine.serves(in); };
    if (profile.copy_engines.empty() || std::ranges::any_of(profile.copy_engines, serves)) continue;
    values.at("copy_engines").fail(fmt::format("no engine copies {}", in ? "in" : "out"));
  }
  const auto check_both = [&](const std::string& way, double both, double alone) {
    if (both > alone) {
      values.at(fmt::format("both_{}_gb_per_s", way))
          .fail(fmt::format("is more than copy_{}_gb_per_s, one way alone", way));
    }
  };
  check_both("in", profile.both.in, profile.alone.in);
  check_both("out", profile.both.out, profile.alone.out);
  if (profile.resident_blocks > profile.resident_threads / kWarp) {
    values.at("resident_blocks")
        .fail(fmt::format("{} are more than the {} warps of resident_threads: a block takes one at least",
                          profile.resident_blocks, profile.resident_threads / kWarp));
  }
  return profile;
}

}  // namespace

std::int64_t DeviceProfile::slots(int threads_per_block) const {
  return static_cast<std::int64_t>(multiprocessors) * std::min(resident_blocks, resident_threads / threads_per_block);
}

KernelTimes::Row KernelTimes::at(std::int64_t items) const {
  if (items <= rows.front().items || rows.size() == 1) return rows.front();
  const auto above = std::ranges::upper_bound(rows, items, {}, &Row::items);
  const Row& high = above == rows.end() ? rows.back() : *above;
  const Row& low = *(&high - 1);
  const double part = static_cast<double>(items - low.items) / static_cast<double>(high.items - low.items);
  const double blocks = static_cast<double>(low.blocks) + part * static_cast<double>(high.blocks - low.blocks);
  return {.items = items,
          .seconds = low.seconds + part * (high.seconds - low.seconds),
          .blocks = std::max<std::int64_t>(1, std::llround(blocks))};
}

double KernelTimes::used(const Row& row) const {
  const auto item_seconds = [](const Row& each) { return each.seconds / static_cast<double>(each.items); };
  const double item = together > 0 ? together : item_seconds(std::ranges::min(rows, {}, item_seconds));
  return std::min(1.0, item * static_cast<double>(row.items) / row.seconds);
}

std::optional<KernelTimes> DeviceProfile::kernel_times(const std::string& workload, int work) const {
  const KernelTimes* below = nullptr;  // the most work that is no more
  const KernelTimes* above = nullptr;  // the least that is no less
  for (const KernelTimes& each : kernels) {
    if (each.workload != workload) continue;
    if (each.work <= work && (below == nullptr || each.work > below->work)) below = &each;
    if (each.work >= work && (above == nullptr || each.work < above->work)) above = &each;
  }
  if (below == nullptr || above == nullptr) return {};
  if (below == above) return *below;
  KernelTimes between = *below;
  between.work = work;
  const double part = static_cast<double>(work - below->work) / static_cast<double>(above->work - below->work);
  for (KernelTimes::Row& row : between.rows) row.seconds += part * (above->at(row.items).seconds - row.seconds);
  between.together =
      below->together > 0 && above->together > 0 ? below->together + part * (above->together - below->together) : 0;
  between.spread += part * (above->spread - below->spread);
  return between;
}

DeviceProfile parse_device_profile(std::string_view text, const std::string& file) {
  const Document document = parse_json(text, file);
  return read_profile(document, read_figures(document));
}

std::vector<std::string> built_in_profile_names() {
  std::vector<std::string> names;
  for (const auto& [file, text] : kDeviceProfiles) names.push_back(std::filesystem::path(file).stem());
  return names;
}

DeviceProfile device_profile(const std::string& name_or_file, const std::optional<Value>& changes) {
  const std::vector<std::string> names = built_in_profile_names();
  const auto place = std::ranges::find(names, name_or_file);
  if (place == names.end() && !name_or_file.ends_with(".json")) {
    const std::vector<std::string> near = near_matches(name_or_file, names);
    throw DocumentError(fmt::format("no device profile is called '{}'; {} {} (or give a file of your own, FILE.json)",
                                    name_or_file, near.empty() ? "there are" : "did you mean",
                                    fmt::join(near.empty() ? names : near, near.empty() ? ", " : " or ")));
  }
  const auto parse_built_in = [&] {
    const auto& [file, text] = kDeviceProfiles[static_cast<std::size_t>(place - names.begin())];
    return parse_json(text, file);
  };
  const Document document = place == names.end() ? read_json(name_or_file) : parse_built_in();
  Figures figures = read_figures(document);
  DeviceProfile profile = read_profile(document, figures);
  if (!changes) return profile;
  figures.values.file = changes->file();
  figures.values.lines[""] = changes->line();
  for (const std::string& key : changes->keys()) {
    if (key == "profile" || key == "title") continue;
    figures.values.json[key] = changes->at(key).json();
    figures.values.lines[key] = changes->at(key).line();
    figures.sources[key] = changes->place();
  }
  return read_profile(document, figures);
}

}  // namespace scanlab::simulator
