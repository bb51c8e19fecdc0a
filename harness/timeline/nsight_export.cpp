#include "harness/timeline/nsight_export.hpp"

#include <fmt/format.h>

#include <algorithm>
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

constexpr std::int64_t kPageable = 0;   // a memory kind
constexpr double kMilliseconds = 1e-6;  // a nanosecond
constexpr double kSeconds = 1e-9;

/// The part of a serialized global id that names the process.
std::int64_t process_of(std::optional<std::int64_t> global_id) {
  constexpr int kThreadBits = 24;
  return global_id ? *global_id >> kThreadBits : 0;
}

/// In nanoseconds, as everything here until it becomes a timeline.
struct Call {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::string name;
};

/// What becomes an operation.
struct Found {
  Operation operation;
  std::int64_t start = 0;  ///< on the device; of what is no work, 0
  std::int64_t end = 0;
  std::int64_t device = 0;
  std::int64_t process = 0;
  std::int64_t stream = 0;
  std::optional<std::int64_t> correlation;
  std::int64_t blocks = 0;
  bool pageable = false;
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
    choose_process();
    read_calls();
    read_marks();
    const auto [first, last] = std::ranges::minmax_element(found_, {}, &Found::issued_at);
    const std::string all =
        fmt::format("work was issued from {:.3f} to {:.3f} ms", kMilliseconds * static_cast<double>(first->issued_at()),
                    kMilliseconds * static_cast<double>(last->issued_at()));
    std::erase_if(found_, [&](const Found& each) { return !within(each); });
    std::ranges::stable_sort(found_, {}, &Found::order);
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
      found_.push_back(std::move(each));
    };
    const std::vector<Column> of_all{{"start"}, {"end"}, {"deviceId"}, {"streamId"}, {"correlationId"}, kProcess};
    const auto with = [&](std::initializer_list<Column> more) {
      std::vector<Column> columns = of_all;
      columns.insert(columns.end(), more);
      return columns;
    };
    file_.read(kCopies, with({{"bytes"}, {"copyKind"}, {"srcKind"}, {"dstKind"}}), [&](const Row& row) {
      Found copy;
      copy.operation.chunk.items = row.whole(6);
      switch (row.whole(7)) {  // the numbers of CUDA_MEMCPY_KIND_*
        case 1:                // host to device
        case 3:                // host to array
          copy.operation.kind = OperationKind::copy_in;
          copy.pageable = row.number(8) == kPageable;
          break;
        case 2:  // device to host
        case 4:  // array to host
          copy.operation.kind = OperationKind::copy_out;
          copy.pageable = row.number(9) == kPageable;
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
      kernel.blocks = row.whole(6) * row.whole(7) * row.whole(8);
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

  /// The one of most work, and its device.
  void choose_process() {
    std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> count;
    for (const Found& each : found_) ++count[{each.process, each.device}];
    const auto most = std::ranges::max_element(count, {}, [](const auto& each) { return each.second; });
    std::tie(process_, device_) = most->first;
    if (count.size() > 1) {
      say("{} operations of other processes or devices are left out: this is device {}", found_.size() - most->second,
          device_);
    }
    std::erase_if(found_, [&](const Found& each) { return each.process != process_ || each.device != device_; });
    file_.read("TARGET_INFO_GPU", {{"id"}, {"name"}}, [&](const Row& row) {
      if (row.number(0) == device_) export_.device = row.text(1);
    });
  }

  bool is_of_process(std::optional<std::int64_t> global_id) const {
    return process_ == 0 || !global_id || process_of(global_id) == process_;
  }

  void read_calls() {
    file_.read(kCalls, {{"start"}, {"end"}, {"correlationId"}, {"nameId"}, {"globalTid", false}}, [&](const Row& row) {
      if (!row.number(2) || !is_of_process(row.number(4))) return;
      calls_[*row.number(2)] = {row.whole(0), row.whole(1), string(row.whole(3))};
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
    const auto is_here = [&](std::optional<std::int64_t> device) {
      const bool here = !device || *device == device_;
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
    file_.read(kEvents, {{"streamId"}, {"eventId"}, {"correlationId"}, kProcess, on_device}, [&](const Row& row) {
      if (!is_of_process(row.number(3)) || !is_here(row.number(4))) return;
      add(OperationKind::record_event, row.number(0), row.number(1), row.number(2));
    });
    const std::map<std::int64_t, OperationKind> kinds = wait_kinds();
    const std::vector<Column> of_waits{{"streamId"}, {"eventId"}, {"correlationId"}, {"syncType"}, kProcess, on_device};
    file_.read(kWaits, of_waits, [&](const Row& row) {
      const auto kind = kinds.find(row.whole(3));
      if (kind == kinds.end() || !is_of_process(row.number(4)) || !is_here(row.number(5))) return;
      const bool of_event =
          kind->second == OperationKind::wait_event || kind->second == OperationKind::synchronize_event;
      add(kind->second, row.number(0), of_event ? row.number(1) : std::nullopt, row.number(2));
    });
    if (numberless > 0)
      say("{} records of events and waits for them have no number of an event and are left out", numberless);
    if (elsewhere > 0) say("{} records of events and waits on other devices are left out", elsewhere);
    std::set<const Call*> recorded;
    for (const Found& each : found_) recorded.insert(each.call);
    const auto unrecorded = std::ranges::count_if(calls_, [&](const auto& call) {
      return call.second.name.find("StreamWaitEvent") != std::string::npos && !recorded.contains(&call.second);
    });
    if (unrecorded > 0)
      say("{} waits of streams for events are called and not recorded: their order is not known", unrecorded);
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
    const auto is_of = [&](std::optional<std::int64_t> id) {  // not serialized: the operating system's number
      constexpr std::int64_t kIds = 0xFFFFFF;
      return process_ == 0 || !id || *id == (process_ & kIds);
    };
    file_.read("TARGET_INFO_CUDA_STREAM", {{"streamId"}, {"flag"}, {"processId", false}}, [&](const Row& row) {
      if (!is_of(row.number(2))) return;
      kinds[row.whole(0)] = row.number(1) == kNull          ? StreamKind::legacy_default
                            : row.number(1) == kNonBlocking ? StreamKind::non_blocking
                                                            : StreamKind::blocking;
    });
    bool null_is_known =
        std::ranges::any_of(kinds, [](const auto& of) { return of.second == StreamKind::legacy_default; });
    file_.read("TARGET_INFO_CUDA_CONTEXT_INFO", {{"nullStreamId"}, {"processId", false}}, [&](const Row& row) {
      if (!row.number(0) || !is_of(row.number(1))) return;
      kinds[*row.number(0)] = StreamKind::legacy_default;
      null_is_known = true;
    });
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
    std::size_t copies = 0;
    std::size_t pageable = 0;
    for (const Found& each : found_) {
      zero = std::min(zero, each.issued_at());
      recording.operations.push_back(each.operation);
      copies += is_copy(each.operation) ? 1 : 0;
      pageable += each.pageable ? 1 : 0;
    }
    const auto interval = [&](std::int64_t start, std::int64_t end) {
      return Interval{kSeconds * static_cast<double>(start - zero), kSeconds * static_cast<double>(end - zero)};
    };
    std::set<const Call*> calls;
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const Found& each = found_[i];
      if (is_work(each.operation)) {
        export_.spans.push_back({.operation = i, .when = interval(each.start, each.end), .blocks = each.blocks});
        calls.insert(each.call);
      }
      if (has_calls_) export_.issued.push_back(interval(each.call->start, each.call->end));
    }
    recording.captured = has_calls_ && calls.size() == 1 && export_.spans.size() > 1;
    recording.job.memory = 2 * pageable > copies ? HostMemory::pageable : HostMemory::pinned;
    if (pageable > 0 && pageable < copies) {
      say("{} of {} copies are of pageable memory: all count as {}", pageable, copies, name(recording.job.memory));
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
  std::map<std::int64_t, Call> calls_;  ///< by correlation
  std::map<std::int64_t, int> events_;  ///< by Nsight's number: ours
  std::int64_t from_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t to_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t process_ = 0;  ///< 0: not known
  std::int64_t device_ = 0;
  bool has_calls_ = false;
};

}  // namespace

NsightExport read_nsight_export(const std::filesystem::path& file, const NsightPart& part) {
  return Reader(file, part).read();
}

}  // namespace scanlab::streams
