// Copies to the device and back, at once or one way after the other. The time is that of the copies to the device.
#include <algorithm>

#include "symptom.cuh"

namespace {

void run(Run& run) {
  const std::size_t n = std::size_t(run.size(32, 128)) << 18;  // items each way, of as many MiB
  const std::size_t chunk = n >> run.number(5, 6);
  Item* const in = pinned_items(n);
  Item* const out = pinned_items(n);
  Item* const arrived = device_items(n);
  Item* const leaving = device_items(n);
  std::fill_n(in, n, Item{3});
  advance<<<1024, 256>>>(leaving, n, 1);
  check(cudaDeviceSynchronize());
  const cudaStream_t copying_in = new_stream();
  const cudaStream_t copying_out = new_stream();
  const cudaEvent_t begin = new_event(cudaEventDefault);
  const cudaEvent_t end = new_event(cudaEventDefault);
  const auto milliseconds_of_copies_in = [&] {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end));
    return double{milliseconds};
  };

  run.measure(milliseconds_of_copies_in, static_cast<double>(n * sizeof(Item)));
  run.time([&] {
    const std::size_t bytes = chunk * sizeof(Item);
    check(cudaEventRecord(begin, copying_in));
    for (std::size_t i = 0; i < n; i += chunk) {
      check(cudaMemcpyAsync(arrived + i, in + i, bytes, cudaMemcpyHostToDevice, copying_in));
      if (run.slow && i == chunk) wait_for(copying_in, copying_out);  // two come alone: how long they take then
    }
    check(cudaEventRecord(end, copying_in));
    if (!run.slow) wait_for(copying_in, copying_out);
    for (std::size_t i = 0; i < n; i += chunk)
      check(cudaMemcpyAsync(out + i, leaving + i, bytes, cudaMemcpyDeviceToHost, copying_out));
  });

  run.verify(arrived, n, 3);
  run.verify(out, n, advanced(0, 1));
}

const Registered kSymptom{"duplex_copies",
                          {.symptom = "copies to the device slow down while others come back",
                           .cause = "copies both ways share the link",
                           .cure = "none: both ways at once take less time in all, and each way is slower than alone",
                           .run = run}};

}  // namespace
