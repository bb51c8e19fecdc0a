// Which context of an export of Nsight Systems is imported, what its streams are, and the recording and the timeline
// that its rows make.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <ranges>
#include <set>

#include "harness/schedule/ordering.hpp"
#include "harness/timeline/nsight_rows.hpp"

namespace scanlab::streams {

namespace {

/// The steps of a chunk.
int step(const Operation& operation) {
  return operation.kind == OperationKind::copy_in ? 0 : operation.kind == OperationKind::copy_out ? 2 : 1;
}

/// How many times over a kernel's blocks fill a device; 0 where that is not known.
double fill_of(const NsightRow& kernel, const std::array<double, 5>& limits) {
  const auto [multiprocessors, warps, blocks, registers, shared_bytes] = limits;
  if (kernel.threads == 0 || std::ranges::min(limits) <= 0) return 0;
  const double warps_of_block = std::ceil(static_cast<double>(kernel.threads) / 32);
  const double part = std::max({warps_of_block / warps, 1 / blocks,
                                32 * warps_of_block * static_cast<double>(kernel.registers) / registers,
                                static_cast<double>(kernel.shared_bytes) / shared_bytes});
  return static_cast<double>(kernel.blocks) * part / multiprocessors;
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
  if (const std::size_t lost = order.waits_for_nothing.size(); lost > 0) {
    made.times.lacks_orders = true;
    made.unknown.push_back(fmt::format("{} waits of streams are for events of which no record is in it", lost));
  }
  recording.job.chunks = chunks;
  recording.job.streams = static_cast<int>(lanes.size());
  if (chunks == 0) return;
  made.unknown.push_back(fmt::format(
      "chunks are not in it: {} are taken to be there, each what a stream does from its copies to the device on, "
      "with what waits for that by an event",
      chunks));
}

}  // namespace

NsightContext choose_context(const SqliteFile& file, const NsightPart& part, std::vector<NsightRow>& rows,
                             NsightBackground& background, NsightExport& made) {
  std::map<NsightContext, std::size_t> count;
  std::map<std::int64_t, std::size_t> on_gpu;
  for (const NsightRow& each : rows) {
    ++count[each.owner];
    ++on_gpu[each.owner.gpu];
  }
  if (part.gpu && !on_gpu.contains(*part.gpu)) {
    file.refuse(fmt::format("it has no work of GPU {}: give --gpu one of {}", *part.gpu,
                            fmt::join(on_gpu | std::views::keys, ", ")));
  }
  const auto operations_asked = [&](const auto& each) {
    return part.gpu.value_or(each.first.gpu) == each.first.gpu ? each.second : 0;
  };
  const NsightContext mine = std::ranges::max_element(count, {}, operations_asked)->first;
  for (const auto& [each, operations] : count) {
    if (each.gpu != mine.gpu || each == mine) continue;
    made.unknown.push_back(fmt::format("{} operations of {} are left out", operations,
                                       each.process == mine.process
                                           ? "another context of this process"
                                           : fmt::format("process {} on this GPU", each.process & kIds)));
  }
  for (const auto& [other, operations] : on_gpu) {
    if (other == mine.gpu) continue;
    made.unknown.push_back(
        fmt::format("{} operations of GPU {} are left out: take them by --gpu {}", operations, other, other));
  }
  for (const NsightRow& each : rows) {
    if (each.owner != mine && each.owner.gpu == mine.gpu) background.others.emplace_back(each.start, each.end);
  }
  std::erase_if(rows, [&](const NsightRow& each) { return each.owner != mine; });
  // Without these limits nothing is said of a kernel's blocks.
  std::array<double, 5>& limits = background.limits;
  file.read("TARGET_INFO_GPU",
            {{"id"},
             {"name"},
             {"asyncEngines", false},
             {"smCount", false},
             {"maxWarpsPerSm", false},
             {"maxBlocksPerSm", false},
             {"maxRegistersPerSm", false},
             {"maxShmemPerSm", false}},
            [&](const SqliteFile::Row& row) {
              if (row.number(0) != mine.gpu) return;
              made.device = row.text(1);
              if (row.number(2) == 1) made.times.copy_engines = 1;
              for (std::size_t i = 0; i < limits.size(); ++i) {
                limits[i] = static_cast<double>(row.number(static_cast<int>(i) + 3).value_or(0));
              }
            });
  return mine;
}

void name_streams(const SqliteFile& file, const NsightContext& context, std::vector<NsightRow>& rows,
                  NsightExport& made) {
  constexpr std::int64_t kNonBlocking = 2;
  constexpr std::int64_t kNull = 3;
  std::map<std::int64_t, StreamKind> kinds;
  const SqliteFile::Column process_column{"processId", false};
  const auto is_here = [&](std::optional<std::int64_t> process, std::optional<std::int64_t> number) {
    const std::int64_t own = context.process & kIds;
    return (own == 0 || process.value_or(own) == own) &&
           (context.context == 0 || number.value_or(context.context) == context.context);
  };
  file.read("TARGET_INFO_CUDA_STREAM", {{"streamId"}, {"flag"}, process_column, kContext},
            [&](const SqliteFile::Row& row) {
              if (!is_here(row.number(2), row.number(3))) return;
              kinds[row.whole(0)] = row.number(1) == kNull          ? StreamKind::legacy_default
                                    : row.number(1) == kNonBlocking ? StreamKind::non_blocking
                                                                    : StreamKind::blocking;
            });
  bool null_is_known =
      std::ranges::any_of(kinds, [](const auto& entry) { return entry.second == StreamKind::legacy_default; });
  for (const auto& [table, column] : {std::pair{"TARGET_INFO_CUDA_CONTEXT_INFO", "nullStreamId"},
                                      std::pair{"TARGET_INFO_CUDA_NULL_STREAM", "streamId"}}) {  // until 2022
    file.read(table, {{column}, process_column, kContext}, [&](const SqliteFile::Row& row) {
      if (!row.number(0) || !is_here(row.number(1), row.number(2))) return;
      kinds[*row.number(0)] = StreamKind::legacy_default;
      null_is_known = true;
    });
  }
  std::set<std::int64_t> unknown;
  for (NsightRow& each : rows) {
    const auto kind = kinds.find(each.stream);
    if (kind == kinds.end() && is_work(each.operation)) unknown.insert(each.stream);
    const StreamKind is = kind == kinds.end() ? StreamKind::blocking : kind->second;
    each.operation.stream = {is, is == StreamKind::legacy_default ? 0 : static_cast<int>(each.stream)};
  }
  if (!null_is_known)
    made.unknown.push_back(fmt::format("which stream is the default stream is not in it: none is taken for it"));
  if (!unknown.empty())
    made.unknown.push_back(
        fmt::format("of {} streams it is not said how they were created: they count as blocking", unknown.size()));
}

void note_calls(const std::vector<const NsightCall*>& calls, std::vector<NsightRow>& rows) {
  const auto contains = [](const NsightCall& call, std::initializer_list<const char*> names) {
    return std::ranges::any_of(names, [&](const char* name) { return call.name.find(name) != std::string::npos; });
  };
  struct Thread {
    std::optional<std::int64_t> stream;  ///< of its last operation
    bool allocated = false;              ///< since then
  };
  std::map<std::int64_t, Thread> threads;
  bool freed = false;
  std::set<std::int64_t> awaiting;  // streams in which the host's function is the last
  const auto first = std::ranges::find_if(rows, [](const NsightRow& each) { return each.call != nullptr; });
  if (first == rows.end()) return;
  auto next = std::ranges::lower_bound(calls, first->call->start, {}, &NsightCall::start);
  for (NsightRow& each : rows) {
    if (each.call == nullptr || !is_work(each.operation)) continue;
    for (; next != calls.end() && (*next)->start < each.call->start; ++next) {
      Thread& thread = threads[(*next)->thread];
      if (contains(**next, {"MallocAsync", "MallocFromPoolAsync", "MemAllocAsync", "MemAllocFromPoolAsync"})) {
        thread.allocated = freed;
      } else if (contains(**next, {"FreeAsync"})) {
        freed = true;
      } else if (thread.stream && contains(**next, {"LaunchHostFunc", "StreamAddCallback"})) {
        awaiting.insert(*thread.stream);
      }
    }
    Thread& thread = threads[each.call->thread];
    each.allocated = std::exchange(thread.allocated, false);
    each.behind_host_function = awaiting.erase(each.stream) > 0;
    thread.stream = each.stream;
  }
}

void compose(const std::vector<NsightRow>& rows, const NsightBackground& background, bool has_calls,
             NsightExport& made) {
  static const Workload kBytes{.about = {.id = "imported", .type = ElementType::i8}};
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
  const auto intervals = [&](const NsightIntervals& all) {
    std::vector<Interval> made_of;
    for (const auto& [start, end] : all) made_of.push_back(interval(start, end));
    return joined(std::move(made_of));
  };
  made.times.others = intervals(background.others);
  made.times.loads = intervals(background.loads);
  std::set<const NsightCall*> calls;
  std::map<std::int64_t, int> threads;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const NsightRow& each = rows[i];
    if (is_work(each.operation)) {
      Span& span = made.times.spans.emplace_back(Span{.operation = i, .when = interval(each.start, each.end)});
      span.blocks = each.blocks;
      span.fill = fill_of(each, background.limits);
      span.pinned = each.memory == HostMemory::pinned;
      span.kernel = each.kernel;
      span.in_graph = each.call != nullptr && each.call->name.find("GraphLaunch") != std::string::npos;
      span.allocated = each.allocated;
      span.behind_host_function = each.behind_host_function;
      calls.insert(each.call);
    }
    if (!has_calls) continue;
    made.times.issued.push_back(interval(each.call->start, each.call->end));
    made.times.threads.push_back(
        threads.try_emplace(each.call->thread, static_cast<int>(threads.size())).first->second);
  }
  recording.captured = has_calls && calls.size() == 1 && made.times.spans.size() > 1;
  for (const auto& [memory, number] : copies) {
    if (number > copies[recording.job.memory]) recording.job.memory = memory;
  }
  for (const auto& [memory, number] : copies) {
    if (memory == recording.job.memory || number == 0) continue;
    made.unknown.push_back(fmt::format("{} of {} copies are of {} memory: all count as {}", number,
                                       std::ranges::count_if(recording.operations, is_copy), name(memory),
                                       name(recording.job.memory)));
  }
  find_chunks(made);
}

}  // namespace scanlab::streams
