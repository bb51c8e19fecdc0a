// The operations of a scenario that are given one by one, in the order of issue.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/scenarios/scenario.hpp"
#include "harness/schedule/issuer.hpp"
#include "harness/selection/words.hpp"

namespace scanlab::simulator {

using streams::Chunk;
using streams::Stream;
using streams::StreamKind;

namespace {

constexpr int kMaxStreams = 1024;
constexpr int kMaxChunks = 4096;
constexpr std::int64_t kMaxBlocks = 65536;  // each may be drawn
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 42;
constexpr Limits kMilliseconds{.low = 0, .high = 1e6, .unit = 1e-3};

constexpr std::int64_t kHighestPriority = -5;  // as cudaDeviceGetStreamPriorityRange has it

Words kinds() { return {"h2d", "kernel", "d2h", "side_kernel", "memset", "d2d", "record", "wait", "synchronize"}; }

Words keys_of(const std::string& kind) {
  if (kind == "record" || kind == "wait" || kind == "synchronize") return {"kind", "stream", "event"};
  Words keys{"kind", "stream", "priority", "partition", "ms", "label"};
  const Words own = kind.ends_with("kernel") ? Words{"blocks"} : Words{"bytes", "gb_per_s"};
  keys.insert(keys.end(), own.begin(), own.end());
  if (kind == "h2d" || kind == "d2h" || kind == "kernel") keys.emplace_back("chunk");
  return keys;
}

class Operations {
 public:
  /// partitions: multiprocessors of each; none: one of all.
  Operations(Scenario& scenario, StreamKind created, std::vector<int> partitions)
      : scenario_(scenario), created_(created), partitions_(std::move(partitions)) {
    // The chunks' data are floats; how many, each operation says.
    scenario_.recording.job = {
        .workload = streams::WorkloadRegistry::instance().find("scale"), .items = 1, .chunks = 1};
    scenario_.recording.buffer_items = 1;
  }

  void add(const Value& operation) {
    const std::string kind = operation.at("kind").choice(kinds());
    operation.allow_keys(keys_of(kind));
    streams::Issuer issuer(scenario_.recording);
    OperationCost cost;
    if (kind == "synchronize") {
      synchronize(operation, issuer);
      return costs_.push_back(cost);
    }
    const Stream stream = stream_of(operation);
    if (operation.has("priority")) set_priority(operation, stream);
    if (operation.has("partition")) set_partition(operation, stream);
    if (kind == "record") issuer.record(recorded(operation), stream);
    if (kind == "wait") issuer.wait(stream, awaited(operation));
    if (kind == "h2d") issuer.copy_in(copied(operation, kind, cost), stream);
    if (kind == "d2h") issuer.copy_out(copied(operation, kind, cost), stream);
    if (kind == "kernel") issuer.compute(computed(operation, cost), stream);
    if (kind == "side_kernel") {
      cost = kernel(operation);
      issuer.side_kernel(stream);
    }
    if (kind == "memset" || kind == "d2d") {
      cost = fill(operation, kind == "memset" ? 1 : 2);
      issuer.side_kernel(stream);
      scenario_.recording.operations.back().label = kind;
    }
    if (operation.has("label")) scenario_.recording.operations.back().label = operation.at("label").text();
    costs_.push_back(cost);
  }

  /// Once, behind the last.
  void finish() {
    streams::Recording& recording = scenario_.recording;
    streams::Issuer(recording).create_streams(streams_, created_);
    for (const streams::Operation& operation : recording.operations) {
      if (!operation.chunk.empty()) recording.buffers = std::max(recording.buffers, operation.chunk.buffer + 1);
    }
    scenario_.costs = costs(recording, scenario_.device, {.kernel = 0.0});  // of it, the calls of the host
    for (std::size_t i = 0; i < costs_.size(); ++i) {
      costs_[i].call_seconds = scenario_.costs.operations[i].call_seconds;
      const Stream& stream = recording.operations[i].stream;
      if (stream.created() && priorities_.contains(stream.index)) costs_[i].priority = priorities_.at(stream.index);
      if (stream.created() && partition_of_.contains(stream.index))
        costs_[i].partition = partition_of_.at(stream.index);
      scenario_.costs.operations[i] = costs_[i];
    }
    const std::int64_t in_one =
        scenario_.device.slots(KnownTimes{}.threads_per_block) / scenario_.device.multiprocessors;
    for (const int multiprocessors : partitions_) scenario_.costs.partitions.push_back(in_one * multiprocessors);
  }

 private:
  Stream stream_of(const Value& operation) {
    const Value value = operation.at("stream");
    if (value.json().is_string()) {
      const bool legacy = value.choice({"legacy_default", "per_thread_default"}) == "legacy_default";
      return legacy ? streams::kLegacyDefault : streams::kPerThreadDefault;
    }
    const auto number = static_cast<int>(value.whole(0, kMaxStreams - 1));
    streams_ = std::max(streams_, number + 1);
    return {created_, number};
  }

  /// A stream has one priority, and the default streams have none.
  void set_priority(const Value& operation, const Stream& stream) {
    const Value value = operation.at("priority");
    set(priorities_, value, static_cast<int>(value.whole(kHighestPriority, 0)), stream, "priority");
  }

  /// Likewise a partition.
  void set_partition(const Value& operation, const Stream& stream) {
    const Value value = operation.at("partition");
    if (partitions_.empty()) value.fail("the scenario has no key partitions, with the multiprocessors of each");
    set(partition_of_, value, static_cast<int>(value.whole(0, static_cast<int>(partitions_.size()) - 1)), stream,
        "partition");
  }

  static void set(std::map<int, int>& of, const Value& value, int number, const Stream& stream, const char* what) {
    if (!stream.created()) value.fail(fmt::format("default streams have no {}", what));
    const int first = of.try_emplace(stream.index, number).first->second;
    if (number != first) value.expect(fmt::format("{}, the {} of stream {} above", first, what, stream.index));
  }

  /// The host waits for a stream, for an event, or for the device.
  void synchronize(const Value& operation, streams::Issuer& issuer) {
    if (operation.has("stream") && operation.has("event")) operation.fail("give a stream or an event, not both");
    if (operation.has("stream")) return issuer.synchronize(stream_of(operation));
    if (operation.has("event")) return issuer.synchronize(awaited(operation));
    issuer.synchronize_device();
  }

  streams::Event recorded(const Value& operation) {
    const auto [at, is_new] = events_.try_emplace(operation.at("event").text());
    if (is_new) at->second = streams::Issuer(scenario_.recording).create_event();
    return at->second;
  }

  streams::Event awaited(const Value& operation) const {
    const auto event = events_.find(operation.at("event").text());
    if (event != events_.end()) return event->second;
    Words known;
    for (const auto& [name, each] : events_) known.push_back(name);
    operation.at("event").expect(fmt::format("an event that an operation above records ({})",
                                             known.empty() ? "there is none" : fmt::to_string(fmt::join(known, ", "))));
  }

  /// The chunk that it names; else the one after the last of its kind.
  Chunk chunk_of(const Value& operation, const std::string& kind) {
    int number = std::min(chunks_[kind]++, kMaxChunks - 1);
    FieldReader(operation).optional("chunk", number, {.low = 0, .high = kMaxChunks - 1});
    // Chunks lie so far apart in the host's arrays that none reaches into another.
    constexpr std::int64_t kApart = kMaxBytes;
    return {.index = number, .first = kApart * number, .items = 1, .buffer = number};
  }

  struct Moved {
    double seconds;
    double bytes;
  };

  /// Time and bytes: one follows from the other by the rate that is given, else by the device's.
  static Moved moved(const Value& operation, double device_rate) {
    std::optional<double> given;
    FieldReader(operation).optional("ms", given, kMilliseconds);
    std::optional<double> rate;
    FieldReader(operation).optional("gb_per_s", rate, {.low = 1e-9, .high = 1e6, .unit = 1e9});
    const bool has_bytes = operation.has("bytes");
    if (!given && !has_bytes) operation.fail("give ms, or bytes with or without gb_per_s");
    if (rate && (given || !has_bytes)) operation.at("gb_per_s").fail("expected bytes beside it, and no ms");
    if (!has_bytes) return {.seconds = *given, .bytes = *given * device_rate};
    const auto bytes = static_cast<double>(read_count(operation, "bytes", kMaxBytes));
    return {.seconds = given.value_or(bytes / rate.value_or(device_rate)), .bytes = bytes};
  }

  Chunk copied(const Value& operation, const std::string& kind, OperationCost& cost) {
    const bool in = kind == "h2d";
    const double item = static_cast<double>(scenario_.recording.job.workload->about.item_bytes());
    const Moved all = moved(operation, in ? scenario_.device.alone.in : scenario_.device.alone.out);
    cost.copy_seconds = all.seconds;
    Chunk chunk = chunk_of(operation, kind);
    chunk.items = std::max<std::int64_t>(1, std::llround(all.bytes / item));
    if (in) copied_in_[chunk.index] = chunk.items;
    return chunk;
  }

  Chunk computed(const Value& operation, OperationCost& cost) {
    cost = kernel(operation);
    Chunk chunk = chunk_of(operation, "kernel");
    if (copied_in_.contains(chunk.index)) chunk.items = copied_in_.at(chunk.index);
    return chunk;
  }

  OperationCost kernel(const Value& operation) const {
    const auto seconds = operation.at("ms").get<double>(kMilliseconds);
    const std::int64_t slots = scenario_.device.slots(KnownTimes{}.threads_per_block);
    OperationCost cost{.blocks = slots};
    FieldReader(operation).optional("blocks", cost.blocks, {.low = 1, .high = kMaxBlocks});
    cost.block_seconds = seconds / static_cast<double>((cost.blocks + slots - 1) / slots);
    return cost;
  }

  /// A memset, or a copy within the device, is a kernel that asks for the whole rate of device memory, in blocks so
  /// short that it takes what room others leave. Each byte crosses memory `accesses` times.
  OperationCost fill(const Value& operation, int accesses) const {
    constexpr int kWaves = 64;
    const double seconds = moved(operation, scenario_.device.device_rate / accesses).seconds;
    return {.blocks = kWaves * scenario_.device.slots(KnownTimes{}.threads_per_block),
            .block_seconds = seconds / kWaves,
            .share = 1};
  }

  Scenario& scenario_;
  StreamKind created_;
  int streams_ = 0;
  std::vector<OperationCost> costs_;
  std::map<std::string, streams::Event> events_;
  std::vector<int> partitions_;
  std::map<int, int> priorities_;          ///< by created stream
  std::map<int, int> partition_of_;        ///< likewise
  std::map<std::string, int> chunks_;      ///< by kind: how many operations there are
  std::map<int, std::int64_t> copied_in_;  ///< items, by chunk
};

}  // namespace

void read_operations(const Value& scenario_table, Scenario& scenario) {
  StreamKind created = StreamKind::blocking;
  if (scenario_table.has("created_streams") &&
      scenario_table.at("created_streams").choice({"blocking", "non_blocking"}) == "non_blocking") {
    created = StreamKind::non_blocking;
  }
  const Value all = scenario_table.at("operations");
  if (all.items().empty()) all.fail("expected one operation or more, as [{stream = 0, kind = \"kernel\", ms = 1}]");
  std::vector<int> partitions;
  int left = scenario.device.multiprocessors;
  if (scenario_table.has("partitions")) {
    for (const Value& each : scenario_table.at("partitions").items()) {
      if (left == 0) each.fail("the partitions before it have all multiprocessors of the device");
      partitions.push_back(static_cast<int>(each.whole(1, left)));
      left -= partitions.back();
    }
  }
  Operations operations(scenario, created, std::move(partitions));
  for (const Value& operation : all.items()) operations.add(operation);
  operations.finish();
}

std::int64_t read_count(const Value& table, const std::string& key, std::int64_t high) {
  const Value value = table.at(key);
  if (!value.json().is_string()) return value.whole(1, high);
  try {
    const std::vector<std::int64_t> all = key == "bytes"
                                              ? std::vector{static_cast<std::int64_t>(parse_bytes(value.text(), key))}
                                              : parse_items(value.text(), key);
    if (all.size() > 1) value.fail("is a range: give one number");
    if (all.front() >= 1 && all.front() <= high) return all.front();
  } catch (const DocumentError&) {
    throw;
  } catch (const CommandError& error) {
    value.fail(error.what());
  }
  value.expect(fmt::format("1 to {}", high));
}

}  // namespace scanlab::simulator
