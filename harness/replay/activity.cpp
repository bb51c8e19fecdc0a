#include "harness/replay/activity.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string_view>
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

/// A function of CUPTI by its name, so that the program needs no CUPTI to start.
template <class Function>
Function* named(const char* name) {
  static void* const library = open_cupti();
  if (library == nullptr) {
    throw std::runtime_error("the profiling library libcupti.so is not here: it is part of the CUDA toolkit");
  }
  void* const function = dlsym(library, name);
  if (function == nullptr) throw std::runtime_error(fmt::format("libcupti.so has no {}", name));
  return reinterpret_cast<Function*>(function);
}
#define SCANLAB_CUPTI(function) named<decltype(function)>(#function)

void check(CUptiResult result, const char* doing) {
  if (result == CUPTI_SUCCESS) return;
  throw std::runtime_error(
      fmt::format("CUPTI would not {} (its error {}): is another profiler attached, or the permission missing?", doing,
                  static_cast<int>(result)));
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  *bytes = std::size_t{1} << 20;
  *buffer = static_cast<std::uint8_t*>(std::malloc(*bytes));
  *most_records = 0;  // as many as fit
}

void CUPTIAPI throw_away(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t) {
  std::free(buffer);
}

/// The last two are of no schedule.
constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET};
std::span<const CUpti_ActivityKind> kinds(bool of_schedules) {
  return std::span(kKinds).first(of_schedules ? 2 : std::size(kKinds));
}

/// CUPTI's callbacks have no place for a pointer of ours; they come from its own thread.
struct Collected {
  std::mutex mutex;
  std::vector<Activity> activities;
  std::size_t dropped = 0;
  bool of_schedules = false;
};
Collected& collected() {
  static Collected all;
  return all;
}

/// The records of newer versions begin with these: fields were only added behind.
void keep(const CUpti_Activity& record) {
  using Kind = Activity::Kind;
  const auto add = [](const auto& activity, Kind kind) -> Activity& {
    Activity& added = collected().activities.emplace_back();
    added.kind = kind;
    added.device = static_cast<int>(activity.deviceId);
    added.start = static_cast<std::int64_t>(activity.start);
    added.end = static_cast<std::int64_t>(activity.end);
    added.correlation = activity.correlationId;
    if constexpr (requires { activity.bytes; }) added.bytes = activity.bytes;
    if constexpr (requires { activity.channelID; }) {
      added.graph_node = activity.graphNodeId;
      added.channel = activity.channelID;
    }
    return added;
  };
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto& kernel = reinterpret_cast<const CUpti_ActivityKernel9&>(record);
      Activity& added = add(kernel, Kind::kernel);
      if (!collected().of_schedules) added.name = short_name(kernel.name != nullptr ? kernel.name : "kernel");
      added.blocks = std::int64_t{kernel.gridX} * kernel.gridY * kernel.gridZ;
      return;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy5&>(record);
      add(copy, copy.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD   ? Kind::copy_in
                : copy.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH ? Kind::copy_out
                                                                   : Kind::copy);
      return;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      add(reinterpret_cast<const CUpti_ActivityMemcpyPtoP4&>(record), Kind::copy);
      return;
    case CUPTI_ACTIVITY_KIND_MEMSET:
      add(reinterpret_cast<const CUpti_ActivityMemset4&>(record), Kind::memset);
      return;
    default:
      return;
  }
}

void CUPTIAPI keep_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                          std::size_t valid_bytes) {
  const std::lock_guard lock(collected().mutex);
  CUpti_Activity* record = nullptr;
  while (SCANLAB_CUPTI(cuptiActivityGetNextRecord)(buffer, valid_bytes, &record) == CUPTI_SUCCESS) keep(*record);
  std::size_t dropped = 0;
  if (SCANLAB_CUPTI(cuptiActivityGetNumDroppedRecords)(context, stream, &dropped) == CUPTI_SUCCESS)
    collected().dropped += dropped;
  std::free(buffer);
}

}  // namespace

std::string collect_kernels(Collection collection) {
  try {
    check(SCANLAB_CUPTI(cuptiActivityRegisterCallbacks)(give_buffer, throw_away), "hand over its records");
    check(
        SCANLAB_CUPTI(cuptiActivityEnable)(collection == Collection::concurrent ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
                                                                                : CUPTI_ACTIVITY_KIND_KERNEL),
        "collect kernels");
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

ActivityCollector::ActivityCollector(bool of_schedules) : of_schedules_(of_schedules) {
  check(SCANLAB_CUPTI(cuptiActivityRegisterCallbacks)(give_buffer, keep_buffer), "hand over its records");
}

void ActivityCollector::begin() {
  {
    const std::lock_guard lock(collected().mutex);
    collected().activities.clear();
    collected().dropped = 0;
    collected().of_schedules = of_schedules_;
  }
  for (const CUpti_ActivityKind kind : kinds(of_schedules_)) check(SCANLAB_CUPTI(cuptiActivityEnable)(kind), "collect");
}

std::vector<Activity> ActivityCollector::end() {
  check(SCANLAB_CUPTI(cuptiActivityFlushAll)(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "hand over its records");
  for (const CUpti_ActivityKind kind : kinds(of_schedules_))
    check(SCANLAB_CUPTI(cuptiActivityDisable)(kind), "stop collecting");
  const std::lock_guard lock(collected().mutex);
  if (collected().dropped > 0) {
    throw std::runtime_error(fmt::format("CUPTI lost {} records: take fewer {}", collected().dropped,
                                         of_schedules_ ? "chunks" : "cases or runs"));
  }
  return std::exchange(collected().activities, {});
}

std::int64_t ActivityCollector::now() const {
  std::uint64_t time = 0;
  check(SCANLAB_CUPTI(cuptiGetTimestamp)(&time), "say the time");
  return static_cast<std::int64_t>(time);
}

#else

namespace {
constexpr char kWithout[] = "this build was made without CUPTI's headers: they are part of the CUDA toolkit";
}

std::string collect_kernels(Collection) { return kWithout; }
ActivityCollector::ActivityCollector(bool of_schedules) : of_schedules_(of_schedules) {
  throw std::runtime_error(kWithout);
}
void ActivityCollector::begin() {}
std::vector<Activity> ActivityCollector::end() { return {}; }
std::int64_t ActivityCollector::now() const { return 0; }

#endif

// ------------------------------------------------------------------------------------------------ operations

namespace {

Engine engine_of(const Activity& activity) {
  return activity.kind == Activity::Kind::kernel    ? Engine::compute
         : activity.kind == Activity::Kind::copy_in ? Engine::copy_in
                                                    : Engine::copy_out;
}

std::vector<Span> in_this_order(const Recording& recording, const std::vector<Activity>& activities,
                                std::int64_t zero) {
  std::map<Engine, std::vector<const Activity*>> recorded;
  for (const Activity& activity : activities) recorded[engine_of(activity)].push_back(&activity);
  std::map<Engine, std::size_t> operations;
  for (const Operation& operation : recording.operations) {
    if (is_work(operation)) ++operations[engine_of(operation)];
  }
  for (const Engine engine : kEngines) {
    const std::size_t issued = operations[engine];
    const std::size_t count = recorded[engine].size();
    // A kernel may be several launches.
    const bool fits =
        engine == Engine::compute && issued > 0 ? count >= issued && count % issued == 0 : count == issued;
    if (!fits) {
      throw std::runtime_error(
          fmt::format("CUPTI recorded {} {} for {} that were issued", count, name(engine), issued));
    }
  }
  const std::size_t bytes_per_item = recording.job.workload->about.item_bytes();
  std::map<Engine, std::size_t> next;
  std::vector<Span> spans;
  for (std::size_t i = 0; i < recording.operations.size(); ++i) {
    const Operation& operation = recording.operations[i];
    if (!is_work(operation)) continue;
    const Engine engine = engine_of(operation);
    const std::size_t launches = recorded[engine].size() / operations[engine];
    const auto own =
        std::span(recorded[engine]).subspan(std::exchange(next[engine], next[engine] + launches), launches);
    const Activity& first = *own.front();
    if (engine != Engine::compute &&
        first.bytes != static_cast<std::uint64_t>(operation.chunk.items) * bytes_per_item) {
      throw std::runtime_error(
          fmt::format("CUPTI recorded a copy of {} bytes where {} was expected", first.bytes, describe(operation)));
    }
    const auto seconds = [&](std::int64_t time) { return 1e-9 * static_cast<double>(time - zero); };
    spans.push_back({.operation = i,
                     .when = {seconds((*std::ranges::min_element(own, {}, &Activity::start))->start),
                              seconds((*std::ranges::max_element(own, {}, &Activity::end))->end)},
                     .channel = first.channel,
                     .blocks = (*std::ranges::max_element(own, {}, &Activity::blocks))->blocks});
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
  const auto call = [](const Activity& activity) { return std::pair(activity.correlation, activity.graph_node); };
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
