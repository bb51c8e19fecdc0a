#include "harness/schedule/facts.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "harness/schedule/ordering.hpp"

namespace scanlab::streams {

using Json = nlohmann::ordered_json;

namespace {

template <class Entry>
const Entry* entry(const Json& facts, const char* key) {
  const std::string id = facts.at(key);
  const Entry* const registered = RegistryOf<Entry>::instance().find(id);
  if (registered == nullptr) throw std::invalid_argument(fmt::format("there is no {} {}", Entry::kNoun, id));
  return registered;
}

/// A number of a job, which a whole one must be.
template <class Number>
Number whole(const Json& facts, const char* key) {
  const Json& number = facts.at(key);
  const bool fits = number.is_number_unsigned()
                        ? std::in_range<Number>(number.get<std::uint64_t>())
                        : number.is_number_integer() && std::in_range<Number>(number.get<std::int64_t>());
  if (!fits) throw std::invalid_argument(fmt::format("its '{}' is {}: a whole number is expected", key, number.dump()));
  return number.get<Number>();
}

Json facts_of(const Access& access) {
  return {{"place", name(access.place)}, {"array", access.array}, {"buffer", access.buffer},
          {"first", access.first},       {"items", access.items}, {"writes", access.writes}};
}

}  // namespace

Json facts_of(const ScheduledJob& chosen) {
  const Job& job = chosen.job;
  return {{"schedule", chosen.schedule->about.id},
          {"workload", job.workload->about.id},
          {"items", job.items},
          {"chunks", job.chunks},
          {"streams", job.streams},
          {"memory", name(job.memory)},
          {"buffers", job.buffers},
          {"work", job.work},
          {"blocks", job.blocks}};
}

ScheduledJob job_of(const Json& facts) {
  const std::string memory = facts.at("memory");
  if (memory != "pinned" && memory != "pageable") {
    throw std::invalid_argument(fmt::format("its memory is {}, neither pinned nor pageable", memory));
  }
  Job job{.workload = entry<Workload>(facts, "workload"),
          .items = whole<std::int64_t>(facts, "items"),
          .chunks = whole<int>(facts, "chunks"),
          .streams = whole<int>(facts, "streams"),
          .memory = memory == "pageable" ? HostMemory::pageable : HostMemory::pinned,
          .blocks = whole<int>(facts, "blocks"),
          .work = whole<int>(facts, "work")};
  if (facts.contains("buffers")) job.buffers = whole<int>(facts, "buffers");
  return {entry<Schedule>(facts, "schedule"), job};
}

Json facts_of(const Recording& recording, std::size_t index) {
  const Operation& operation = recording.operations[index];
  Json facts{{"operation", index}, {"kind", name(operation.kind)}, {"what", describe(operation)}};
  if (!operation.label.empty()) facts["label"] = operation.label;
  if (is_work(operation) && operation.kind != OperationKind::side_kernel) {
    facts["chunk"] = operation.chunk.index;
    if (operation.chunk.items > 0) facts["items"] = operation.chunk.items;  // an export of another program knows none
  }
  if (operation.kind == OperationKind::copy_in) facts["input"] = operation.array;
  if (is_copy(operation)) {
    facts["bytes"] = static_cast<std::size_t>(operation.chunk.items) * recording.job.workload->about.item_bytes();
  }
  const auto is = [&](auto... kinds) { return ((operation.kind == kinds) || ...); };
  if (is(OperationKind::record_event, OperationKind::wait_event, OperationKind::synchronize_event)) {
    facts["event"] = operation.event.index;
  }
  if (!is(OperationKind::host_work, OperationKind::synchronize_event, OperationKind::synchronize_device)) {
    facts["stream"] = describe(operation.stream);
    facts["stream_kind"] = name(operation.stream.kind);
    facts["stream_index"] = operation.stream.index;
  }
  return facts;
}

Json facts_of(const CheckedSchedule& checked) {
  const auto& [chosen, recording, result, undone] = checked;
  const auto operation = [&recording = recording](std::size_t index) {
    Json facts = facts_of(recording, index);
    facts["index"] = index;
    facts["operation"] = describe(recording.operations[index]);
    return facts;
  };
  Json hazards = Json::array();
  for (const Hazard& hazard : result.hazards) {
    hazards.push_back({{"first", operation(hazard.first)},
                       {"second", operation(hazard.second)},
                       {"memory", describe(hazard.access)},
                       {"access", facts_of(hazard.access)}});
  }
  Json waits = Json::array();
  for (const std::size_t wait : result.waits_for_nothing) waits.push_back(operation(wait));
  Json facts = facts_of(chosen);
  facts["control"] = chosen.schedule->about.control;
  facts["buffers"] = recording.buffers;
  facts["operations"] = recording.operations.size();
  facts["ordered"] = result.ordered();
  facts["hazards"] = std::move(hazards);
  facts["waits_for_nothing"] = std::move(waits);
  facts["undone"] = undone;
  return facts;
}

}  // namespace scanlab::streams
