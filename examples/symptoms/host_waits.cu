// A look at the progress after every step, which the next step waits for: copies and kernels no longer overlap.
#include <cstdlib>

#include "symptom.cuh"

namespace {

void CUDART_CB see_progress(void*) {}

enum Look { synchronize_stream, synchronize_event, call_back, launch_blocking };

void run(Run& run) {
  const auto look = static_cast<Look>(run.choice(4));
  if (run.slow && look == launch_blocking) setenv("CUDA_LAUNCH_BLOCKING", "1", 1);  // before CUDA starts
  const int streams = run.number(2, 4);
  const int chunks = run.number(16, 64);
  const std::size_t n = std::size_t(run.size(64, 256)) << 10;  // items of a chunk
  const std::size_t bytes = n * sizeof(Item);
  const int steps = run.number(200, 800);
  Item* const in = pinned_items(n);
  Item* const out = pinned_items(n * chunks);
  std::vector<cudaStream_t> stream(streams);
  std::vector<Item*> items(streams);
  for (int i = 0; i < streams; ++i) {
    stream[i] = new_stream();
    items[i] = device_items(n);
  }
  std::vector<cudaEvent_t> done(3 * chunks);
  for (cudaEvent_t& event : done) event = new_event(cudaEventDefault);

  run.time([&] {
    auto event = done.begin();
    const auto step_is_issued = [&](cudaStream_t at) {
      check(cudaEventRecord(*event, at));
      if (run.slow && look == synchronize_stream) check(cudaStreamSynchronize(at));
      if (run.slow && look == synchronize_event) check(cudaEventSynchronize(*event));
      if (run.slow && look == call_back) check(cudaLaunchHostFunc(at, see_progress, nullptr));
      ++event;
    };
    for (int i = 0; i < chunks; ++i) {
      const cudaStream_t at = stream[i % streams];
      Item* const chunk = items[i % streams];
      check(cudaMemcpyAsync(chunk, in, bytes, cudaMemcpyHostToDevice, at));
      step_is_issued(at);
      advance<<<32, 256, 0, at>>>(chunk, n, steps);
      step_is_issued(at);
      check(cudaMemcpyAsync(out + i * n, chunk, bytes, cudaMemcpyDeviceToHost, at));
      step_is_issued(at);
    }
    float milliseconds = 0;  // the cure: events are read when all is done
    check(cudaDeviceSynchronize());
    for (const cudaEvent_t each : done) check(cudaEventElapsedTime(&milliseconds, done.front(), each));
  });

  run.verify(out, n * chunks, advanced(0, steps));
}

const Registered kSymptom{
    "host_waits",
    {.symptom = "streams do not overlap, though nothing orders them",
     .cause = "the host issues late, launches block the host, or functions of the host in streams",
     .cure = "events that are recorded in the streams, and read when all is done",
     .run = run}};

}  // namespace
