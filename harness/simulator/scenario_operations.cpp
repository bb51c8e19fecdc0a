#include "harness/simulator/scenario_operations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/schedule/issuer.hpp"

namespace scanlab::simulator {

using streams::Chunk;
using streams::Stream;
using streams::StreamKind;

namespace {

constexpr int kMaxStreams = 1024;
constexpr int kMaxChunks = 4096;
constexpr std::int64_t kMaxBlocks = 65536;  // each may be drawn
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 42;
constexpr double kMaxMilliseconds = 1e6;

constexpr std::int64_t kHighestPriority = -5;  // as cudaDeviceGetStreamPriorityRange has it

Words kinds() { return {"h2d", "kernel", "d2h", "side_kernel", "memset", "d2d", "record", "wait", "synchronize"}; }

Words keys_of(const std::string& kind) {
  const auto work = [](Words keys) {
    keys.insert(keys.begin(), {"kind", "stream", "priority", "ms", "label"});
    return keys;
  };
  if (kind == "h2d" || kind == "d2h") return work({"bytes", "gb_per_s", "chunk"});
  if (kind == "kernel") return work({"blocks", "chunk"});
  if (kind == "side_kernel") return work({"blocks"});
  if (kind == "memset" || kind == "d2d") return work({"bytes", "gb_per_s"});
  return {"kind", "stream", "event"};
}

class Operations {
 public:
  Operations(Scenario& scenario, StreamKind created) : scenario_(scenario), created_(created) {
    // The chunks' data are floats; how many, each operation says.
    scenario_.recording.job = {
        .workload = streams::WorkloadRegistry::instance().find("scale"), .items = 1, .chunks = 1};
    scenario_.recording.buffer_items = 1;
  }

  void add(const FileValue& value, const std::string& file) {
    Words any = kinds();
    for (const FileValue::Entry& each : value.entries) any.push_back(each.key);
    const std::string kind = Table(value, file, "an operation", any).one_of("kind", kinds());
    const Table operation(value, file, fmt::format("an operation of the kind {}", kind), keys_of(kind));
    streams::Issuer issuer(scenario_.recording);
    OperationCost cost;
    if (kind == "synchronize") {
      synchronize(operation, issuer);
      return costs_.push_back(cost);
    }
    const Stream stream = stream_of(operation);
    if (operation.has("priority")) set_priority(operation, stream);
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
    if (operation.has("label")) scenario_.recording.operations.back().label = operation.text("label");
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
      if (const auto found = priorities_.find(stream.index); stream.created() && found != priorities_.end()) {
        costs_[i].priority = found->second;
      }
      scenario_.costs.operations[i] = costs_[i];
    }
  }

 private:
  Stream stream_of(const Table& operation) {
    const FileValue& value = operation.at("stream");
    for (const Stream& stream : {streams::kLegacyDefault, streams::kPerThreadDefault}) {
      if (const auto* const name = value.as<std::string>(); name && *name == streams::name(stream.kind)) return stream;
    }
    const auto* const number = value.as<std::int64_t>();
    if (number == nullptr || *number < 0 || *number >= kMaxStreams) {
      operation.refuse("stream", fmt::format("the number of a stream from 0 to {}, \"{}\" or \"{}\"", kMaxStreams - 1,
                                             streams::name(StreamKind::legacy_default),
                                             streams::name(StreamKind::per_thread_default)));
    }
    streams_ = std::max(streams_, static_cast<int>(*number) + 1);
    return {created_, static_cast<int>(*number)};
  }

  /// A stream has one priority, and the default streams have none.
  void set_priority(const Table& operation, const Stream& stream) {
    const auto priority = static_cast<int>(*operation.whole("priority", kHighestPriority, 0));
    if (!stream.created()) operation.refuse("priority", "a priority of a created stream");
    const int first = priorities_.try_emplace(stream.index, priority).first->second;
    if (priority != first) {
      operation.refuse("priority", fmt::format("{}, which an operation above gives stream {}", first, stream.index));
    }
  }

  /// The host waits for a stream, for an event, or for the device.
  void synchronize(const Table& operation, streams::Issuer& issuer) {
    if (operation.has("stream") && operation.has("event")) operation.refuse("event", "a stream or an event, not both");
    if (operation.has("stream")) return issuer.synchronize(stream_of(operation));
    if (operation.has("event")) return issuer.synchronize(awaited(operation));
    issuer.synchronize_device();
  }

  streams::Event recorded(const Table& operation) {
    const auto [at, is_new] = events_.try_emplace(operation.text("event"));
    if (is_new) at->second = streams::Issuer(scenario_.recording).create_event();
    return at->second;
  }

  streams::Event awaited(const Table& operation) const {
    const auto found = events_.find(operation.text("event"));
    if (found != events_.end()) return found->second;
    Words known;
    for (const auto& [name, event] : events_) known.push_back(name);
    operation.refuse("event", fmt::format("an event that an operation above records: {}",
                                          known.empty() ? "there is none" : fmt::to_string(fmt::join(known, ", "))));
  }

  /// The chunk that it names; else the one after the last of its kind.
  Chunk chunk_of(const Table& operation, const std::string& kind) {
    const int next = std::min(chunks_[kind]++, kMaxChunks - 1);
    const auto number = static_cast<int>(operation.whole("chunk", 0, kMaxChunks - 1).value_or(next));
    // Chunks lie so far apart in the host's arrays that none reaches into another.
    constexpr std::int64_t kApart = kMaxBytes;
    return {.index = number, .first = kApart * number, .items = 1, .buffer = number};
  }

  struct Moved {
    double seconds;
    double bytes;
  };

  /// Time and bytes: one follows from the other by the rate that is given, else by the device's.
  static Moved moved(const Table& operation, double device_rate) {
    const auto milliseconds = operation.number("ms", 0, kMaxMilliseconds);
    const auto bytes = operation.count("bytes", 1, kMaxBytes, [](const std::string& word, const std::string& key) {
      return static_cast<std::int64_t>(parse_bytes(word, key));
    });
    const auto rate = operation.number("gb_per_s", 1e-9, 1e6);
    if (!milliseconds && !bytes) {
      operation.place().fail("a copy or memset lacks a key: allowed is ms, or bytes with or without gb_per_s");
    }
    if (rate && (milliseconds || !bytes)) operation.refuse("gb_per_s", "a rate beside bytes and without ms");
    const double seconds =
        milliseconds ? 1e-3 * *milliseconds : static_cast<double>(*bytes) / (rate ? 1e9 * *rate : device_rate);
    return {.seconds = seconds, .bytes = bytes ? static_cast<double>(*bytes) : seconds * device_rate};
  }

  Chunk copied(const Table& operation, const std::string& kind, OperationCost& cost) {
    const bool in = kind == "h2d";
    const double item = static_cast<double>(scenario_.recording.job.workload->about.item_bytes());
    const Moved all = moved(operation, in ? scenario_.device.alone.in : scenario_.device.alone.out);
    cost.copy_seconds = all.seconds;
    Chunk chunk = chunk_of(operation, kind);
    chunk.items = std::max<std::int64_t>(1, std::llround(all.bytes / item));
    if (in) copied_in_[chunk.index] = chunk.items;
    return chunk;
  }

  Chunk computed(const Table& operation, OperationCost& cost) {
    cost = kernel(operation);
    Chunk chunk = chunk_of(operation, "kernel");
    if (const auto found = copied_in_.find(chunk.index); found != copied_in_.end()) chunk.items = found->second;
    return chunk;
  }

  OperationCost kernel(const Table& operation) const {
    operation.at("ms");
    const double seconds = 1e-3 * *operation.number("ms", 0, kMaxMilliseconds);
    const std::int64_t slots = std::max<std::int64_t>(1, scenario_.device.slots(KnownTimes{}.threads_per_block));
    OperationCost cost{.blocks = operation.whole("blocks", 1, kMaxBlocks).value_or(slots)};
    cost.block_seconds = seconds / static_cast<double>((cost.blocks + slots - 1) / slots);
    return cost;
  }

  /// A memset, or a copy within the device, is a kernel that asks for the whole rate of device memory, in blocks so
  /// short that it takes what room others leave. Each byte crosses memory `accesses` times.
  OperationCost fill(const Table& operation, int accesses) const {
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
  std::map<int, int> priorities_;          ///< by created stream
  std::map<std::string, int> chunks_;      ///< by kind: how many operations there are
  std::map<int, std::int64_t> copied_in_;  ///< items, by chunk
};

}  // namespace

void read_operations(const Table& table, Scenario& scenario) {
  const bool blocking =
      !table.has("created_streams") || table.one_of("created_streams", {"blocking", "non_blocking"}) == "blocking";
  const FileValue& all = table.at("operations");
  if (all.list.empty()) {
    table.refuse("operations", "a list of one operation or more, as [{stream = 0, kind = \"kernel\", ms = 1}]");
  }
  Operations operations(scenario, blocking ? StreamKind::blocking : StreamKind::non_blocking);
  const std::string& file = table.place().file;
  for (const FileValue& each : all.list) {
    if (each.kind != FileValue::Kind::table) {
      Place{file, each.line}.fail(
          fmt::format("{}: allowed is an operation, as {{stream = 0, kind = \"kernel\", ms = 1}}", each.word));
    }
    operations.add(each, file);
  }
  operations.finish();
}

}  // namespace scanlab::simulator
