// Which context of an export of Nsight Systems is imported, and what its streams are.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/timeline/nsight_rows.hpp"

namespace scanlab::streams {

using Column = SqliteFile::Column;
using Row = SqliteFile::Row;

NsightContext choose_context(const SqliteFile& file, const NsightPart& part, std::vector<NsightRow>& rows,
                             NsightIntervals& others, NsightExport& made) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> gpus;  // by process and CUDA's number of the device
  file.read("TARGET_INFO_CUDA_DEVICE", {{"gpuId"}, {"cudaId"}, {"pid"}}, [&](const Row& row) {
    gpus[{row.whole(2), row.whole(1)}] = row.whole(0);
  });
  const auto gpu_of = [&](std::int64_t process, std::int64_t device) {
    const auto gpu = gpus.find({process & kIds, device});
    return gpu == gpus.end() ? device : gpu->second;
  };
  const auto owner = [&](const NsightRow& each) {
    return NsightContext{gpu_of(each.process, each.device), each.process, each.device, each.context};
  };
  std::map<NsightContext, std::size_t> count;
  std::map<std::int64_t, std::size_t> on_gpu;
  for (const NsightRow& each : rows) {
    ++count[owner(each)];
    ++on_gpu[owner(each).gpu];
  }
  const NsightContext* chosen = nullptr;
  for (const auto& [each, operations] : count) {
    if (part.gpu.value_or(each.gpu) != each.gpu) continue;
    if (chosen == nullptr || operations > count[*chosen]) chosen = &each;
  }
  if (chosen == nullptr) {
    std::vector<std::int64_t> numbers;
    for (const auto& [gpu, operations] : on_gpu) numbers.push_back(gpu);
    file.refuse(fmt::format("it has no work of GPU {}: give --gpu one of {}", *part.gpu, fmt::join(numbers, ", ")));
  }
  const NsightContext mine = *chosen;
  for (const auto& [each, operations] : count) {
    if (each.gpu != mine.gpu || each == mine) continue;
    if (each.process != mine.process) {
      made.unknown.push_back(
          fmt::format("{} operations of process {} on this GPU are left out", operations, each.process & kIds));
    } else {
      made.unknown.push_back(fmt::format("{} operations of another context of this process are left out", operations));
    }
  }
  for (const auto& [other, operations] : on_gpu) {
    if (other != mine.gpu)
      made.unknown.push_back(
          fmt::format("{} operations of GPU {} are left out: take them by --gpu {}", operations, other, other));
  }
  for (const NsightRow& each : rows) {
    if (owner(each) != mine && owner(each).gpu == mine.gpu) others.emplace_back(each.start, each.end);
  }
  std::ranges::sort(others);
  std::erase_if(rows, [&](const NsightRow& each) { return owner(each) != mine; });
  file.read("TARGET_INFO_GPU", {{"id"}, {"name"}, {"asyncEngines", false}}, [&](const Row& row) {
    if (row.number(0) != mine.gpu) return;
    made.device = row.text(1);
    if (row.number(2) == 1) made.copy_engines = 1;
  });
  return mine;
}

void name_streams(const SqliteFile& file, const NsightContext& context, std::vector<NsightRow>& rows,
                  NsightExport& made) {
  constexpr std::int64_t kNonBlocking = 2;
  constexpr std::int64_t kNull = 3;
  std::map<std::int64_t, StreamKind> kinds;
  const Column process_column{"processId", false};
  const auto is_here = [&](std::optional<std::int64_t> process, std::optional<std::int64_t> number) {
    const std::int64_t own = context.process & kIds;
    return (own == 0 || process.value_or(own) == own) &&
           (context.context == 0 || number.value_or(context.context) == context.context);
  };
  file.read("TARGET_INFO_CUDA_STREAM", {{"streamId"}, {"flag"}, process_column, kContext}, [&](const Row& row) {
    if (!is_here(row.number(2), row.number(3))) return;
    kinds[row.whole(0)] = row.number(1) == kNull          ? StreamKind::legacy_default
                          : row.number(1) == kNonBlocking ? StreamKind::non_blocking
                                                          : StreamKind::blocking;
  });
  bool null_is_known =
      std::ranges::any_of(kinds, [](const auto& entry) { return entry.second == StreamKind::legacy_default; });
  for (const auto& [table, column] : {std::pair{"TARGET_INFO_CUDA_CONTEXT_INFO", "nullStreamId"},
                                      std::pair{"TARGET_INFO_CUDA_NULL_STREAM", "streamId"}}) {  // until 2022
    file.read(table, {{column}, process_column, kContext}, [&](const Row& row) {
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

}  // namespace scanlab::streams
