#include "harness/timeline/nsight_export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <set>
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
// Sentences on work that is left out or assumed, each with its number.
constexpr char kUnfinished[] = "{} operations did not end and are left out";
constexpr char kElsewhere[] = "{} copies between devices, between hosts and of unified memory are left out";
constexpr char kWithin[] = "{} copies within the device and memsets count as kernels";
constexpr char kWholeGraphs[] =
    "{} graphs were recorded as a whole and are left out: record with --cuda-graph-trace=node";
constexpr char kWithoutCall[] =
    "the host's calls of {} operations are not in it: they stand in the order in which the device began, and when the "
    "host issued is not known";
constexpr char kNumberless[] = "{} records of events and waits for them have no number of an event and are left out";
constexpr char kOtherContext[] = "{} records of events and waits on other devices and in other contexts are left out";
constexpr char kUnrecorded[] = "{} waits of streams for events are called and not recorded: their order is not known";
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
      file_.refuse(fmt::format(
          "it is no export of Nsight Systems: it has no table {}; 'nsys export --type sqlite' writes one", kStrings));
    }
    read_window();
    read_work();
    context_ = choose_context(file_, part_, rows_, background_, export_);
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
    note_calls(in_order_, rows_);
    if (std::ranges::none_of(rows_, [](const NsightRow& each) { return is_work(each.operation); })) {
      file_.refuse("it has no copy and no kernel that was issued in the part that is asked for: " + all);
    }
    name_streams(file_, context_, rows_, export_);
    export_.recording.events = static_cast<int>(events_.size());
    compose(rows_, background_, has_calls_, export_);
    for (const auto& [text, number] : left_out_) {
      export_.unknown.push_back(fmt::format(fmt::runtime(text), number));
    }
    return std::move(export_);
  }

 private:
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
    if (ranges.size() > 1) {
      export_.unknown.push_back(
          fmt::format("{} NVTX ranges are called '{}': this is the first", ranges.size(), part_.range));
    }
  }

  void read_work() {
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> gpus;  // by process and CUDA's number of the device
    file_.read("TARGET_INFO_CUDA_DEVICE", {{"gpuId"}, {"cudaId"}, {"pid"}}, [&](const Row& row) {
      gpus[{row.whole(2), row.whole(1)}] = row.whole(0);
    });
    const auto add = [&](const Row& row, NsightRow each) {
      each.start = row.whole(0);
      each.end = row.whole(1);
      if (each.end < each.start) {  // the profile ended first: Nsight gives them an end of 0
        ++left_out_[kUnfinished];
        return false;
      }
      each.stream = row.whole(3);
      each.correlation = row.number(4);
      const std::int64_t device = row.whole(2);
      const std::int64_t process = process_of(row.number(5));
      const auto gpu = gpus.find({process & kIds, device});
      each.owner = {gpu == gpus.end() ? device : gpu->second, process, device, row.number(6).value_or(0)};
      rows_.push_back(std::move(each));
      return true;
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
      switch (row.whole(8)) {  // the numbers of CUDA_MEMCPY_KIND_*
        case 1:                // host to device
        case 3:                // host to array
          copy.operation = {.kind = OperationKind::copy_in, .chunk = {.items = row.whole(7)}};
          copy.memory = memory_of(row.number(9));
          break;
        case 2:  // device to host
        case 4:  // array to host
          copy.operation = {.kind = OperationKind::copy_out, .chunk = {.items = row.whole(7)}};
          copy.memory = memory_of(row.number(10));
          break;
        case 5:  // within the device: array to array, array to device, device to array, device to device
        case 6:
        case 7:
        case 8:
          copy.operation.kind = OperationKind::kernel;
          break;
        default:
          ++left_out_[kElsewhere];
          return;
      }
      const bool within = copy.operation.kind == OperationKind::kernel;
      if (add(row, std::move(copy)) && within) ++left_out_[kWithin];
    });
    NsightRow kernel;
    kernel.operation.kind = OperationKind::kernel;
    file_.read(kSets, common, [&](const Row& row) {
      if (add(row, kernel)) ++left_out_[kWithin];
    });
    file_.read(kKernels,
               with({{"gridX"},
                     {"gridY"},
                     {"gridZ"},
                     {"blockX", false},
                     {"blockY", false},
                     {"blockZ", false},
                     {"registersPerThread", false},
                     {"staticSharedMemory", false},
                     {"dynamicSharedMemory", false},
                     {"demangledName", false}}),
               [&](const Row& row) {
                 const auto number = [&](int column) { return row.number(column).value_or(0); };
                 kernel.blocks = row.whole(7) * row.whole(8) * row.whole(9);
                 kernel.threads = number(10) * number(11) * number(12);
                 kernel.registers = number(13);
                 kernel.shared_bytes = number(14) + number(15);
                 kernel.kernel.reset();
                 if (row.number(16)) {
                   std::vector<std::int64_t> key;
                   for (int column = 7; column <= 16; ++column) key.push_back(number(column));
                   kernel.kernel = number_of_kernel(key);
                 }
                 add(row, kernel);
               });
    file_.read(kGraphs, {{"start"}}, [&](const Row&) { ++left_out_[kWholeGraphs]; });
    if (!rows_.empty()) return;
    if (left_out_.contains(kElsewhere) || left_out_.contains(kUnfinished)) {
      file_.refuse(
          fmt::format("it has no work that can be read: {} copies between devices, between hosts and of unified "
                      "memory, and {} operations that did not end",
                      left_out_[kElsewhere], left_out_[kUnfinished]));
    }
    file_.refuse(
        left_out_.contains(kWholeGraphs)
            ? fmt::format("its graphs were recorded as a whole ({}): record with --cuda-graph-trace=node", kGraphs)
            : fmt::format("it has no CUDA activity: no row in {} and {}", kCopies, kKernels));
  }

  /// key: what tells it from others, the name last.
  std::size_t number_of_kernel(const std::vector<std::int64_t>& key) {
    const auto [at, is_new] = kernels_.try_emplace(key, kernels_.size());
    if (!is_new) return at->second;
    constexpr std::size_t kLongest = 60;  // names of templates have thousands of characters
    const std::string name = string(key.back());
    export_.times.kernels.push_back(name.size() <= kLongest ? name : name.substr(0, kLongest) + "...");
    return at->second;
  }

  bool is_of_process(std::optional<std::int64_t> global_id) const {
    return context_.process == 0 || !global_id || process_of(global_id) == context_.process;
  }

  void read_calls() {
    file_.read(kCalls, {{"start"}, {"end"}, {"correlationId"}, {"nameId"}, {"globalTid", false}}, [&](const Row& row) {
      if (!row.number(2) || !is_of_process(row.number(4))) return;
      calls_[*row.number(2)] = {row.whole(0), row.whole(1), string(row.whole(3)), row.number(4).value_or(0)};
    });
    for (const auto& [correlation, call] : calls_) in_order_.push_back(&call);
    std::ranges::sort(in_order_, {}, &NsightCall::start);
    for (NsightRow& each : rows_) {
      each.call = call_of(each.correlation);
      if (each.call == nullptr) ++left_out_[kWithoutCall];
      if (each.call == nullptr || !is_copy(each.operation)) continue;
      each.operation.synchronous = each.call->name.find("emcpy") != std::string::npos &&  // of cudaMemcpy, cuMemcpyHtoD
                                   each.call->name.find("Async") == std::string::npos;
    }
    has_calls_ = !left_out_.contains(kWithoutCall);
  }

  const NsightCall* call_of(std::optional<std::int64_t> correlation) const {
    if (!correlation) return nullptr;
    const auto call = calls_.find(*correlation);
    return call == calls_.end() ? nullptr : &call->second;
  }

  /// Records of events, and what waits: for events and for the host.
  void read_marks() {
    const auto is_here = [&](const Row& row, int process) {  // behind it are device and context
      if (!is_of_process(row.number(process))) return false;
      const bool here = row.number(process + 1).value_or(context_.device) == context_.device &&
                        row.number(process + 2).value_or(context_.context) == context_.context;
      if (!here) ++left_out_[kOtherContext];
      return here;
    };
    const auto add = [&](OperationKind kind, const Row& row) {
      NsightRow mark;
      mark.operation.kind = kind;
      mark.stream = row.number(0).value_or(0);
      mark.correlation = row.number(2);
      mark.call = call_of(mark.correlation);
      const bool needs_event = kind != OperationKind::synchronize_stream && kind != OperationKind::synchronize_device;
      if (needs_event && !row.number(1)) {
        ++left_out_[kNumberless];
        return;
      }
      if (needs_event) {
        mark.operation.event = {events_.try_emplace(*row.number(1), static_cast<int>(events_.size())).first->second};
      }
      if (mark.call != nullptr) rows_.push_back(std::move(mark));
    };
    const Column on_device{"deviceId", false};
    file_.read(kEvents, {{"streamId"}, {"eventId"}, {"correlationId"}, kProcess, on_device, kContext},
               [&](const Row& row) {
                 if (is_here(row, 3)) add(OperationKind::record_event, row);
               });
    const std::map<std::int64_t, OperationKind> kinds = wait_kinds();
    file_.read(kWaits, {{"streamId"}, {"eventId"}, {"correlationId"}, {"syncType"}, kProcess, on_device, kContext},
               [&](const Row& row) {
                 const auto kind = kinds.find(row.whole(3));
                 if (kind != kinds.end() && is_here(row, 4)) add(kind->second, row);
               });
    std::set<const NsightCall*> recorded;
    for (const NsightRow& each : rows_) recorded.insert(each.call);
    for (const auto& [correlation, call] : calls_) {
      const bool waits = call.name.find("StreamWaitEvent") != std::string::npos;
      if (waits && !recorded.contains(&call)) ++left_out_[kUnrecorded];
    }
    export_.times.lacks_orders = left_out_.contains(kUnrecorded);
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
    std::vector<const NsightCall*> loads;
    for (const auto& [correlation, call] : calls_) {
      if (issue.contains(&call)) continue;
      if (call.name.starts_with("cuLibraryLoad")) loads.push_back(&call);  // of a kernel that is launched first
      add(call);
    }
    for (const char* table : {"OSRT_API", "PROFILER_OVERHEAD"}) {
      file_.read(table, {{"start"}, {"end"}, {"nameId"}, {"globalTid", false}}, [&](const Row& row) {
        if (!row.number(1) || !row.number(2) || !is_of_process(row.number(3))) return;
        const NsightCall& call =
            other_calls_.emplace_back(row.whole(0), row.whole(1), string(row.whole(2)), row.number(3).value_or(0));
        if (call.name.starts_with("Lazy")) loads.push_back(&call);
        add(call);
      });
    }
    read_loads(loads);
  }

  /// A launch that loads its kernel does so before anything else; the record of it may have the end alone.
  void read_loads(const std::vector<const NsightCall*>& loads) {
    std::map<std::int64_t, std::vector<const NsightCall*>> of_thread;
    for (const NsightCall* call : in_order_) of_thread[call->thread].push_back(call);
    for (const NsightCall* load : loads) {
      const auto& calls = of_thread[load->thread];
      const auto behind = std::ranges::upper_bound(calls, load->start, {}, &NsightCall::start);
      const bool within = behind != calls.begin() && (*std::prev(behind))->end >= load->end;
      background_.loads.emplace_back(within ? (*std::prev(behind))->start : load->start, load->end);
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
    static const std::vector<std::pair<std::string, OperationKind>> known{
        // CUPTI counts them from 1
        {"_EVENT_SYNCHRONIZE", OperationKind::synchronize_event},
        {"_STREAM_WAIT_EVENT", OperationKind::wait_event},
        {"_STREAM_SYNCHRONIZE", OperationKind::synchronize_stream},
        {"_CONTEXT_SYNCHRONIZE", OperationKind::synchronize_device}};
    std::map<std::int64_t, OperationKind> kinds;
    file_.read("ENUM_CUPTI_SYNC_TYPE", {{"id"}, {"name"}}, [&](const Row& row) {
      for (const auto& [name, kind] : known) {
        if (row.text(1).ends_with(name)) kinds[row.whole(0)] = kind;
      }
    });
    if (!kinds.empty()) return kinds;
    for (const auto& [name, kind] : known) kinds[static_cast<std::int64_t>(kinds.size()) + 1] = kind;
    return kinds;
  }

  bool within(const NsightRow& each) const {
    const std::int64_t at = each.issued_at();
    return from_ <= at && at < to_;
  }

  SqliteFile file_;
  NsightPart part_;
  NsightExport export_;
  std::map<std::string, std::size_t> left_out_;  ///< how many, by the sentence that says so
  std::map<std::int64_t, std::string> strings_;
  std::vector<NsightRow> rows_;
  std::map<std::int64_t, NsightCall> calls_;  ///< by correlation
  std::vector<const NsightCall*> in_order_;   ///< the same, as they began
  std::deque<NsightCall> other_calls_;        ///< of the operating system and the profiler
  NsightBackground background_;
  std::map<std::vector<std::int64_t>, std::size_t> kernels_;  ///< ours
  std::map<std::int64_t, int> events_;                        ///< by Nsight's number: ours
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
