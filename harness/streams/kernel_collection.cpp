#include "harness/streams/kernel_collection.hpp"

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace scanlab::streams {

namespace {

// From cupti_activity.h and its relatives; the library keeps these numbers and signatures stable.
constexpr int kSuccess = 0;
constexpr int kActivityKindKernel = 3;
constexpr int kActivityKindConcurrentKernel = 10;

using BufferRequested = void (*)(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records);
using BufferCompleted = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes,
                                 std::size_t valid_bytes);

void give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  *bytes = std::size_t{1} << 20;
  *buffer = static_cast<std::uint8_t*>(std::malloc(*bytes));
  *most_records = 0;  // as many as fit
}

void throw_away(void*, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t) { std::free(buffer); }

void* open_cupti() {
  for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so", "/usr/local/cuda/lib64/libcupti.so",
                           "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"}) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

}  // namespace

std::string collect_kernels(Collection collection) {
  void* const library = open_cupti();
  if (library == nullptr) return "the profiling library libcupti.so is not here";
  const auto register_callbacks =
      reinterpret_cast<int (*)(BufferRequested, BufferCompleted)>(dlsym(library, "cuptiActivityRegisterCallbacks"));
  const auto enable = reinterpret_cast<int (*)(int)>(dlsym(library, "cuptiActivityEnable"));
  const int kind = collection == Collection::concurrent ? kActivityKindConcurrentKernel : kActivityKindKernel;
  if (register_callbacks == nullptr || enable == nullptr || register_callbacks(give_buffer, throw_away) != kSuccess ||
      enable(kind) != kSuccess) {
    return "CUPTI would not collect kernels: is another profiler attached, or the permission missing?";
  }
  return {};
}

}  // namespace scanlab::streams
