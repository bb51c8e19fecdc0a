#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "harness/host/document.hpp"
#include "harness/scenarios/scenario.hpp"
#include "harness/schedule/facts.hpp"
#include "harness/selection/words.hpp"
#include "scenario_files.hpp"

namespace scanlab::simulator {

namespace {

// ---- the device

constexpr char kDefaultProfile[] = "didactic";

std::string read_profile_name(const Value& name) {
  return name.text().ends_with(".json") ? name.text() : name.choice(built_in_profile_names());
}

/// Reads the profile that a scenario names, with the figures that it gives in place of the profile's own.
DeviceProfile read_device(const Value& scenario) {
  if (!scenario.has("device")) return device_profile(kDefaultProfile);
  const Value table = scenario.at("device");
  if (!table.json().is_object()) return device_profile(read_profile_name(table));
  DeviceProfile device =
      device_profile(table.has("profile") ? read_profile_name(table.at("profile")) : kDefaultProfile, table);
  Words changes;
  for (const auto& [key, figure] : table.json().items()) {
    if (key != "profile" && key != "title") changes.push_back(fmt::format("{} = {}", key, figure.dump()));
  }
  if (!changes.empty()) device.title += fmt::format(", with {}", fmt::join(changes, ", "));
  FieldReader(table).optional("title", device.title);
  return device;
}

void refuse_no_room(const DeviceProfile& device, const Value& scenario) {
  constexpr int kThreads = KnownTimes{}.threads_per_block;
  if (device.slots(kThreads) > 0) return;
  scenario.at("device").fail(fmt::format("resident_threads: {} are too few, since scenarios have blocks of {} threads",
                                         device.resident_threads, kThreads));
}

// ---- the work: a schedule of the registry, or operations

void read_job(const Value& table, Scenario& scenario) {
  constexpr std::int64_t kMaxItems = std::int64_t{1} << 40;
  constexpr double kMaxChunks = 4096;
  constexpr Limits kMilliseconds{.low = 0, .high = 1e6, .unit = 1e-3};
  table.allow_keys({"schedule", "workload", "items", "chunks", "streams", "memory", "buffers", "blocks", "work",
                    "h2d_ms", "kernel_ms", "d2h_ms"});
  FieldReader fields(table);
  const streams::Schedule* schedule = nullptr;
  fields("schedule", schedule);
  streams::Job job{.workload = streams::WorkloadRegistry::instance().find("scale"),
                   .items = 1200,  // can be cut into 2, 3, 4, 5, 6 or 8
                   .chunks = 1,
                   .streams = 1,
                   .memory = schedule->about.memory};
  fields.optional("workload", job.workload);
  fields.optional("memory", job.memory);
  if (table.has("items")) job.items = read_count(table, "items", kMaxItems);
  fields.optional("chunks", job.chunks, {.low = 1, .high = kMaxChunks});
  fields.optional("streams", job.streams, {.low = 1, .high = 1024});
  fields.optional("buffers", job.buffers, {.low = 2, .high = kMaxChunks});
  fields.optional("blocks", job.blocks, {.low = 1, .high = 65536});
  fields.optional("work", job.work, {.low = 1, .high = 1 << 30});
  KnownTimes known;
  fields.optional("h2d_ms", known.copy_in, kMilliseconds);
  fields.optional("kernel_ms", known.kernel, kMilliseconds);
  fields.optional("d2h_ms", known.copy_out, kMilliseconds);
  const std::string reason = unknown_kernel_time(job, scenario.device, known);
  if (!reason.empty()) table.fail(reason + ": give kernel_ms, or work 1");
  scenario.recording = record(*schedule, job);
  scenario.costs = costs(scenario.recording, scenario.device, known);
}

void read_work(const Value& table, Scenario& scenario) {
  if (table.has("job") == table.has("operations")) {
    table.fail(fmt::format("the scenario has {} of the keys job and operations: give one of them",
                           table.has("job") ? "both" : "none"));
  }
  if (table.has("operations")) return read_operations(table, scenario);
  for (const char* key : {"created_streams", "partitions"}) {
    if (table.has(key)) table.at(key).fail("the schedule of a job creates its streams: leave it out");
  }
  read_job(table.at("job"), scenario);
}

// ---- a scenario, and a file

/// The head of a file, above its scenarios.
struct Head {
  std::string source, unit;
  std::string stem;  ///< of its name
  bool alone;        ///< whether it has one scenario, which then needs no id
};

std::string read_id(const Value& table, const Head& head) {
  if (!table.has("id") && !head.alone)
    table.fail("lacks the key 'id', which only a scenario alone in its file may lack");
  const std::string id = table.has("id") ? table.at("id").text() : head.stem;
  const auto fits = [](unsigned char c) { return c < 0x80 && (std::isalnum(c) != 0 || c == '_' || c == '-'); };
  if (id.size() > 100 || !std::ranges::all_of(id, fits)) {
    (table.has("id") ? table.at("id") : table).fail("expected as its id at most 100 letters, digits, _ and -");
  }
  return id;
}

Scenario read_scenario(const Value& table, const Head& head) {
  table.allow_keys({"id", "title", "fact", "device", "job", "operations", "created_streams", "partitions"});
  Scenario scenario{.id = read_id(table, head),
                    .place = table.place(),
                    .title = table.at("title").text(),
                    .source = head.source,
                    .fact = table.at(table.has("fact") ? "fact" : "title").text(),
                    .unit = head.unit,
                    .device = read_device(table),
                    .recording = {},
                    .costs = {}};
  refuse_no_room(scenario.device, table);
  const auto refuse = [&](const char* reason) { table.fail(fmt::format("cannot be simulated: {}", reason)); };
  try {
    read_work(table, scenario);
    if (!(simulate(scenario).timeline.makespan() > 0)) refuse("nothing in it takes any time");
  } catch (const std::logic_error& error) {  // times beyond the model; kernels that a workload wants in another order
    refuse(error.what());
  }
  return scenario;
}

/// Adds the scenarios of a file. Ids are names of files that are written, so each is there once.
void add_scenarios(std::string_view text, const std::string& file, std::vector<Scenario>& all) {
  const Document document = parse_toml(text, file);
  const Value top = document;
  top.allow_keys({"source", "unit", "scenario"});
  if (!top.has("scenario") || !top.at("scenario").json().is_array()) {
    top.fail("a scenario file has one scenario or more, each below a line [[scenario]]");
  }
  const std::vector<Value> tables = top.at("scenario").items();
  const Head head{.source = top.has("source") ? top.at("source").text() : file,
                  .unit = top.has("unit") ? top.at("unit").choice({"ms", "units"}) : "ms",
                  .stem = std::filesystem::path(file).stem().string(),
                  .alone = tables.size() == 1};
  for (const Value& table : tables) {
    Scenario scenario = read_scenario(table, head);
    const auto same = std::ranges::find(all, scenario.id, &Scenario::id);
    if (same != all.end()) table.fail(fmt::format("there is a scenario '{}' already: {}", scenario.id, same->place));
    all.push_back(std::move(scenario));
  }
}

}  // namespace

std::vector<Scenario> parse_scenarios(std::string_view text, const std::string& file) {
  std::vector<Scenario> all;
  add_scenarios(text, file, all);
  return all;
}

std::vector<Scenario> read_scenarios(const std::vector<std::string>& files) {
  std::vector<Scenario> all;
  for (const std::string& name : files) add_scenarios(read_text(name), name, all);
  return all;
}

const std::vector<Scenario>& built_in_scenarios() {
  static const std::vector<Scenario> all = [] {
    std::vector<Scenario> scenarios;
    for (const auto& [file, text] : kScenarioFiles) add_scenarios(text, file, scenarios);
    return scenarios;
  }();
  return all;
}

}  // namespace scanlab::simulator
