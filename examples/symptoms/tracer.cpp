// libscanlab_trace.so: records what a program does with CUDA, where there is no Nsight Systems. CUDA loads it into any
// program that runs with CUDA_INJECTION64_PATH=/path/to/libscanlab_trace.so. When the program ends, the file that
// SCANLAB_TRACE names (scanlab_trace.sqlite) has the tables of `nsys export --type sqlite`.
#include <cupti.h>
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "trace_database.hpp"

namespace {

/// CUPTI's functions, opened by hand: a program whose tracer cannot be loaded hears nothing from CUDA.
struct Cupti {
  static void* open() {
    for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so", "/usr/local/cuda/lib64/libcupti.so",
                             "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"}) {
      if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
    }
    throw std::runtime_error("the profiling library libcupti.so is not here: add its folder to LD_LIBRARY_PATH");
  }
  void* library = open();
  template <class Function>
  Function* named(const char* name) const {
    void* const function = dlsym(library, name);
    if (function == nullptr) throw std::runtime_error(std::string("libcupti.so has no ") + name);
    return reinterpret_cast<Function*>(function);
  }
#define SCANLAB_CUPTI(function) decltype(::function)* function = named<decltype(::function)>(#function)
  SCANLAB_CUPTI(cuptiActivityEnable);
  SCANLAB_CUPTI(cuptiActivityFlushAll);
  SCANLAB_CUPTI(cuptiActivityGetNextRecord);
  SCANLAB_CUPTI(cuptiActivityGetNumDroppedRecords);
  SCANLAB_CUPTI(cuptiActivityRegisterCallbacks);
  SCANLAB_CUPTI(cuptiGetCallbackName);
  SCANLAB_CUPTI(cuptiGetResultString);
  SCANLAB_CUPTI(cuptiGetTimestamp);
  SCANLAB_CUPTI(cuptiSetThreadIdType);
#undef SCANLAB_CUPTI

  void check(CUptiResult result, const char* doing) const {
    if (result == CUPTI_SUCCESS) return;
    const char* reason = "unknown error";
    cuptiGetResultString(result, &reason);
    throw std::runtime_error(std::string("CUPTI does not ") + doing + " (" + reason +
                             "): is another profiler attached, or the permission missing?");
  }
};

struct Buffer {
  std::uint8_t* bytes;
  std::size_t filled;
};

/// Lives until the process is gone: CUPTI's threads may still hand over buffers when static objects are destroyed.
struct Tracer {
  Cupti cupti;
  std::uint64_t zero = 0;
  std::mutex mutex;
  std::vector<Buffer> buffers;
  std::size_t lost = 0;
};
Tracer* tracer = nullptr;

void complain(const std::exception& error) { std::fprintf(stderr, "scanlab_trace: %s\n", error.what()); }

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  *bytes = std::size_t{4} << 20;
  *buffer = static_cast<std::uint8_t*>(std::malloc(*bytes));
  *most_records = 0;  // as many as fit
}

void CUPTIAPI keep_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                          std::size_t filled) {
  const std::lock_guard lock(tracer->mutex);
  tracer->buffers.push_back({buffer, filled});
  std::size_t lost = 0;
  if (tracer->cupti.cuptiActivityGetNumDroppedRecords(context, stream, &lost) == CUPTI_SUCCESS) tracer->lost += lost;
}

void write_trace() try {
  const Cupti& cupti = tracer->cupti;
  cupti.check(cupti.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "hand over its records");
  const std::lock_guard lock(tracer->mutex);
  std::vector<const CUpti_Activity*> records;
  for (const Buffer& buffer : tracer->buffers) {
    CUpti_Activity* record = nullptr;
    while (cupti.cuptiActivityGetNextRecord(buffer.bytes, buffer.filled, &record) == CUPTI_SUCCESS)
      records.push_back(record);
  }
  const char* const named = std::getenv("SCANLAB_TRACE");
  const std::string file = named == nullptr ? "scanlab_trace.sqlite" : named;
  try {
    scanlab::trace::TraceDatabase(file, tracer->zero, cupti.cuptiGetCallbackName).write(records);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(file + " cannot be written: " + error.what());
  }
  if (tracer->lost > 0) std::fprintf(stderr, "scanlab_trace: CUPTI lost %zu records\n", tracer->lost);
} catch (const std::exception& error) {
  complain(error);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() try {
  tracer = new Tracer;
  const Cupti& cupti = tracer->cupti;
  cupti.check(cupti.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM), "number threads");
  cupti.check(cupti.cuptiActivityRegisterCallbacks(give_buffer, keep_buffer), "hand over its records");
  for (const CUpti_ActivityKind kind :
       {CUPTI_ACTIVITY_KIND_DEVICE, CUPTI_ACTIVITY_KIND_CONTEXT, CUPTI_ACTIVITY_KIND_STREAM,
        CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
        CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER,
        CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_CUDA_EVENT, CUPTI_ACTIVITY_KIND_OVERHEAD}) {
    cupti.check(cupti.cuptiActivityEnable(kind), "collect records");
  }
  cupti.check(cupti.cuptiGetTimestamp(&tracer->zero), "say the time");
  std::atexit(write_trace);
  return 1;
} catch (const std::exception& error) {
  complain(error);
  return 1;  // the program runs on
}
