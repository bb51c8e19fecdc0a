#include "harness/simulator/device_profile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "device_profiles.hpp"
#include "harness/core/registry.hpp"
#include "harness/host/json_error.hpp"
#include "harness/host/text_file.hpp"
#include "harness/schedule/workload.hpp"

namespace scanlab::simulator {

namespace {

using Json = nlohmann::ordered_json;

constexpr char kSchema[] = "scanlab-device/1";
constexpr int kWarp = 32;

/// One profile's text, figure by figure.
class Reader {
 public:
  Reader(const Json& json, std::string file) : json_(json), file_(std::move(file)) {
    if (!json.is_object()) fail("it is no JSON object");
    for (const auto& [key, value] : json.items()) known(key, {"schema", "name", "title", "figures"});
    if (text("schema") != kSchema) fail(fmt::format("schema: it is '{}', and {} is read", text("schema"), kSchema));
    if (!json.contains("figures") || !json.at("figures").is_object()) fail("figures: missing, or no JSON object");
  }

  DeviceProfile read() {
    DeviceProfile profile;
    profile.name = text("name");
    profile.title = text("title");
    profile.copy_engines = copy_engines();
    profile.alone = {rate("copy_in_gb_per_s"), rate("copy_out_gb_per_s")};
    profile.both = {rate("both_in_gb_per_s"), rate("both_out_gb_per_s")};
    profile.pageable = {rate("pageable_in_gb_per_s"), rate("pageable_out_gb_per_s")};
    const double copy_latency = microseconds("copy_latency_us");
    profile.copy_latency = {copy_latency, optional_microseconds("copy_latency_out_us", copy_latency)};
    profile.kernel_latency = microseconds("kernel_latency_us");
    const double issue = microseconds("issue_us");
    profile.calls = {.copy = optional_microseconds("issue_copy_us", issue),
                     .synchronous_copy = optional_microseconds("issue_synchronous_copy_us", issue),
                     .kernel = optional_microseconds("issue_kernel_us", issue),
                     .record = optional_microseconds("issue_record_us", issue),
                     .wait = optional_microseconds("issue_wait_us", issue),
                     .graph = optional_microseconds("issue_graph_us", issue),
                     .graph_node = optional_microseconds("issue_graph_node_us", 0)};
    profile.host_wait = optional_microseconds("host_wait_us", 0);
    profile.hand_over = optional_microseconds("hand_over_us", 0);
    profile.hand_over_busy = optional_microseconds("hand_over_busy_us", 0);
    profile.latency_both = {optional_microseconds("copy_latency_both_in_us", profile.copy_latency.in),
                            optional_microseconds("copy_latency_both_out_us", profile.copy_latency.out)};
    profile.latency_in_step = {optional_microseconds("copy_latency_in_step_in_us", profile.latency_both.in),
                               optional_microseconds("copy_latency_in_step_out_us", profile.latency_both.out)};
    profile.collected = {optional_microseconds("collected_in_us", 0), optional_microseconds("collected_out_us", 0)};
    profile.collected_both = {optional_microseconds("collected_both_in_us", profile.collected.in),
                              optional_microseconds("collected_both_out_us", profile.collected.out)};
    profile.kernels = kernels();
    profile.device_rate = rate("device_gb_per_s");
    profile.hardware_queues = count("hardware_queues");
    profile.copy_queues = has("copy_queues") ? count("copy_queues") : 0;
    profile.drains_queues = has("drains_queues") && flag("drains_queues");
    profile.multiprocessors = count("multiprocessors");
    profile.resident_blocks = count("resident_blocks");
    profile.resident_threads = count("resident_threads");
    profile.resident_grids = count("resident_grids");
    profile.waits_for_started_launches = flag("waits_for_started_launches");
    if (profile.both.in > profile.alone.in) fail("both_in_gb_per_s: is more than copy_in_gb_per_s, one way alone");
    if (profile.both.out > profile.alone.out) fail("both_out_gb_per_s: is more than copy_out_gb_per_s, one way alone");
    const int warps = profile.resident_threads / kWarp;
    if (profile.resident_blocks > warps) {
      fail(
          fmt::format("resident_blocks: {} are more than the {} warps that resident_threads has room for, and a block "
                      "takes one at least",
                      profile.resident_blocks, warps));
    }
    std::vector<std::string> keys = left_out_;
    for (const auto& [key, source] : sources_) keys.push_back(key);
    for (const auto& [key, value] : json_.at("figures").items()) known(key, keys);
    profile.sources = std::move(sources_);
    return profile;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const { throw ProfileError(fmt::format("{}: {}", file_, why)); }

  /// `in`: before the key in errors.
  void known(const std::string& key, const std::vector<std::string>& keys, const std::string& in = "") const {
    if (std::ranges::find(keys, key) != keys.end()) return;
    const std::vector<std::string> near = near_matches(key, keys);
    fail(fmt::format("{}{}: no profile has such a key; {}", in, key,
                     near.empty() ? fmt::format("there are {}", fmt::join(keys, ", "))
                                  : fmt::format("did you mean {}?", fmt::join(near, " or "))));
  }

  std::string text(const char* key) const {
    if (!json_.contains(key)) fail(fmt::format("{}: missing", key));
    const Json& value = json_.at(key);
    if (!value.is_string() || value.get_ref<const std::string&>().empty()) fail(fmt::format("{}: is no text", key));
    if (!one_line(value.get_ref<const std::string&>())) {
      fail(fmt::format("{}: is {}, and is to be one line of text", key, value.dump()));
    }
    return value.get<std::string>();
  }

  const Json& figure(const char* key) {
    const Json& figures = json_.at("figures");
    if (!figures.contains(key)) fail(fmt::format("{}: missing", key));
    const Json& figure = figures.at(key);
    if (!figure.is_object() || figure.size() != 2 || !figure.contains("value") || !figure.contains("source")) {
      fail(fmt::format("{}: a figure is {{\"value\": …, \"source\": \"…\"}}", key));
    }
    const Json& source = figure.at("source");
    if (!source.is_string() || source.get_ref<const std::string&>().empty()) {
      fail(fmt::format("{}: its source is empty, or no text", key));
    }
    sources_[key] = source.get<std::string>();
    return figure.at("value");
  }

  double number(const char* key) {
    const Json& value = figure(key);
    if (!value.is_number()) fail(fmt::format("{}: {} is no number", key, value.dump()));
    return value.get<double>();
  }

  double rate(const char* key) {
    const double value = number(key);
    if (!(value > 0 && value <= 1e6)) fail(fmt::format("{}: {} is not in (0, 10^6]", key, value));
    return value * 1e9;
  }

  double microseconds(const char* key) {
    const double value = number(key);
    if (!(value >= 0 && value <= 1e6)) fail(fmt::format("{}: {} is not in [0, 10^6]", key, value));
    return value * 1e-6;
  }

  bool has(const char* key) {
    if (json_.at("figures").contains(key)) return true;
    left_out_.emplace_back(key);
    return false;
  }

  double optional_microseconds(const char* key, double otherwise) { return has(key) ? microseconds(key) : otherwise; }

  std::vector<KernelTimes> kernels() {
    constexpr char kKey[] = "kernel_times";
    std::vector<KernelTimes> all;
    if (!has(kKey)) return all;
    const Json& value = figure(kKey);
    if (!value.is_array()) fail(fmt::format("{}: is no list", kKey));
    for (const Json& entry : value) {
      const std::string at = fmt::format("{}: [{}]", kKey, all.size());
      KernelTimes times = kernel(entry, at);
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].workload != times.workload || all[i].work != times.work) continue;
        fail(fmt::format("{}: [{}] has the times of {} with work {} already", at, i, times.workload, times.work));
      }
      all.push_back(std::move(times));
    }
    return all;
  }

  /// `at` says in errors which it is.
  KernelTimes kernel(const Json& entry, const std::string& at) const {
    for (const char* key : {"workload", "work", "issue_us", "items", "us", "blocks"}) {
      if (entry.is_object() && entry.contains(key)) continue;
      fail(fmt::format("{} is no {{\"workload\", \"work\", \"issue_us\", \"items\": [], \"us\": [], \"blocks\": []}}",
                       at));
    }
    for (const auto& [key, value] : entry.items()) {
      known(key, {"workload", "work", "issue_us", "together_us_an_item", "spread", "items", "us", "blocks"}, at + ".");
    }
    constexpr double kMaxMicroseconds = 1e9;
    constexpr std::int64_t kMaxWork = std::int64_t{1} << 30;
    constexpr std::int64_t kMaxItems = std::int64_t{1} << 40;
    const auto number = [&](const Json& value, const std::string& key, double high, bool or_zero) {
      const double read = value.is_number() ? value.get<double>() : -1;
      if (read <= high && (or_zero ? read >= 0 : read > 0)) return read;
      fail(fmt::format("{}.{}: {} is no number {} 0, up to {:g}", at, key, value.dump(), or_zero ? "from" : "above",
                       high));
    };
    const auto whole = [&](const Json& value, const std::string& key, std::int64_t high) {
      const double read = value.is_number() ? value.get<double>() : 0;
      if (read >= 1 && read <= static_cast<double>(high) && read == std::floor(read)) {
        return static_cast<std::int64_t>(read);
      }
      fail(fmt::format("{}.{}: {} is no whole number from 1 to {}", at, key, value.dump(), high));
    };
    const Json& workload = entry["workload"];
    const auto ids = streams::WorkloadRegistry::instance().ids();
    if (!workload.is_string() || std::ranges::find(ids, workload.get<std::string>()) == ids.end()) {
      fail(fmt::format("{}.workload: {} is no workload; there are {}", at, workload.dump(), fmt::join(ids, ", ")));
    }
    KernelTimes times{.workload = workload,
                      .work = static_cast<int>(whole(entry["work"], "work", kMaxWork)),
                      .call = 1e-6 * number(entry["issue_us"], "issue_us", kMaxMicroseconds, true),
                      .rows = {}};
    if (entry.contains("together_us_an_item")) {
      times.together = 1e-6 * number(entry["together_us_an_item"], "together_us_an_item", kMaxMicroseconds, true);
    }
    constexpr double kMaxSpread = 0.99;  // of a kernel's time: at 1 its blocks would take none
    if (entry.contains("spread")) times.spread = number(entry["spread"], "spread", kMaxSpread, true);
    const Json& items = entry["items"];
    for (const char* key : {"items", "us", "blocks"}) {
      if (entry[key].is_array() && !items.empty() && entry[key].size() == items.size()) continue;
      fail(fmt::format("{}: items, us and blocks are no lists of one length", at));
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto one = [i](const char* key) { return fmt::format("{}[{}]", key, i); };
      times.rows.push_back({.items = whole(items[i], one("items"), kMaxItems),
                            .seconds = 1e-6 * number(entry["us"][i], one("us"), kMaxMicroseconds, false),
                            .blocks = whole(entry["blocks"][i], one("blocks"), kMaxItems)});
      if (i == 0) continue;
      const KernelTimes::Row& row = times.rows[i];
      const KernelTimes::Row& before = times.rows[i - 1];
      if (row.items <= before.items)
        fail(fmt::format("{}.{}: is no more than the {} before", at, one("items"), before.items));
      if (row.blocks < before.blocks)
        fail(fmt::format("{}.{}: is less than the {} before", at, one("blocks"), before.blocks));
      // Noise may have one of many fall. Times of more items go on as between the last two.
      if (i + 1 == items.size() && row.seconds < before.seconds) {
        fail(fmt::format("{}.{}: the last is less than the one before, so that more items would take less time", at,
                         one("us")));
      }
    }
    return times;
  }

  int count(const char* key) {
    const double value = number(key);
    constexpr int kMax = 1 << 20;
    if (!(value >= 1 && value <= kMax && value == std::floor(value))) {
      fail(fmt::format("{}: {} is no whole number from 1 to {}", key, value, kMax));
    }
    return static_cast<int>(value);
  }

  bool flag(const char* key) {
    const Json& value = figure(key);
    if (!value.is_boolean()) fail(fmt::format("{}: {} is neither true nor false", key, value.dump()));
    return value.get<bool>();
  }

  std::vector<CopyEngine> copy_engines() {
    constexpr char kKey[] = "copy_engines";
    const Json& value = figure(kKey);
    constexpr std::size_t kMax = 64;
    if (!value.is_array() || value.size() > kMax) {
      fail(fmt::format("{}: is no list of at most {} engines, such as [[\"in\"], [\"out\"]]", kKey, kMax));
    }
    std::vector<CopyEngine> engines;
    CopyEngine served;
    for (const Json& ways : value) {
      CopyEngine engine;
      if (!ways.is_array() || ways.empty()) fail(fmt::format("{}: {} is no list of ways", kKey, ways.dump()));
      for (const Json& way : ways) {
        if (way != "in" && way != "out") fail(fmt::format("{}: {} is neither \"in\" nor \"out\"", kKey, way.dump()));
        (way == "in" ? engine.in : engine.out) = true;
      }
      served.in |= engine.in;
      served.out |= engine.out;
      engines.push_back(engine);
    }
    if (!engines.empty() && !(served.in && served.out)) {
      fail(fmt::format("{}: no engine copies {}", kKey, served.in ? "out" : "in"));
    }
    return engines;
  }

  const Json& json_;
  std::string file_;
  std::map<std::string, std::string> sources_;
  std::vector<std::string> left_out_;  ///< keys that may be
};

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

namespace {

/// Seconds of an item, where a kernel runs alone and fills the device.
double best_alone(const KernelTimes& times) {
  double least = std::numeric_limits<double>::infinity();
  for (const KernelTimes::Row& row : times.rows) least = std::min(least, row.seconds / static_cast<double>(row.items));
  return least;
}

}  // namespace

double KernelTimes::used(const Row& row) const {
  const double item = together > 0 ? together : best_alone(*this);
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

bool one_line(std::string_view text) {
  return std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

DeviceProfile parse_device_profile(std::string_view text, const std::string& file) {
  try {
    return Reader(Json::parse(text), file).read();
  } catch (const Json::exception& error) {  // also of a number that no double can be
    throw ProfileError(fmt::format("{}: is no JSON: {}", file, what_is_wrong(error, text)));
  }
}

const std::vector<DeviceProfile>& built_in_device_profiles() {
  static const std::vector<DeviceProfile> profiles = [] {
    std::vector<DeviceProfile> all;
    for (const auto& [file, text] : kDeviceProfiles) all.push_back(parse_device_profile(text, file));
    return all;
  }();
  return profiles;
}

namespace {

/// Of the built-in profile of this name, or of a file: what errors call it, and its text.
std::pair<std::string, std::string> profile_text(const std::string& name_or_file) {
  if (name_or_file.ends_with(".json")) {
    std::string text = text_of(name_or_file).value_or("");
    if (text.empty()) throw ProfileError(name_or_file + ": cannot be read, or is empty");
    return {name_or_file, std::move(text)};
  }
  const auto& profiles = built_in_device_profiles();
  const auto found = std::ranges::find(profiles, name_or_file, &DeviceProfile::name);
  if (found != profiles.end()) return kDeviceProfiles[static_cast<std::size_t>(found - profiles.begin())];
  std::vector<std::string> names;
  for (const DeviceProfile& profile : profiles) names.push_back(profile.name);
  const std::vector<std::string> near = near_matches(name_or_file, names);
  throw ProfileError(fmt::format("no device profile is called '{}'; {} {} (or give a file of your own, FILE.json)",
                                 name_or_file, near.empty() ? "there are" : "did you mean",
                                 fmt::join(near.empty() ? names : near, near.empty() ? ", " : " or ")));
}

}  // namespace

DeviceProfile device_profile(const std::string& name_or_file) {
  const auto& [file, text] = profile_text(name_or_file);
  return parse_device_profile(text, file);
}

DeviceProfile device_profile(const std::string& name_or_file, const Json& figures, const std::string& source) {
  const auto& [file, text] = profile_text(name_or_file);
  parse_device_profile(text, file);  // a fault of the file itself is none of these figures
  Json profile = Json::parse(text);
  for (const auto& [key, value] : figures.items()) profile["figures"][key] = {{"value", value}, {"source", source}};
  return Reader(profile, source).read();
}

}  // namespace scanlab::simulator
