// Activity records of CUPTI as the tables that `nsys export --type sqlite` writes, as far as
// `scanlab streams diagnose --nsys` and `scanlab streams import` read them. A table exists where it has a row.
//
// Source: "SQLite Schema Reference" of the Nsight Systems Analysis Guide.
#pragma once

#include <cupti.h>
#include <cxxabi.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace scanlab::trace {

class TraceDatabase {
 public:
  /// Replaces `file`. Times become nanoseconds from `zero`; `call_name` is cuptiGetCallbackName.
  TraceDatabase(const std::string& file, std::uint64_t zero, decltype(&cuptiGetCallbackName) call_name)
      : zero_(zero), call_name_(call_name) {
    std::remove(file.c_str());
    sqlite3* database = nullptr;
    const int status = sqlite3_open(file.c_str(), &database);
    database_.reset(database);
    check(status);
  }

  /// Writes all records in one transaction; of a program that calls cudaProfilerStart, what was issued from there to
  /// cudaProfilerStop. Throws std::runtime_error with SQLite's message.
  void write(const std::vector<const CUpti_Activity*>& records) {
    find_profiled_part(records);
    execute("BEGIN");
    for (const CUpti_Activity* record : records) add(*record);
    for (const auto& [text, number] : texts_) insert("StringIds", "id, value", {number, text.c_str()});
    execute("COMMIT");
  }

 private:
  struct Value {
    template <std::integral Number>
    Value(Number value) : number(static_cast<std::int64_t>(value)) {}
    Value(std::optional<std::int64_t> value) : number(value) {}
    Value(const char* value) : text(value) {}
    std::optional<std::int64_t> number;
    const char* text = nullptr;
  };
  using Statement = std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)>;

  void check(int status) const {
    if (status != SQLITE_OK && status != SQLITE_DONE) throw std::runtime_error(sqlite3_errmsg(database_.get()));
  }
  void execute(const std::string& sql) const {
    check(sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr));
  }

  /// Creates the table when its first row comes.
  void insert(const std::string& table, const std::string& columns, const std::vector<Value>& values) {
    Statement& statement = statements_.try_emplace(table, nullptr, sqlite3_finalize).first->second;
    if (!statement) {
      execute("CREATE TABLE " + table + " (" + columns + ")");
      std::string sql = "INSERT INTO " + table + " VALUES (?";
      for (std::size_t i = 1; i < values.size(); ++i) sql += ", ?";
      sqlite3_stmt* prepared = nullptr;
      check(sqlite3_prepare_v2(database_.get(), (sql + ")").c_str(), -1, &prepared, nullptr));
      statement.reset(prepared);
    }
    int place = 0;
    for (const Value& value : values) {
      ++place;
      check(value.text != nullptr ? sqlite3_bind_text(statement.get(), place, value.text, -1, SQLITE_TRANSIENT)
            : value.number        ? sqlite3_bind_int64(statement.get(), place, *value.number)
                                  : sqlite3_bind_null(statement.get(), place));
    }
    check(sqlite3_step(statement.get()));
    check(sqlite3_reset(statement.get()));
  }

  std::int64_t number_of(const std::string& text) {
    return texts_.try_emplace(text, static_cast<std::int64_t>(texts_.size()) + 1).first->second;
  }

  /// A time of 0 was not recorded, and stays 0.
  std::int64_t at(std::uint64_t time) const { return time == 0 ? 0 : static_cast<std::int64_t>(time - zero_); }
  bool is_profiled(std::uint64_t start) const { return from_ <= start && start < to_; }
  bool is_profiled(const auto& issued) const { return is_whole_ || profiled_.contains(issued.correlationId); }

  static std::int64_t global_process() { return std::int64_t{getpid()} << 24; }
  static std::int64_t global_thread(std::uint32_t thread) { return global_process() | (thread & 0xFFFFFF); }
  static std::optional<std::int64_t> known(std::uint32_t id) {
    return id == CUPTI_SYNCHRONIZATION_INVALID_VALUE ? std::nullopt : std::optional<std::int64_t>(id);
  }

  template <class Record>
  static const Record& as(const CUpti_Activity& record) {
    return reinterpret_cast<const Record&>(record);
  }

  void find_profiled_part(const std::vector<const CUpti_Activity*>& records) {
    std::vector<const CUpti_ActivityAPI*> calls;
    for (const CUpti_Activity* record : records) {
      if (record->kind == CUPTI_ACTIVITY_KIND_RUNTIME || record->kind == CUPTI_ACTIVITY_KIND_DRIVER)
        calls.push_back(&as<CUpti_ActivityAPI>(*record));
    }
    const auto is = [](const CUpti_ActivityAPI* call, CUpti_CallbackId runtime, CUpti_CallbackId driver) {
      return call->cbid == (call->kind == CUPTI_ACTIVITY_KIND_RUNTIME ? runtime : driver);
    };
    std::ranges::sort(calls, {}, &CUpti_ActivityAPI::start);
    for (const CUpti_ActivityAPI* call : calls) {
      if (is_whole_ &&
          is(call, CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart)) {
        is_whole_ = false;
        from_ = call->end;
      } else if (!is_whole_ &&
                 is(call, CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop)) {
        to_ = call->start;
        return;
      } else if (!is_whole_ && is_profiled(call->start)) {
        profiled_.insert(call->correlationId);
      }
    }
  }

  /// The records of newer versions begin with these: fields were only added behind.
  void add(const CUpti_Activity& record) {
    switch (record.kind) {
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return add_kernel(as<CUpti_ActivityKernel9>(record));
      case CUPTI_ACTIVITY_KIND_MEMCPY:
        return add_copy(as<CUpti_ActivityMemcpy5>(record));
      case CUPTI_ACTIVITY_KIND_MEMCPY2:
        return add_copy(as<CUpti_ActivityMemcpyPtoP4>(record));
      case CUPTI_ACTIVITY_KIND_MEMSET:
        return add_work("MEMSET", as<CUpti_ActivityMemset4>(record), "bytes",
                        {as<CUpti_ActivityMemset4>(record).bytes});
      case CUPTI_ACTIVITY_KIND_RUNTIME:
      case CUPTI_ACTIVITY_KIND_DRIVER:
        return add_call(as<CUpti_ActivityAPI>(record));
      case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        return add_wait(as<CUpti_ActivitySynchronization>(record));
      case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
        return add_event(as<CUpti_ActivityCudaEvent>(record));
      case CUPTI_ACTIVITY_KIND_OVERHEAD:
        return add_overhead(as<CUpti_ActivityOverhead>(record));
      case CUPTI_ACTIVITY_KIND_STREAM:
        return add_stream(as<CUpti_ActivityStream>(record));
      case CUPTI_ACTIVITY_KIND_CONTEXT:
        return add_context(as<CUpti_ActivityContext>(record));
      case CUPTI_ACTIVITY_KIND_DEVICE:
        return add_device(as<CUpti_ActivityDevice4>(record));
      default:
        return;
    }
  }

  /// Work of the device: the columns that all kinds have, and more.
  template <class Work>
  void add_work(const char* kind, const Work& work, const char* columns, const std::vector<Value>& values) {
    if (!is_profiled(work)) return;
    std::optional<std::int64_t> node;
    if (work.graphNodeId != 0) node = static_cast<std::int64_t>(work.graphNodeId);
    std::vector<Value> all{at(work.start), at(work.end),       work.deviceId,    work.contextId,
                           work.streamId,  work.correlationId, global_process(), node};
    all.insert(all.end(), values.begin(), values.end());
    insert(std::string("CUPTI_ACTIVITY_KIND_") + kind,
           std::string("start, end, deviceId, contextId, streamId, correlationId, globalPid, graphNodeId, ") + columns,
           all);
  }

  void add_kernel(const CUpti_ActivityKernel9& kernel) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> demangled(
        abi::__cxa_demangle(kernel.name, nullptr, nullptr, &status), &std::free);
    const std::string name = status == 0 ? demangled.get() : kernel.name;
    add_work("KERNEL", kernel,
             "demangledName, shortName, gridX, gridY, gridZ, blockX, blockY, blockZ, registersPerThread, "
             "staticSharedMemory, dynamicSharedMemory",
             {number_of(name), number_of(short_name(name)), kernel.gridX, kernel.gridY, kernel.gridZ, kernel.blockX,
              kernel.blockY, kernel.blockZ, kernel.registersPerThread, kernel.staticSharedMemory,
              kernel.dynamicSharedMemory});
  }

  /// Without namespaces, template arguments and parameters.
  static std::string short_name(std::string name) {
    constexpr std::string_view kAnonymous = "(anonymous namespace)::";
    for (std::size_t at; (at = name.find(kAnonymous)) != name.npos;) name.erase(at, kAnonymous.size());
    name.erase(std::min(name.find_first_of("<("), name.size()));
    return name.substr(name.find_last_of(": ") + 1);  // npos + 1 is 0
  }

  /// Kinds of copies have CUPTI's numbers. Kinds of memory begin with 0 for pageable, which is CUPTI's 1.
  template <class Copy>
  void add_copy(const Copy& copy) {
    const auto memory = [](int kind) { return kind == 0 ? std::nullopt : std::optional<std::int64_t>(kind - 1); };
    add_work("MEMCPY", copy, "bytes, copyKind, srcKind, dstKind",
             {copy.bytes, copy.copyKind, memory(copy.srcKind), memory(copy.dstKind)});
  }

  void add_call(const CUpti_ActivityAPI& call) {
    if (!is_profiled(call)) return;
    const bool runtime = call.kind == CUPTI_ACTIVITY_KIND_RUNTIME;
    const char* name = nullptr;
    call_name_(runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API, call.cbid, &name);
    insert("CUPTI_ACTIVITY_KIND_RUNTIME", "start, end, eventClass, globalTid, correlationId, nameId, returnValue",
           {at(call.start), at(call.end), runtime ? 0 : 1, global_thread(call.threadId), call.correlationId,
            number_of(name == nullptr ? "unknown call" : name), call.returnValue});
  }

  void add_wait(const CUpti_ActivitySynchronization& wait) {
    if (!is_profiled(wait)) return;
    insert("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
           "start, end, contextId, streamId, correlationId, globalPid, syncType, eventId",
           {at(wait.start), at(wait.end), wait.contextId, known(wait.streamId), wait.correlationId, global_process(),
            static_cast<int>(wait.type), known(wait.cudaEventId)});
  }

  /// The record has no time: readers take that of the call.
  void add_event(const CUpti_ActivityCudaEvent& event) {
    if (!is_profiled(event)) return;
    insert("CUPTI_ACTIVITY_KIND_CUDA_EVENT", "contextId, streamId, correlationId, globalPid, eventId",
           {event.contextId, event.streamId, event.correlationId, global_process(), event.eventId});
  }

  void add_overhead(const CUpti_ActivityOverhead& overhead) {
    if (!is_profiled(overhead.start)) return;
    constexpr const char* kNames[] = {"Compilation",         "Buffer flush",        "Instrumentation",
                                      "Resource creation",   "Module loading",      "Lazy loading",
                                      "Full command buffer", "Request of a buffer", "Start of unified memory"};
    const auto kind = static_cast<std::size_t>(overhead.overheadKind) >> 16;  // a compiler's is 1, before shifting
    std::optional<std::int64_t> thread;
    if (overhead.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD) thread = global_thread(overhead.objectId.pt.threadId);
    insert("PROFILER_OVERHEAD", "start, end, globalTid, nameId",
           {at(overhead.start), at(overhead.end), thread,
            number_of(kind < std::size(kNames) ? kNames[kind] : "Other overhead")});
  }

  void add_stream(const CUpti_ActivityStream& stream) {
    insert("TARGET_INFO_CUDA_STREAM", "streamId, processId, contextId, priority, flag",
           {stream.streamId, getpid(), stream.contextId, static_cast<int>(stream.priority),
            static_cast<int>(stream.flag)});
  }

  void add_context(const CUpti_ActivityContext& context) {
    insert("TARGET_INFO_CUDA_CONTEXT_INFO", "nullStreamId, processId, deviceId, contextId",
           {context.nullStreamId, getpid(), context.deviceId, context.contextId});
  }

  void add_device(const CUpti_ActivityDevice4& device) {
    if (device.isCudaVisible == 0) return;
    insert("TARGET_INFO_GPU",
           "id, name, smCount, asyncEngines, memoryBandwidth, maxWarpsPerSm, maxBlocksPerSm, maxRegistersPerSm, "
           "maxShmemPerSm",
           {device.id, device.name, device.numMultiprocessors, device.numMemcpyEngines,
            1000 * device.globalMemoryBandwidth, device.maxWarpsPerMultiprocessor, device.maxBlocksPerMultiprocessor,
            device.maxRegistersPerMultiprocessor, device.maxSharedMemoryPerMultiprocessor});
  }

  std::unique_ptr<sqlite3, int (*)(sqlite3*)> database_{nullptr, sqlite3_close};
  std::map<std::string, Statement> statements_;  ///< by table
  std::map<std::string, std::int64_t> texts_;    ///< and their numbers in StringIds
  std::uint64_t zero_;
  bool is_whole_ = true;
  std::set<std::uint32_t> profiled_;  ///< correlations of calls
  std::uint64_t from_ = 0;
  std::uint64_t to_ = std::numeric_limits<std::uint64_t>::max();
  decltype(&cuptiGetCallbackName) call_name_;
};

}  // namespace scanlab::trace
