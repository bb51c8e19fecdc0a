#include "harness/replay/activity.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

// The layout of records is the headers'; without them (a build without CUDA) nothing can be collected.
#if defined(SCANLAB_WITH_CUDA) && __has_include(<cupti.h>)
#include <cupti.h>
#define SCANLAB_WITH_CUPTI
#endif

#include "harness/schedule/ordering.hpp"

namespace scanlab::streams {

std::string short_name(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                              &std::free);
  std::string whole = status == 0 ? demangled.get() : name;
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  for (std::size_t at; (at = whole.find(kAnonymous)) != whole.npos;) whole.erase(at, kAnonymous.size());
  // The name ends at its template arguments or parameters, and begins behind its namespaces and return type.
  const auto last_word = [](std::string_view text) {
    text = text.substr(0, text.find_first_of("<(,>"));
    return std::string(text.substr(text.find_last_of(": ") + 1));  // npos + 1 is 0
  };
  std::string last = last_word(whole);
  if (last != "trampoline") return last;  // of simt::CudaMachine: the kernel is its first template argument
  return last_word(std::string_view(whole).substr(std::min(whole.find('<') + 1, whole.size())));
}

// ------------------------------------------------------------------------------------------------- collector

#ifdef SCANLAB_WITH_CUPTI

namespace {

void* open_cupti() {
  for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so", "/usr/local/cuda/lib64/libcupti.so",
                           "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"}) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

/// CUPTI's functions, found by name, so that the program needs no CUPTI to start.
struct Cupti {
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks;
  decltype(&cuptiActivityEnable) enable;
  decltype(&cuptiActivityDisable) disable;
  decltype(&cuptiActivityFlushAll) flush;
  decltype(&cuptiActivityGetNextRecord) next_record;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped;
  decltype(&cuptiGetTimestamp) timestamp;
};

const Cupti& cupti() {
  static const Cupti functions = [] {
    void* const library = open_cupti();
    if (library == nullptr) {
      throw std::runtime_error("the profiling library libcupti.so is not here: it is part of the CUDA toolkit");
    }
    const auto find = [library](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      if (function == nullptr) throw std::runtime_error(fmt::format("libcupti.so has no {}", name));
    };
    Cupti loaded{};
    find(loaded.register_callbacks, "cuptiActivityRegisterCallbacks");
    find(loaded.enable, "cuptiActivityEnable");
    find(loaded.disable, "cuptiActivityDisable");
    find(loaded.flush, "cuptiActivityFlushAll");
    find(loaded.next_record, "cuptiActivityGetNextRecord");
    find(loaded.dropped, "cuptiActivityGetNumDroppedRecords");
    find(loaded.timestamp, "cuptiGetTimestamp");
    return loaded;
  }();
  return functions;
}

void check(CUptiResult result, const char* doing) {
  if (result == CUPTI_SUCCESS) return;
  throw std::runtime_error(
      fmt::format("CUPTI would not {} (its error {}): is another profiler attached, or the "
                  "permission missing?",
                  doing, static_cast<int>(result)));
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  *bytes = std::size_t{1} << 20;
  *buffer = static_cast<std::uint8_t*>(std::malloc(*bytes));
  *most_records = 0;  // as many as fit
}

void CUPTIAPI throw_away(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t) {
  std::free(buffer);
}

constexpr CUpti_ActivityKind kOfEngines[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY};
constexpr CUpti_ActivityKind kOfDevices[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                             CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET};

/// CUPTI's callbacks have no place for a pointer of ours; they come from its own thread.
struct Collected {
  std::mutex mutex;
  bool on_devices = false;  ///< whether `of_devices` is filled, else `activities`
  std::vector<Activity> activities;
  std::vector<DeviceActivity> of_devices;
  std::size_t dropped = 0;
};
Collected& collected() {
  static Collected all;
  return all;
}

/// The records of newer versions begin with these: fields were only added behind.
void keep(const CUpti_Activity& record) {
  const auto add = [](const auto& activity, Engine engine, std::uint64_t bytes, std::int64_t blocks) {
    collected().activities.push_back({.engine = engine,
                                      .start = static_cast<std::int64_t>(activity.start),
                                      .end = static_cast<std::int64_t>(activity.end),
                                      .bytes = bytes,
                                      .correlation = activity.correlationId,
                                      .graph_node = activity.graphNodeId,
                                      .channel = activity.channelID,
                                      .blocks = blocks});
  };
  if (record.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
    const auto& kernel = reinterpret_cast<const CUpti_ActivityKernel9&>(record);
    add(kernel, Engine::compute, 0, std::int64_t{kernel.gridX} * kernel.gridY * kernel.gridZ);
  } else if (record.kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
    const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy5&>(record);
    if (copy.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD) add(copy, Engine::copy_in, copy.bytes, 0);
    if (copy.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH) add(copy, Engine::copy_out, copy.bytes, 0);
  }
}

void keep_on_device(const CUpti_Activity& record) {
  const auto add = [](const auto& activity, DeviceActivity::Kind kind, std::string name, std::uint64_t bytes) {
    collected().of_devices.push_back({.kind = kind,
                                      .device = static_cast<int>(activity.deviceId),
                                      .name = std::move(name),
                                      .start = static_cast<std::int64_t>(activity.start),
                                      .end = static_cast<std::int64_t>(activity.end),
                                      .bytes = bytes});
  };
  using Kind = DeviceActivity::Kind;
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto& kernel = reinterpret_cast<const CUpti_ActivityKernel9&>(record);
      return add(kernel, Kind::kernel, short_name(kernel.name != nullptr ? kernel.name : "kernel"), 0);
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy5&>(record);
      return add(copy, Kind::copy, {}, copy.bytes);
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2: {  // from device to device of two
      const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpyPtoP4&>(record);
      return add(copy, Kind::copy, {}, copy.bytes);
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto& memset = reinterpret_cast<const CUpti_ActivityMemset4&>(record);
      return add(memset, Kind::memset, {}, memset.bytes);
    }
    default:
      return;
  }
}

void CUPTIAPI keep_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                          std::size_t valid_bytes) {
  const std::lock_guard lock(collected().mutex);
  CUpti_Activity* record = nullptr;
  while (cupti().next_record(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
    collected().on_devices ? keep_on_device(*record) : keep(*record);
  }
  std::size_t dropped = 0;
  if (cupti().dropped(context, stream, &dropped) == CUPTI_SUCCESS) collected().dropped += dropped;
  std::free(buffer);
}

void start(bool on_devices, std::span<const CUpti_ActivityKind> kinds) {
  {
    const std::lock_guard lock(collected().mutex);
    collected().on_devices = on_devices;
    collected().activities.clear();
    collected().of_devices.clear();
    collected().dropped = 0;
  }
  for (const CUpti_ActivityKind kind : kinds) check(cupti().enable(kind), "collect");
}

void stop(std::span<const CUpti_ActivityKind> kinds) {
  check(cupti().flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "hand over its records");
  for (const CUpti_ActivityKind kind : kinds) check(cupti().disable(kind), "stop collecting");
  const std::lock_guard lock(collected().mutex);
  if (collected().dropped > 0) {
    throw std::runtime_error(fmt::format("CUPTI lost {} records: take fewer {}", collected().dropped,
                                         collected().on_devices ? "cases or runs" : "chunks"));
  }
}

}  // namespace

std::string collect_kernels(Collection collection) {
  try {
    check(cupti().register_callbacks(give_buffer, throw_away), "hand over its records");
    check(cupti().enable(collection == Collection::concurrent ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
                                                              : CUPTI_ACTIVITY_KIND_KERNEL),
          "collect kernels");
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

ActivityCollector::ActivityCollector() {
  check(cupti().register_callbacks(give_buffer, keep_buffer), "hand over its records");
}

void ActivityCollector::begin() { start(/*on_devices=*/false, kOfEngines); }

std::vector<Activity> ActivityCollector::end() {
  stop(kOfEngines);
  const std::lock_guard lock(collected().mutex);
  return std::exchange(collected().activities, {});
}

void ActivityCollector::begin_on_devices() { start(/*on_devices=*/true, kOfDevices); }

std::vector<DeviceActivity> ActivityCollector::end_on_devices() {
  stop(kOfDevices);
  const std::lock_guard lock(collected().mutex);
  return std::exchange(collected().of_devices, {});
}

std::int64_t ActivityCollector::now() const {
  std::uint64_t time = 0;
  check(cupti().timestamp(&time), "say the time");
  return static_cast<std::int64_t>(time);
}

#else

namespace {
constexpr char kWithout[] = "this build was made without CUPTI's headers: they are part of the CUDA toolkit";
}

std::string collect_kernels(Collection) { return kWithout; }
ActivityCollector::ActivityCollector() { throw std::runtime_error(kWithout); }
void ActivityCollector::begin() {}
std::vector<Activity> ActivityCollector::end() { return {}; }
void ActivityCollector::begin_on_devices() {}
std::vector<DeviceActivity> ActivityCollector::end_on_devices() { return {}; }
std::int64_t ActivityCollector::now() const { return 0; }

#endif

// ------------------------------------------------------------------------------------------------ operations

namespace {

std::vector<Span> in_this_order(const Recording& recording, const std::vector<Activity>& activities,
                                std::int64_t zero) {
  std::map<Engine, std::vector<const Activity*>> of_engine;
  for (const Activity& activity : activities) of_engine[activity.engine].push_back(&activity);
  std::map<Engine, std::size_t> operations;
  for (const Operation& operation : recording.operations) {
    if (is_work(operation)) ++operations[engine_of(operation)];
  }
  for (const Engine engine : kEngines) {
    const std::size_t wanted = operations[engine];
    const std::size_t recorded = of_engine[engine].size();
    const bool fits =
        engine == Engine::compute && wanted > 0 ? recorded >= wanted && recorded % wanted == 0 : recorded == wanted;
    if (!fits) {
      throw std::runtime_error(
          fmt::format("CUPTI recorded {} {} for {} that were issued", recorded, name(engine), wanted));
    }
  }
  const std::size_t bytes_per_item = recording.job.workload->about.item_bytes();
  std::map<Engine, std::size_t> next;
  std::vector<Span> spans;
  for (std::size_t i = 0; i < recording.operations.size(); ++i) {
    const Operation& operation = recording.operations[i];
    if (!is_work(operation)) continue;
    const Engine engine = engine_of(operation);
    const std::size_t launches = of_engine[engine].size() / operations[engine];
    const Activity* const first = of_engine[engine][next[engine]];
    if (engine != Engine::compute &&
        first->bytes != static_cast<std::uint64_t>(operation.chunk.items) * bytes_per_item) {
      throw std::runtime_error(
          fmt::format("CUPTI recorded a copy of {} bytes where {} was expected", first->bytes, describe(operation)));
    }
    Span span{.operation = i, .when = {}, .channel = first->channel, .blocks = first->blocks};
    std::int64_t start = first->start;
    std::int64_t end = first->end;
    for (std::size_t launch = 1; launch < launches; ++launch) {
      start = std::min(start, of_engine[engine][next[engine] + launch]->start);
      end = std::max(end, of_engine[engine][next[engine] + launch]->end);
      span.blocks = std::max(span.blocks, of_engine[engine][next[engine] + launch]->blocks);
    }
    next[engine] += launches;
    span.when = {1e-9 * static_cast<double>(start - zero), 1e-9 * static_cast<double>(end - zero)};
    spans.push_back(span);
  }
  return spans;
}

/// Whether an operation began clearly before one that it depends on had ended.
bool contradicts(const Recording& recording, const std::vector<Span>& spans) {
  constexpr double kClearly = 2e-6;
  std::vector<double> end(recording.operations.size());
  for (const Span& span : spans) end[span.operation] = span.when.end;
  const auto all = ordering(recording).device;
  return std::ranges::any_of(spans, [&](const Span& span) {
    return std::ranges::any_of(all[span.operation], [&](const Dependency& dependency) {
      return span.when.start < end[dependency.operation] - kClearly;
    });
  });
}

}  // namespace

std::vector<Span> spans_of(const Recording& recording, std::vector<Activity> activities, std::int64_t zero) {
  const auto call = [](const Activity& activity) { return std::tuple(activity.correlation, activity.graph_node); };
  std::ranges::sort(activities, {},
                    [&](const Activity& activity) { return std::pair(call(activity), activity.start); });
  // A copy of pageable memory goes in pieces: one call.
  std::vector<Activity> calls;
  for (const Activity& activity : activities) {
    if (calls.empty() || call(calls.back()) != call(activity)) {
      calls.push_back(activity);
    } else {
      calls.back().end = std::max(calls.back().end, activity.end);
      calls.back().bytes += activity.bytes;
    }
  }
  activities = std::move(calls);
  std::vector<Span> spans = in_this_order(recording, activities, zero);
  if (!recording.captured || !contradicts(recording, spans)) return spans;
  std::ranges::sort(activities, {}, &Activity::start);
  spans = in_this_order(recording, activities, zero);
  if (contradicts(recording, spans)) {
    throw std::runtime_error("the nodes of the graph cannot be told apart in what CUPTI recorded");
  }
  return spans;
}

}  // namespace scanlab::streams
