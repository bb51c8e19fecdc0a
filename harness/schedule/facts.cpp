#include "harness/schedule/facts.hpp"

#include <utility>

namespace scanlab::streams {

using Json = nlohmann::ordered_json;

namespace {

Json facts_of(const Access& access) {
  return {{"place", name(access.place)}, {"array", access.array}, {"buffer", access.buffer},
          {"first", access.first},       {"items", access.items}, {"writes", access.writes}};
}

}  // namespace

void read_value(const Value& id, const Schedule*& schedule) {
  schedule = ScheduleRegistry::instance().find(id.choice(ScheduleRegistry::instance().ids()));
}
void read_value(const Value& id, const Workload*& workload) {
  workload = WorkloadRegistry::instance().find(id.choice(WorkloadRegistry::instance().ids()));
}
Json write_value(const Schedule* schedule) { return schedule->about.id; }
Json write_value(const Workload* workload) { return workload->about.id; }

void read_value(const Value& word, HostMemory& memory) {
  memory = word.choice({"pinned", "pageable"}) == "pinned" ? HostMemory::pinned : HostMemory::pageable;
}
Json write_value(HostMemory memory) { return name(memory); }

template <class Fields>
void list_fields(Fields& fields, ScheduledJob& chosen) {
  Job& job = chosen.job;
  fields("schedule", chosen.schedule);
  fields("workload", job.workload);
  fields("items", job.items);
  fields("chunks", job.chunks);
  fields("streams", job.streams);
  fields("memory", job.memory);
  fields.optional("buffers", job.buffers);
  fields("work", job.work);
  fields("blocks", job.blocks);
}

Json facts_of(const ScheduledJob& chosen) { return to_document(chosen); }
ScheduledJob read_job(const Value& facts) { return facts.get<ScheduledJob>(); }

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
