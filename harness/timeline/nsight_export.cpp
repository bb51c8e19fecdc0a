#include "harness/timeline/nsight_export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "harness/host/sqlite_file.hpp"
#include "harness/schedule/ordering.hpp"

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
const Column kProcess{"globalPid", false};
const Column kContext{"contextId", false};

constexpr double kMilliseconds = 1e-6;  // a nanosecond
constexpr double kSeconds = 1e-9;

constexpr std::int64_t kIds = 0xFFFFFF;  // in a serialized id, what the operating system calls it

/// The part of a serialized global id that names the process.
std::int64_t process_of(std::optional<std::int64_t> global_id) {
  constexpr int kThreadBits = 24;
  return global_id ? *global_id >> kThreadBits : 0;
}

/// A memory kind of an export: managed memory is number 4, or 6 if it is static.
HostMemory memory_of(std::optional<std::int64_t> kind) {
  return kind == 0 ? HostMemory::pageable : kind == 4 || kind == 6 ? HostMemory::managed : HostMemory::pinned;
}

/// In nanoseconds, as everything here until it becomes a timeline.
struct Call {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::string name;
  std::int64_t thread = 0;
};

/// What becomes an operation.
struct Found {
  Operation operation;
  std::int64_t start = 0;  ///< on the device; of what is no work, 0
  std::int64_t end = 0;
  std::int64_t device = 0;  ///< as CUDA numbers it for this process
  std::int64_t process = 0;
  std::int64_t context = 0;
  std::int64_t stream = 0;
  std::optional<std::int64_t> correlation;
  std::int64_t blocks = 0;
  HostMemory memory = HostMemory::pinned;
  const Call* call = nullptr;

  /// By the host's call, where it is known; else when the device began. What one call issued, as the device began it.
  std::int64_t issued_at() const { return call == nullptr ? start : call->start; }
  auto order() const { return std::tuple(issued_at(), correlation.value_or(0), start); }
};

/// The steps of a chunk.
int step(const Operation& operation) {
  return operation.kind == OperationKind::copy_in ? 0 : operation.kind == OperationKind::copy_out ? 2 : 1;
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
    choose_context();
    read_calls();
    read_marks();
    read_other_calls();
    const auto [first, last] = std::ranges::minmax_element(found_, {}, &Found::issued_at);
    const std::string all =
        fmt::format("work was issued from {:.3f} to {:.3f} ms", kMilliseconds * static_cast<double>(first->issued_at()),
                    kMilliseconds * static_cast<double>(last->issued_at()));
    std::erase_if(found_, [&](const Found& each) { return !within(each); });
    std::ranges::stable_sort(found_, {}, &Found::order);
    drop_idle_calls();
    if (std::ranges::none_of(found_, [](const Found& each) { return is_work(each.operation); })) {
      file_.refuse("it has no copy and no kernel that was issued in the part that is asked for: " + all);
    }
    name_streams();
    compose();
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
    const auto found = strings_.find(id);
    return found == strings_.end() ? "" : found->second;
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
    std::size_t reversed = 0;
    const auto add = [&](const Row& row, Found each) {
      each.start = row.whole(0);
      each.end = row.whole(1);
      if (each.end < each.start) {
        ++reversed;
        return;
      }
      each.device = row.whole(2);
      each.stream = row.whole(3);
      each.correlation = row.number(4);
      each.process = process_of(row.number(5));
      each.context = row.number(6).value_or(0);
      found_.push_back(std::move(each));
    };
    const std::vector<Column> of_all{{"start"},         {"end"},  {"deviceId"}, {"streamId"},
                                     {"correlationId"}, kProcess, kContext};
    const auto with = [&](std::initializer_list<Column> more) {
      std::vector<Column> columns = of_all;
      columns.insert(columns.end(), more);
      return columns;
    };
    file_.read(kCopies, with({{"bytes"}, {"copyKind"}, {"srcKind"}, {"dstKind"}}), [&](const Row& row) {
      Found copy;
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
    Found kernel;
    kernel.operation.kind = OperationKind::kernel;
    file_.read(kSets, of_all, [&](const Row& row) { add(row, kernel); });
    const std::size_t on_device = static_cast<std::size_t>(
        std::ranges::count(found_, OperationKind::kernel, [](const Found& each) { return each.operation.kind; }));
    file_.read(kKernels, with({{"gridX"}, {"gridY"}, {"gridZ"}}), [&](const Row& row) {
      kernel.blocks = row.whole(7) * row.whole(8) * row.whole(9);
      add(row, kernel);
    });
    std::size_t graphs = 0;
    file_.read(kGraphs, {{"start"}}, [&](const Row&) { ++graphs; });
    if (found_.empty() && others + reversed > 0) {
      file_.refuse(
          fmt::format("it has no work that can be read: {} copies between devices, between hosts and of unified "
                      "memory, and {} operations that end before they begin",
                      others, reversed));
    }
    if (found_.empty()) {
      file_.refuse(graphs > 0 ? fmt::format("its graphs were recorded as a whole ({}): record with "
                                            "--cuda-graph-trace=node",
                                            kGraphs)
                              : fmt::format("it has no CUDA activity: no row in {} and {}", kCopies, kKernels));
    }
    if (graphs > 0)
      say("{} graphs were recorded as a whole and are left out: record with --cuda-graph-trace=node", graphs);
    if (reversed > 0) say("{} operations end before they begin and are left out", reversed);
    if (others > 0) say("{} copies between devices, between hosts and of unified memory are left out", others);
    if (on_device > 0) say("{} copies within the device and memsets count as kernels", on_device);
  }

  /// The one of most work, on the GPU that is asked for.
  void choose_context() {
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> gpus;  // by process and CUDA's number of the device
    file_.read("TARGET_INFO_CUDA_DEVICE", {{"gpuId"}, {"cudaId"}, {"pid"}}, [&](const Row& row) {
      gpus[{row.whole(2), row.whole(1)}] = row.whole(0);
    });
    const auto gpu_of = [&](std::int64_t process, std::int64_t device) {
      const auto gpu = gpus.find({process & kIds, device});
      return gpu == gpus.end() ? device : gpu->second;
    };
    using Owner = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;  // GPU, process, device, context
    const auto owner = [&](const Found& each) {
      return Owner{gpu_of(each.process, each.device), each.process, each.device, each.context};
    };
    std::map<Owner, std::size_t> count;
    std::map<std::int64_t, std::size_t> on_gpu;
    for (const Found& each : found_) {
      ++count[owner(each)];
      ++on_gpu[std::get<0>(owner(each))];
    }
    const Owner* chosen = nullptr;
    for (const auto& [each, operations] : count) {
      if (part_.gpu.value_or(std::get<0>(each)) != std::get<0>(each)) continue;
      if (chosen == nullptr || operations > count[*chosen]) chosen = &each;
    }
    if (chosen == nullptr) {
      std::vector<std::int64_t> numbers;
      for (const auto& [gpu, operations] : on_gpu) numbers.push_back(gpu);
      file_.refuse(fmt::format("it has no work of GPU {}: give --gpu one of {}", *part_.gpu, fmt::join(numbers, ", ")));
    }
    const Owner mine = *chosen;
    std::int64_t gpu = 0;
    std::tie(gpu, process_, device_, context_) = mine;
    for (const auto& [each, operations] : count) {
      const auto& [its_gpu, process, device, context] = each;
      if (its_gpu != gpu || each == mine) continue;
      if (process != process_) {
        say("{} operations of process {} on this GPU are left out", operations, process & kIds);
      } else {
        say("{} operations of another context of this process are left out", operations);
      }
    }
    for (const auto& [other, operations] : on_gpu) {
      if (other != gpu) say("{} operations of GPU {} are left out: take them by --gpu {}", operations, other, other);
    }
    for (const Found& each : found_) {
      if (owner(each) != mine && std::get<0>(owner(each)) == gpu) others_.emplace_back(each.start, each.end);
    }
    std::ranges::sort(others_);
    std::erase_if(found_, [&](const Found& each) { return owner(each) != mine; });
    file_.read("TARGET_INFO_GPU", {{"id"}, {"name"}, {"asyncEngines", false}}, [&](const Row& row) {
      if (row.number(0) != gpu) return;
      export_.device = row.text(1);
      if (row.number(2) == 1) export_.copy_engines = 1;
    });
  }

  bool is_of_process(std::optional<std::int64_t> global_id) const {
    return process_ == 0 || !global_id || process_of(global_id) == process_;
  }

  void read_calls() {
    file_.read(kCalls, {{"start"}, {"end"}, {"correlationId"}, {"nameId"}, {"globalTid", false}}, [&](const Row& row) {
      if (!row.number(2) || !is_of_process(row.number(4))) return;
      calls_[*row.number(2)] = {row.whole(0), row.whole(1), string(row.whole(3)), row.number(4).value_or(0)};
    });
    std::size_t without = 0;
    for (Found& each : found_) {
      each.call = call_of(each.correlation);
      without += each.call == nullptr ? 1 : 0;
      if (each.call == nullptr || !is_copy(each.operation)) continue;
      each.operation.synchronous = each.call->name.find("emcpy") != std::string::npos &&  // of cudaMemcpy, cuMemcpyHtoD
                                   each.call->name.find("Async") == std::string::npos;
    }
    has_calls_ = without == 0;
    if (!has_calls_) {
      say("the host's calls of {} operations are not in it: they stand in the order in which the device began, and "
          "when "
          "the host issued is not known",
          without);
    }
  }

  const Call* call_of(std::optional<std::int64_t> correlation) const {
    if (!correlation) return nullptr;
    const auto call = calls_.find(*correlation);
    return call == calls_.end() ? nullptr : &call->second;
  }

  /// Records of events, and what waits: for events and for the host.
  void read_marks() {
    std::size_t numberless = 0;
    std::size_t elsewhere = 0;
    const auto is_here = [&](std::optional<std::int64_t> device, std::optional<std::int64_t> context) {
      const bool here = device.value_or(device_) == device_ && context.value_or(context_) == context_;
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
      Found mark;
      mark.operation.kind = kind;
      mark.stream = stream.value_or(0);
      mark.correlation = correlation;
      mark.call = call_of(correlation);
      if (event) mark.operation.event = {events_.try_emplace(*event, static_cast<int>(events_.size())).first->second};
      if (mark.call != nullptr) found_.push_back(std::move(mark));
    };
    const Column on_device{"deviceId", false};
    const std::vector<Column> of_records{{"streamId"}, {"eventId"}, {"correlationId"}, kProcess, on_device, kContext};
    file_.read(kEvents, of_records, [&](const Row& row) {
      if (!is_of_process(row.number(3)) || !is_here(row.number(4), row.number(5))) return;
      add(OperationKind::record_event, row.number(0), row.number(1), row.number(2));
    });
    const std::map<std::int64_t, OperationKind> kinds = wait_kinds();
    const std::vector<Column> of_waits{{"streamId"}, {"eventId"}, {"correlationId"}, {"syncType"},
                                       kProcess,     on_device,   kContext};
    file_.read(kWaits, of_waits, [&](const Row& row) {
      const auto kind = kinds.find(row.whole(3));
      if (kind == kinds.end() || !is_of_process(row.number(4)) || !is_here(row.number(5), row.number(6))) return;
      const bool of_event =
          kind->second == OperationKind::wait_event || kind->second == OperationKind::synchronize_event;
      add(kind->second, row.number(0), of_event ? row.number(1) : std::nullopt, row.number(2));
    });
    if (numberless > 0)
      say("{} records of events and waits for them have no number of an event and are left out", numberless);
    if (elsewhere > 0)
      say("{} records of events and waits on other devices and in other contexts are left out", elsewhere);
    std::set<const Call*> recorded;
    for (const Found& each : found_) recorded.insert(each.call);
    const auto unrecorded = std::ranges::count_if(calls_, [&](const auto& call) {
      return call.second.name.find("StreamWaitEvent") != std::string::npos && !recorded.contains(&call.second);
    });
    if (unrecorded > 0)
      say("{} waits of streams for events are called and not recorded: their order is not known", unrecorded);
  }

  /// Calls of the threads that issue work, which issue none and take longer than an issue.
  void read_other_calls() {
    if (!has_calls_) return;
    std::set<const Call*> issue;
    std::set<std::int64_t> threads;
    for (const Found& each : found_) {
      issue.insert(each.call);
      threads.insert(each.call->thread);
    }
    const auto add = [&](const Call& call) {
      const auto latency = static_cast<std::int64_t>(Timeline{}.latency / kSeconds);
      if (call.end - call.start <= latency || !threads.contains(call.thread)) return;
      Found other;
      other.operation = {.kind = OperationKind::host_work, .label = call.name.substr(0, call.name.find("_v"))};
      other.operation.microseconds = 1e-3 * static_cast<double>(call.end - call.start);
      other.call = &call;
      found_.push_back(std::move(other));
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
    std::erase_if(found_, [&](const Found& each) {
      begun = begun || is_work(each.operation) || is_mark(each.operation);
      if (!begun) return true;
      if (each.call == nullptr) return false;
      const bool within_another = each.call->end <= until[each.call->thread];
      until[each.call->thread] = std::max(until[each.call->thread], each.call->end);
      return each.operation.kind == OperationKind::host_work && within_another;
    });
  }

  /// By the number that the export gives them: its own table of names goes before CUPTI's numbers.
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

  bool within(const Found& each) const {
    const std::int64_t at = each.issued_at();
    return from_ <= at && at < to_;
  }

  void name_streams() {
    constexpr std::int64_t kNonBlocking = 2;
    constexpr std::int64_t kNull = 3;
    std::map<std::int64_t, StreamKind> kinds;
    const Column of_process{"processId", false};
    const auto is_here = [&](std::optional<std::int64_t> process, std::optional<std::int64_t> context) {
      const bool here = process_ == 0 || process.value_or(process_ & kIds) == (process_ & kIds);
      return here && (context_ == 0 || context.value_or(context_) == context_);
    };
    file_.read("TARGET_INFO_CUDA_STREAM", {{"streamId"}, {"flag"}, of_process, kContext}, [&](const Row& row) {
      if (!is_here(row.number(2), row.number(3))) return;
      kinds[row.whole(0)] = row.number(1) == kNull          ? StreamKind::legacy_default
                            : row.number(1) == kNonBlocking ? StreamKind::non_blocking
                                                            : StreamKind::blocking;
    });
    bool null_is_known =
        std::ranges::any_of(kinds, [](const auto& of) { return of.second == StreamKind::legacy_default; });
    for (const auto& [table, column] : {std::pair{"TARGET_INFO_CUDA_CONTEXT_INFO", "nullStreamId"},
                                        std::pair{"TARGET_INFO_CUDA_NULL_STREAM", "streamId"}}) {  // until 2022
      file_.read(table, {{column}, of_process, kContext}, [&](const Row& row) {
        if (!row.number(0) || !is_here(row.number(1), row.number(2))) return;
        kinds[*row.number(0)] = StreamKind::legacy_default;
        null_is_known = true;
      });
    }
    std::set<std::int64_t> unknown;
    for (Found& each : found_) {
      const auto kind = kinds.find(each.stream);
      if (kind == kinds.end() && is_work(each.operation)) unknown.insert(each.stream);
      const StreamKind is = kind == kinds.end() ? StreamKind::blocking : kind->second;
      each.operation.stream = {is, is == StreamKind::legacy_default ? 0 : static_cast<int>(each.stream)};
    }
    if (!null_is_known) say("which stream is the default stream is not in it: none is taken for it");
    if (!unknown.empty())
      say("of {} streams it is not said how they were created: they count as blocking", unknown.size());
  }

  void compose() {
    static const Workload kBytes{
        .about = {.id = "imported", .title = "", .source = "", .type = ElementType::i8, .work = ""}};
    Recording& recording = export_.recording;
    recording.job = {.workload = &kBytes, .items = 0, .chunks = 0, .streams = 0, .buffers = 0};
    recording.events = static_cast<int>(events_.size());
    std::int64_t zero = std::numeric_limits<std::int64_t>::max();
    std::map<HostMemory, std::size_t> copies;  // of each memory
    for (const Found& each : found_) {
      zero = std::min(zero, each.issued_at());
      recording.operations.push_back(each.operation);
      if (is_copy(each.operation)) ++copies[each.memory];
    }
    const auto interval = [&](std::int64_t start, std::int64_t end) {
      return Interval{kSeconds * static_cast<double>(start - zero), kSeconds * static_cast<double>(end - zero)};
    };
    for (const auto& [start, end] : others_) {
      const Interval when = interval(start, end);
      if (!export_.others.empty() && when.start <= export_.others.back().end) {
        export_.others.back().end = std::max(export_.others.back().end, when.end);
      } else {
        export_.others.push_back(when);
      }
    }
    std::set<const Call*> calls;
    std::map<std::int64_t, int> threads;
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const Found& each = found_[i];
      if (is_work(each.operation)) {
        export_.spans.push_back({.operation = i, .when = interval(each.start, each.end), .blocks = each.blocks});
        calls.insert(each.call);
      }
      if (!has_calls_) continue;
      export_.issued.push_back(interval(each.call->start, each.call->end));
      export_.threads.push_back(threads.try_emplace(each.call->thread, static_cast<int>(threads.size())).first->second);
    }
    recording.captured = has_calls_ && calls.size() == 1 && export_.spans.size() > 1;
    std::size_t all = 0;
    for (const auto& [memory, number] : copies) {
      all += number;
      if (number > copies[recording.job.memory]) recording.job.memory = memory;
    }
    for (const auto& [memory, number] : copies) {
      if (memory == recording.job.memory || number == 0) continue;
      say("{} of {} copies are of {} memory: all count as {}", number, all, name(memory), name(recording.job.memory));
    }
    find_chunks();
  }

  /// As NsightExport says.
  void find_chunks() {
    struct Lane {
      std::optional<std::size_t> last;  ///< its last work
      bool marked = false;              ///< an event was recorded since
      bool copies = false;              ///< in the whole export
    };
    Recording& recording = export_.recording;
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
    say("chunks are not in it: {} are taken to be there, each what a stream does from its copies to the device on, "
        "with "
        "what waits for that by an event",
        chunks);
  }

  SqliteFile file_;
  NsightPart part_;
  NsightExport export_;
  std::map<std::int64_t, std::string> strings_;
  std::vector<Found> found_;
  std::map<std::int64_t, Call> calls_;                         ///< by correlation
  std::deque<Call> other_calls_;                               ///< of the operating system and the profiler
  std::vector<std::pair<std::int64_t, std::int64_t>> others_;  ///< when other contexts and processes were at work
  std::map<std::int64_t, int> events_;                         ///< by Nsight's number: ours
  std::int64_t from_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t to_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t process_ = 0;  ///< 0: not known
  std::int64_t device_ = 0;
  std::int64_t context_ = 0;  ///< 0: not known
  bool has_calls_ = false;
};

}  // namespace

NsightExport read_nsight_export(const std::filesystem::path& file, const NsightPart& part) {
  return Reader(file, part).read();
}

}  // namespace scanlab::streams
