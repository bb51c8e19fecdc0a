// The recording and the timeline that rows of an export of Nsight Systems make.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "harness/schedule/ordering.hpp"
#include "harness/timeline/nsight_rows.hpp"

namespace scanlab::streams {

namespace {

/// The steps of a chunk.
int step(const Operation& operation) {
  return operation.kind == OperationKind::copy_in ? 0 : operation.kind == OperationKind::copy_out ? 2 : 1;
}

/// Finds chunks as NsightExport describes them.
void find_chunks(NsightExport& made) {
  struct Lane {
    std::optional<std::size_t> last;  ///< its last work
    bool marked = false;              ///< an event was recorded since
    bool copies = false;              ///< in the whole export
  };
  Recording& recording = made.recording;
  std::vector<Operation>& operations = recording.operations;
  const Ordering order = ordering(recording);
  std::map<std::pair<StreamKind, int>, Lane> lanes;
  const auto lane_of = [&](const Operation& each) -> Lane& { return lanes[{each.stream.kind, each.stream.index}]; };
  for (const Operation& each : operations) {
    if (is_work(each)) lane_of(each).copies |= is_copy(each);
  }
  std::vector<bool> in_chunk(operations.size());
  int chunks = 0;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    Operation& each = operations[i];
    if (each.kind == OperationKind::record_event) lane_of(each).marked = true;
    if (!is_work(each)) continue;
    Lane& lane = lane_of(each);
    std::optional<std::size_t> earlier;  // step of its chunk
    for (const auto& [operation, rule] : order.device[i]) {
      const bool forward = in_chunk[operation] && step(operations[operation]) < step(each);
      if (rule == Rule::event && forward && (!earlier || operation > *earlier)) earlier = operation;
    }
    if (!earlier && lane.copies && lane.last) {
      const int before = step(operations[*lane.last]);
      const bool again = step(each) == 0 && (before > 0 || lane.marked);
      if (before <= step(each) && !again) earlier = lane.last;
    }
    if (earlier) {
      each.chunk.index = operations[*earlier].chunk.index;
    } else if (lane.copies) {
      each.chunk.index = chunks++;
    } else {
      each.kind = OperationKind::side_kernel;
    }
    in_chunk[i] = earlier || lane.copies;
    lane.last = i;
    lane.marked = false;
  }
  recording.job.chunks = chunks;
  recording.job.streams = static_cast<int>(lanes.size());
  if (chunks == 0) return;
  made.unknown.push_back(fmt::format(
      "chunks are not in it: {} are taken to be there, each what a stream does from its copies to the device on, "
      "with "
      "what waits for that by an event",
      chunks));
}

}  // namespace

void compose(const std::vector<NsightRow>& rows, const NsightIntervals& others, bool has_calls, NsightExport& made) {
  static const Workload kBytes{
      .about = {.id = "imported", .title = "", .source = "", .type = ElementType::i8, .work = ""}};
  Recording& recording = made.recording;
  recording.job = {.workload = &kBytes, .items = 0, .chunks = 0, .streams = 0, .buffers = 0};
  std::int64_t zero = std::numeric_limits<std::int64_t>::max();
  std::map<HostMemory, std::size_t> copies;
  for (const NsightRow& each : rows) {
    zero = std::min(zero, each.issued_at());
    recording.operations.push_back(each.operation);
    if (is_copy(each.operation)) ++copies[each.memory];
  }
  const auto interval = [&](std::int64_t start, std::int64_t end) {
    return Interval{kNanosecond * static_cast<double>(start - zero), kNanosecond * static_cast<double>(end - zero)};
  };
  for (const auto& [start, end] : others) {
    const Interval when = interval(start, end);
    if (!made.others.empty() && when.start <= made.others.back().end) {
      made.others.back().end = std::max(made.others.back().end, when.end);
    } else {
      made.others.push_back(when);
    }
  }
  std::set<const NsightCall*> calls;
  std::map<std::int64_t, int> threads;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const NsightRow& each = rows[i];
    if (is_work(each.operation)) {
      made.spans.push_back({.operation = i, .when = interval(each.start, each.end), .blocks = each.blocks});
      calls.insert(each.call);
    }
    if (!has_calls) continue;
    made.issued.push_back(interval(each.call->start, each.call->end));
    made.threads.push_back(threads.try_emplace(each.call->thread, static_cast<int>(threads.size())).first->second);
  }
  recording.captured = has_calls && calls.size() == 1 && made.spans.size() > 1;
  std::size_t all = 0;
  for (const auto& [memory, number] : copies) {
    all += number;
    if (number > copies[recording.job.memory]) recording.job.memory = memory;
  }
  for (const auto& [memory, number] : copies) {
    if (memory == recording.job.memory || number == 0) continue;
    made.unknown.push_back(fmt::format("{} of {} copies are of {} memory: all count as {}", number, all, name(memory),
                                       name(recording.job.memory)));
  }
  find_chunks(made);
}

}  // namespace scanlab::streams
