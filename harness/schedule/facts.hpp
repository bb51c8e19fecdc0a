// Jobs, operations and hazards as fields of JSON documents: what a reader goes by, in place of names and sentences.
#pragma once

#include <cstddef>

#include "harness/host/document.hpp"
#include "harness/schedule/hazards.hpp"

namespace scanlab::streams {

// In a document a registered entry stands as its id.
void read_value(const Value& id, const Schedule*& schedule);
void read_value(const Value& id, const Workload*& workload);
void read_value(const Value& word, HostMemory& memory);

/// "schedule", "workload", "items", "chunks", "streams", "memory", "buffers", "work", "blocks".
nlohmann::ordered_json facts_of(const ScheduledJob& chosen);
/// Reads them. Throws DocumentError.
ScheduledJob read_job(const Value& facts);

/// Which operation of a recording, what kind, of which chunk and input, and in which stream.
nlohmann::ordered_json facts_of(const Recording& recording, std::size_t operation);

/// The result of a schedule's check.
nlohmann::ordered_json facts_of(const CheckedSchedule& checked);

}  // namespace scanlab::streams
