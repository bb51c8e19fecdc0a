#include "harness/timeline/nsight_export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "harness/host/status.hpp"
#include "harness/timeline/nsight_rows.hpp"

namespace scanlab::streams {

namespace {

using Column = SqliteFile::Column;
using Row = SqliteFile::Row;

constexpr char kCopies[] = "CUPTI_ACTIVITY_KIND_MEMCPY";
constexpr char kKernels[] = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr char kSets[] = "CUPTI_ACTIVITY_KIND_MEMSET";
constexpr char kGraphs[] = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
constexpr char kCalls[] = "CUPTI_ACTIVITY_KIND_RUNTIME";
constexpr char kWaits[] = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
constexpr char kEvents[] = "CUPTI_ACTIVITY_KIND_CUDA_EVENT";
constexpr char kStrings[] = "StringIds";
constexpr double kMilliseconds = 1e-6;  // a nanosecond

/// A memory kind of an export: managed memory is number 4, or 6 if it is static.
HostMemory memory_of(std::optional<std::int64_t> kind) {
  return kind == 0 ? HostMemory::pageable : kind == 4 || kind == 6 ? HostMemory::managed : HostMemory::pinned;
}

class Reader {
 public:
  Reader(const std::filesystem::path& path, const NsightPart& part) : file_(path), part_(part) {}

  NsightExport read() {
    if (!file_.has(kStrings)) {
      file_.refuse(
          fmt::format("it is no export of Nsight Systems: it has no table {}; 'nsys export --type sqlite' writes "
                      "one",
                      kStrings));
    }
    read_window();
    read_work();
    context_ = choose_context(file_, part_, rows_, others_, export_);
    read_calls();
    read_marks();
    read_other_calls();
    const auto [first, last] = std::ranges::minmax_element(rows_, {}, &NsightRow::issued_at);
    const std::string all =
        fmt::format("work was issued from {:.3f} to {:.3f} ms", kMilliseconds * static_cast<double>(first->issued_at()),
                    kMilliseconds * static_cast<double>(last->issued_at()));
    std::erase_if(rows_, [&](const NsightRow& each) { return !within(each); });
    std::ranges::stable_sort(rows_, {}, &NsightRow::order);
    drop_idle_calls();
    if (std::ranges::none_of(rows_, [](const NsightRow& each) { return is_work(each.operation); })) {
      file_.refuse("it has no copy and no kernel that was issued in the part that is asked for: " + all);
    }
    name_streams(file_, context_, rows_, export_);
    export_.recording.events = static_cast<int>(events_.size());
    compose(rows_, others_, has_calls_, export_);
    return std::move(export_);
  }

 private:
  template <class... Arguments>
  void say(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    export_.unknown.push_back(fmt::format(text, std::forward<Arguments>(arguments)...));
  }

  /// Texts by their number.
  std::string string(std::int64_t id) {
    if (strings_.empty()) {
      file_.read(kStrings, {{"id"}, {"value"}}, [&](const Row& row) { strings_[row.whole(0)] = row.text(1); });
    }
    const auto text = strings_.find(id);
    return text == strings_.end() ? "" : text->second;
  }

  void read_window() {
    if (part_.from_ms) from_ = static_cast<std::int64_t>(*part_.from_ms / kMilliseconds);
    if (part_.to_ms) to_ = static_cast<std::int64_t>(*part_.to_ms / kMilliseconds);
    if (part_.range.empty()) return;
    std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
    file_.read("NVTX_EVENTS", {{"start"}, {"end"}, {"text"}, {"textId", false}}, [&](const Row& row) {
      const std::string name = row.number(3) ? string(*row.number(3)) : row.text(2);
      if (name == part_.range && row.number(1)) ranges.emplace_back(row.whole(0), *row.number(1));
    });
    if (ranges.empty()) file_.refuse(fmt::format("it has no NVTX range '{}'", part_.range));
    std::ranges::sort(ranges);
    from_ = std::max(from_, ranges.front().first);
    to_ = std::min(to_, ranges.front().second);
    if (ranges.size() > 1) say("{} NVTX ranges are called '{}': this is the first", ranges.size(), part_.range);
  }

  void read_work() {
    std::size_t others = 0;
    std::size_t unfinished = 0;  // the profile ended first: Nsight gives them an end of 0
    const auto add = [&](const Row& row, NsightRow each) {
      each.start = row.whole(0);
      each.end = row.whole(1);
      if (each.end < each.start) {
        ++unfinished;
        return;
      }
      each.device = row.whole(2);
      each.stream = row.whole(3);
      each.correlation = row.number(4);
      each.process = process_of(row.number(5));
      each.context = row.number(6).value_or(0);
      rows_.push_back(std::move(each));
    };
    const std::vector<Column> common{{"start"},         {"end"},  {"deviceId"}, {"streamId"},
                                     {"correlationId"}, kProcess, kContext};
    const auto with = [&](std::initializer_list<Column> more) {
      std::vector<Column> columns = common;
      columns.insert(columns.end(), more);
      return columns;
    };
    file_.read(kCopies, with({{"bytes"}, {"copyKind"}, {"srcKind"}, {"dstKind"}}), [&](const Row& row) {
      NsightRow copy;
      copy.operation.chunk.items = row.whole(7);
      switch (row.whole(8)) {  // the numbers of CUDA_MEMCPY_KIND_*
        case 1:                // host to device
        case 3:                // host to array
          copy.operation.kind = OperationKind::copy_in;
          copy.memory = memory_of(row.number(9));
          break;
        case 2:  // device to host
        case 4:  // array to host
          copy.operation.kind = OperationKind::copy_out;
          copy.memory = memory_of(row.number(10));
          break;
        case 5:  // within the device: array to array, array to device, device to array, device to device
        case 6:
        case 7:
        case 8:
          copy.operation.kind = OperationKind::kernel;
          copy.operation.chunk.items = 0;
          break;
        default:
          ++others;
          return;
      }
      add(row, std::move(copy));
    });
    NsightRow kernel;
    kernel.operation.kind = OperationKind::kernel;
    file_.read(kSets, common, [&](const Row& row) { add(row, kernel); });
    const std::size_t on_device = static_cast<std::size_t>(
        std::ranges::count(rows_, OperationKind::kernel, [](const NsightRow& each) { return each.operation.kind; }));
    file_.read(kKernels, with({{"gridX"}, {"gridY"}, {"gridZ"}}), [&](const Row& row) {
      kernel.blocks = row.whole(7) * row.whole(8) * row.whole(9);
      add(row, kernel);
    });
    std::size_t graphs = 0;
    file_.read(kGraphs, {{"start"}}, [&](const Row&) { ++graphs; });
    if (rows_.empty() && others + unfinished > 0) {
      file_.refuse(
          fmt::format("it has no work that can be read: {} copies between devices, between hosts and of unified "
                      "memory, and {} operations that did not end",
                      others, unfinished));
    }
    if (rows_.empty()) {
      file_.refuse(graphs > 0 ? fmt::format("its graphs were recorded as a whole ({}): record with "
                                            "--cuda-graph-trace=node",
                                            kGraphs)
                              : fmt::format("it has no CUDA activity: no row in {} and {}", kCopies, kKernels));
    }
    if (graphs > 0)
      say("{} graphs were recorded as a whole and are left out: record with --cuda-graph-trace=node", graphs);
    if (unfinished > 0) say("{} operations did not end and are left out", unfinished);
    if (others > 0) say("{} copies between devices, between hosts and of unified memory are left out", others);
    if (on_device > 0) say("{} copies within the device and memsets count as kernels", on_device);
  }

  bool is_of_process(std::optional<std::int64_t> global_id) const {
    return context_.process == 0 || !global_id || process_of(global_id) == context_.process;
  }

  void read_calls() {
    file_.read(kCalls, {{"start"}, {"end"}, {"correlationId"}, {"nameId"}, {"globalTid", false}}, [&](const Row& row) {
      if (!row.number(2) || !is_of_process(row.number(4))) return;
      calls_[*row.number(2)] = {row.whole(0), row.whole(1), string(row.whole(3)), row.number(4).value_or(0)};
    });
    std::size_t without = 0;
    for (NsightRow& each : rows_) {
      each.call = call_of(each.correlation);
      without += each.call == nullptr ? 1 : 0;
      if (each.call == nullptr || !is_copy(each.operation)) continue;
      each.operation.synchronous = each.call->name.find("emcpy") != std::string::npos &&  // of cudaMemcpy, cuMemcpyHtoD
                                   each.call->name.find("Async") == std::string::npos;
    }
    has_calls_ = without == 0;
    if (!has_calls_) {
      say("the host's calls of {} operations are not in it: they stand in the order in which the device began, and "
          "when the host issued is not known",
          without);
    }
  }

  const NsightCall* call_of(std::optional<std::int64_t> correlation) const {
    if (!correlation) return nullptr;
    const auto call = calls_.find(*correlation);
    return call == calls_.end() ? nullptr : &call->second;
  }

  /// Records of events, and what waits: for events and for the host.
  void read_marks() {
    std::size_t numberless = 0;
    std::size_t elsewhere = 0;
    const auto is_here = [&](std::optional<std::int64_t> device, std::optional<std::int64_t> context) {
      const bool here =
          device.value_or(context_.device) == context_.device && context.value_or(context_.context) == context_.context;
      elsewhere += here ? 0 : 1;
      return here;
    };
    const auto add = [&](OperationKind kind, std::optional<std::int64_t> stream, std::optional<std::int64_t> event,
                         std::optional<std::int64_t> correlation) {
      const bool needs_event = kind == OperationKind::record_event || kind == OperationKind::wait_event ||
                               kind == OperationKind::synchronize_event;
      if (needs_event && !event) {
        ++numberless;
        return;
      }
      NsightRow mark;
      mark.operation.kind = kind;
      mark.stream = stream.value_or(0);
      mark.correlation = correlation;
      mark.call = call_of(correlation);
      if (event) mark.operation.event = {events_.try_emplace(*event, static_cast<int>(events_.size())).first->second};
      if (mark.call != nullptr) rows_.push_back(std::move(mark));
    };
    const Column on_device{"deviceId", false};
    const std::vector<Column> record_columns{{"streamId"}, {"eventId"}, {"correlationId"},
                                             kProcess,     on_device,   kContext};
    file_.read(kEvents, record_columns, [&](const Row& row) {
      if (!is_of_process(row.number(3)) || !is_here(row.number(4), row.number(5))) return;
      add(OperationKind::record_event, row.number(0), row.number(1), row.number(2));
    });
    const std::map<std::int64_t, OperationKind> kinds = wait_kinds();
    const std::vector<Column> wait_columns{{"streamId"}, {"eventId"}, {"correlationId"}, {"syncType"},
                                           kProcess,     on_device,   kContext};
    file_.read(kWaits, wait_columns, [&](const Row& row) {
      const auto kind = kinds.find(row.whole(3));
      if (kind == kinds.end() || !is_of_process(row.number(4)) || !is_here(row.number(5), row.number(6))) return;
      const bool for_event =
          kind->second == OperationKind::wait_event || kind->second == OperationKind::synchronize_event;
      add(kind->second, row.number(0), for_event ? row.number(1) : std::nullopt, row.number(2));
    });
    if (numberless > 0)
      say("{} records of events and waits for them have no number of an event and are left out", numberless);
    if (elsewhere > 0)
      say("{} records of events and waits on other devices and in other contexts are left out", elsewhere);
    std::set<const NsightCall*> recorded;
    for (const NsightRow& each : rows_) recorded.insert(each.call);
    const auto unrecorded = std::ranges::count_if(calls_, [&](const auto& call) {
      return call.second.name.find("StreamWaitEvent") != std::string::npos && !recorded.contains(&call.second);
    });
    if (unrecorded > 0)
      say("{} waits of streams for events are called and not recorded: their order is not known", unrecorded);
  }

  /// Calls of the threads that issue work, which issue none and take longer than an issue.
  void read_other_calls() {
    if (!has_calls_) return;
    std::set<const NsightCall*> issue;
    std::set<std::int64_t> threads;
    for (const NsightRow& each : rows_) {
      issue.insert(each.call);
      threads.insert(each.call->thread);
    }
    const auto add = [&](const NsightCall& call) {
      const auto latency = static_cast<std::int64_t>(Timeline{}.latency / kNanosecond);
      if (call.end - call.start <= latency || !threads.contains(call.thread)) return;
      NsightRow other;
      other.operation = {.kind = OperationKind::host_work, .label = call.name.substr(0, call.name.find("_v"))};
      other.operation.microseconds = 1e-3 * static_cast<double>(call.end - call.start);
      other.call = &call;
      rows_.push_back(std::move(other));
    };
    for (const auto& [correlation, call] : calls_) {
      if (!issue.contains(&call)) add(call);
    }
    for (const char* table : {"OSRT_API", "PROFILER_OVERHEAD"}) {
      file_.read(table, {{"start"}, {"end"}, {"nameId"}, {"globalTid", false}}, [&](const Row& row) {
        if (!row.number(1) || !row.number(2) || !is_of_process(row.number(3))) return;
        add(other_calls_.emplace_back(row.whole(0), row.whole(1), string(row.whole(2)), row.number(3).value_or(0)));
      });
    }
  }

  /// Calls within other calls; and the host's work and waits before the first of what the device does.
  void drop_idle_calls() {
    std::map<std::int64_t, std::int64_t> until;  // by thread
    bool begun = false;
    std::erase_if(rows_, [&](const NsightRow& each) {
      begun = begun || is_work(each.operation) || is_mark(each.operation);
      if (!begun) return true;
      if (each.call == nullptr) return false;
      const bool within_another = each.call->end <= until[each.call->thread];
      until[each.call->thread] = std::max(until[each.call->thread], each.call->end);
      return each.operation.kind == OperationKind::host_work && within_another;
    });
  }

  /// Kinds of waits by their number: the export's own table of names goes before CUPTI's numbers.
  std::map<std::int64_t, OperationKind> wait_kinds() const {
    const std::vector<std::tuple<std::int64_t, std::string, OperationKind>> known{
        {1, "_EVENT_SYNCHRONIZE", OperationKind::synchronize_event},
        {2, "_STREAM_WAIT_EVENT", OperationKind::wait_event},
        {3, "_STREAM_SYNCHRONIZE", OperationKind::synchronize_stream},
        {4, "_CONTEXT_SYNCHRONIZE", OperationKind::synchronize_device}};
    std::map<std::int64_t, OperationKind> kinds;
    file_.read("ENUM_CUPTI_SYNC_TYPE", {{"id"}, {"name"}}, [&](const Row& row) {
      for (const auto& [number, name, kind] : known) {
        if (row.text(1).ends_with(name)) kinds[row.whole(0)] = kind;
      }
    });
    if (!kinds.empty()) return kinds;
    for (const auto& [number, name, kind] : known) kinds[number] = kind;
    return kinds;
  }

  bool within(const NsightRow& each) const {
    const std::int64_t at = each.issued_at();
    return from_ <= at && at < to_;
  }

  SqliteFile file_;
  NsightPart part_;
  NsightExport export_;
  std::map<std::int64_t, std::string> strings_;
  std::vector<NsightRow> rows_;
  std::map<std::int64_t, NsightCall> calls_;  ///< by correlation
  std::deque<NsightCall> other_calls_;        ///< of the operating system and the profiler
  NsightIntervals others_;                    ///< when other contexts and processes were at work
  std::map<std::int64_t, int> events_;        ///< by Nsight's number: ours
  std::int64_t from_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t to_ = std::numeric_limits<std::int64_t>::max();
  NsightContext context_;
  bool has_calls_ = false;
};

}  // namespace

NsightExport read_nsight_export(const std::filesystem::path& file, const NsightPart& part) {
  if (part.from_ms && part.to_ms && *part.from_ms >= *part.to_ms)
    throw CommandError(
        kBadInput, fmt::format("--from {} is not before --to {}: give an earlier --from", *part.from_ms, *part.to_ms));
  return Reader(file, part).read();
}

}  // namespace scanlab::streams
