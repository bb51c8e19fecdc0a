// Many kernels, each launched for the first time in the timed part: CUDA loads a kernel when it is first used.
#include <algorithm>
#include <array>
#include <utility>

#include "symptom.cuh"

namespace {

constexpr int kRepetitions = 5;  // each with kernels of its own: a kernel is loaded once
constexpr int kKernels = 40;     // of a repetition

__host__ __device__ Item stepped(Item item, int kernel) {
  for (int i = 0; i < 128; ++i) item = item * 1664525U + static_cast<Item>(kernel + i);
  return item;
}

template <int kernel>
__global__ void step(Item* item) {
  *item = stepped(*item, kernel);
}

using Kernel = void (*)(Item*);
template <int... kernel>
std::array<Kernel, sizeof...(kernel)> kernels_of(std::integer_sequence<int, kernel...>) {
  return {step<kernel>...};
}

void run(Run& run) {
  const auto kernels = kernels_of(std::make_integer_sequence<int, kRepetitions * kKernels>());
  const int each = std::min(run.size(10, kKernels), kKernels);
  run.repetitions = std::min(run.repetitions, kRepetitions);
  Item* const item = device_items(1);
  const cudaStream_t stream = new_stream();
  if (!run.slow) {
    cudaFuncAttributes unused;
    for (const Kernel kernel : kernels) check(cudaFuncGetAttributes(&unused, kernel));  // loads it
  }

  run.time_first_use([&] {
    for (int i = 0; i < each; ++i) kernels[run.runs() * kKernels + i]<<<1, 1, 0, stream>>>(item);
  });

  Item expected = 0;
  for (int i = 0; i < run.runs() * each; ++i) expected = stepped(expected, i / each * kKernels + i % each);
  run.verify(item, 1, expected);
}

const Registered kSymptom{"lazy_loading",
                          {.symptom = "a loop is slow the first time, and never again",
                           .cause = "kernels loaded at their first launch",
                           .cure = "`cudaFuncGetAttributes` or a launch before, or `CUDA_MODULE_LOADING=EAGER`",
                           .run = run}};

}  // namespace
