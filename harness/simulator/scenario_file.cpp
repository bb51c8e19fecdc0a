#include "harness/simulator/scenario_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "harness/host/status.hpp"
#include "harness/host/text_file.hpp"
#include "harness/simulator/scenario_operations.hpp"
#include "harness/simulator/scenario_table.hpp"
#include "scenario_files.hpp"

namespace scanlab::simulator {

using Json = nlohmann::ordered_json;

namespace {

// ---- the device

constexpr char kDefaultProfile[] = "didactic";

void refuse_no_room(const DeviceProfile& device, const Place& place) {
  constexpr int kThreads = KnownTimes{}.threads_per_block;
  if (device.slots(kThreads) > 0) return;
  place.fail(fmt::format("resident_threads: {} are too few, since scenarios have blocks of {} threads",
                         device.resident_threads, kThreads));
}

/// The profile with the figures that the file gives in place of its own.
DeviceProfile changed_device(const FileValue& value, const std::string& file) {
  Words any;  // the profile says which figures there are
  for (const FileValue::Entry& each : value.entries) any.push_back(each.key);
  const Table table(value, file, "a device", any);
  const std::string profile = table.text("profile", kDefaultProfile);
  Json figures = Json::object();
  for (const FileValue::Entry& each : value.entries) {
    if (each.key != "profile" && each.key != "title") figures[each.key] = each.value.json();
  }
  DeviceProfile device;
  try {
    device = device_profile(profile, figures, table.place().text());
  } catch (const ProfileError&) {
    // Of what cannot be by itself, the line is known; and the profile's own faults are none of its figures'.
    device_profile(profile);
    for (const auto& [key, figure] : figures.items()) {
      device_profile(profile, {{key, figure}}, table.place_of(key).text());
    }
    throw;
  }
  refuse_no_room(device, table.place_of("resident_threads"));
  Words changes;
  for (const auto& [key, figure] : figures.items()) changes.push_back(fmt::format("{} = {}", key, figure.dump()));
  if (!changes.empty()) device.title += fmt::format(", with {}", fmt::join(changes, ", "));
  device.title = table.text("title", device.title);
  return device;
}

DeviceProfile device_of(const Table& scenario) {
  if (!scenario.has("device")) return device_profile(kDefaultProfile);
  const FileValue& value = scenario.at("device");
  const Place place = scenario.place_of("device");
  try {
    if (value.kind == FileValue::Kind::table) return changed_device(value, place.file);
    DeviceProfile device = device_profile(scenario.text("device"));
    refuse_no_room(device, place);
    return device;
  } catch (const ProfileError& error) {
    const std::string what = error.what();
    throw CommandError(kBadInput, what.starts_with(place.file) ? what : fmt::format("{}: {}", place.text(), what));
  }
}

// ---- the work: a schedule of the registry, or operations

std::int64_t one_count(const std::string& word, const std::string& key) {
  const std::vector<std::int64_t> all = parse_items(word, key);
  if (all.size() != 1) throw CommandError(kBadInput, fmt::format("{}: '{}' is a range: give one number", key, word));
  return all.front();
}

void read_job(const Table& job, Scenario& scenario) {
  constexpr std::int64_t kMaxItems = std::int64_t{1} << 40;
  constexpr std::int64_t kDefaultItems = 1200;  // can be cut into 2, 3, 4, 5, 6 or 8
  constexpr std::int64_t kMaxChunks = 4096;
  constexpr std::int64_t kMaxStreams = 1024;
  constexpr std::int64_t kMaxBlocks = 65536;
  constexpr std::int64_t kMaxWork = std::int64_t{1} << 30;
  constexpr double kMaxMilliseconds = 1e6;
  const auto& schedule = job.registered<streams::Schedule>("schedule", job.text("schedule"));
  const auto number = [&](const char* key, std::int64_t low, std::int64_t high, int otherwise) {
    return static_cast<int>(job.whole(key, low, high).value_or(otherwise));
  };
  streams::Job asked{.workload = &job.registered<streams::Workload>("workload", job.text("workload", "scale")),
                     .items = job.count("items", 1, kMaxItems, one_count).value_or(kDefaultItems),
                     .chunks = number("chunks", 1, kMaxChunks, 1),
                     .streams = number("streams", 1, kMaxStreams, 1),
                     .memory = schedule.about.memory,
                     .buffers = number("buffers", 2, kMaxChunks, 2),
                     .blocks = number("blocks", 1, kMaxBlocks, 0),
                     .work = number("work", 1, kMaxWork, 1)};
  if (job.has("memory")) {
    const bool pinned = job.one_of("memory", {"pinned", "pageable"}) == "pinned";
    asked.memory = pinned ? streams::HostMemory::pinned : streams::HostMemory::pageable;
  }
  const auto seconds = [&](const char* key) {
    auto time = job.number(key, 0, kMaxMilliseconds);
    if (time) *time *= 1e-3;
    return time;
  };
  const KnownTimes known{.copy_in = seconds("h2d_ms"), .kernel = seconds("kernel_ms"), .copy_out = seconds("d2h_ms")};
  const std::string why = unknown_kernel_time(asked, scenario.device, known);
  if (!why.empty()) job.place_of("work").fail(why + ": give kernel_ms, or work 1");
  scenario.recording = record(schedule, asked);
  scenario.costs = costs(scenario.recording, scenario.device, known);
}

void read_work(const Table& table, Scenario& scenario) {
  if (table.has("job") == table.has("operations")) {
    table.place().fail(fmt::format("the scenario has {} of the keys job and operations: allowed is one of them",
                                   table.has("job") ? "both" : "none"));
  }
  if (table.has("operations")) return read_operations(table, scenario);
  if (table.has("created_streams")) {
    table.refuse("created_streams", "no such key beside a job, whose schedule creates its streams");
  }
  read_job(table.table("job", "a job",
                       {"schedule", "workload", "items", "chunks", "streams", "memory", "buffers", "blocks", "work",
                        "h2d_ms", "kernel_ms", "d2h_ms"}),
           scenario);
}

// ---- a scenario, and a file

/// What a file says above its scenarios.
struct Head {
  std::string source, unit;
  std::string stem;  ///< of its name
  bool alone;        ///< whether it has one scenario, which then needs no id
};

std::string id_of(const Table& table, const Head& head) {
  const auto fits = [](unsigned char c) { return c < 0x80 && (std::isalnum(c) != 0 || c == '_' || c == '-'); };
  constexpr std::size_t kMaxBytes = 100;
  constexpr char kAllowed[] = "at most 100 letters, digits, _ and -";
  if (!table.has("id") && !head.alone) table.place().fail("a scenario lacks the key id, which one alone may lack");
  const std::string id = table.text("id", head.stem);
  if (id.size() <= kMaxBytes && std::ranges::all_of(id, fits)) return id;
  if (table.has("id")) table.refuse("id", kAllowed);
  table.place().fail(
      fmt::format("the scenario lacks the key id, and the file's name is none: allowed are {}", kAllowed));
}

Scenario scenario_of(const Table& table, const Head& head) {
  const std::string title = table.text("title");
  Scenario scenario{.id = id_of(table, head),
                    .title = title,
                    .source = head.source,
                    .fact = table.text("fact", title),
                    .unit = head.unit,
                    .device = device_of(table),
                    .recording = {},
                    .costs = {}};
  const auto refused = [&](const char* why) {
    table.place().fail(fmt::format("the scenario '{}' cannot be simulated: {}", scenario.id, why));
  };
  try {
    read_work(table, scenario);
    if (!(simulate(scenario).timeline.makespan() > 0)) refused("nothing in it takes any time");
  } catch (const std::logic_error& error) {  // times beyond the model; kernels that a workload wants in another order
    refused(error.what());
  }
  return scenario;
}

/// Scenarios of one file after another. Ids are names of files that are written, so each is there once.
class Scenarios {
 public:
  void add(std::string_view text, const std::string& file) {
    const FileValue parsed = parse_toml(text, file);
    const Table top(parsed, file, "a scenario file", {"source", "unit", "scenario"});
    const std::vector<FileValue> none;
    const std::vector<FileValue>& all = top.has("scenario") ? top.at("scenario").list : none;
    const bool tables =
        std::ranges::all_of(all, [](const FileValue& each) { return each.kind == FileValue::Kind::table; });
    if (all.empty() || !tables) {
      top.place_of("scenario").fail("a scenario file has one scenario or more, each below a line [[scenario]]");
    }
    const Head head{.source = top.text("source", file),
                    .unit = top.has("unit") ? top.one_of("unit", {"ms", "units"}) : "ms",
                    .stem = std::filesystem::path(file).stem().string(),
                    .alone = all.size() == 1};
    for (const FileValue& each : all) {
      const Table table(each, file, "a scenario",
                        {"id", "title", "fact", "device", "job", "operations", "created_streams"});
      Scenario scenario = scenario_of(table, head);
      const auto [at, is_new] = places_.try_emplace(scenario.id, table.place().text());
      if (!is_new) {
        table.place_of("id").fail(fmt::format("there is a scenario '{}' already: {}", scenario.id, at->second));
      }
      scenarios_.push_back(std::move(scenario));
    }
  }

  std::vector<Scenario> take() { return std::move(scenarios_); }

 private:
  std::vector<Scenario> scenarios_;
  std::map<std::string, std::string> places_;
};

}  // namespace

std::vector<Scenario> parse_scenarios(std::string_view text, const std::string& file) {
  Scenarios scenarios;
  scenarios.add(text, file);
  return scenarios.take();
}

std::vector<Scenario> read_scenarios(const std::vector<std::string>& files) {
  Scenarios scenarios;
  for (const std::string& name : files) {
    const std::string text = text_of(name).value_or("");
    if (text.empty()) throw CommandError(kBadInput, fmt::format("{}: cannot be read, or is empty", name));
    scenarios.add(text, name);
  }
  return scenarios.take();
}

const std::vector<Scenario>& built_in_scenarios() {
  static const std::vector<Scenario> all = [] {
    Scenarios scenarios;
    for (const auto& [file, text] : kScenarioFiles) scenarios.add(text, file);
    return scenarios.take();
  }();
  return all;
}

}  // namespace scanlab::simulator
