// Side work in the legacy default stream, as a framework may issue it, between kernels of several streams.
#include "symptom.cuh"

namespace {

void run(Run& run) {
  const int streams = run.number(3, 8);
  const int rounds = run.number(3, 10);
  const int steps = run.size(10000, 60000);
  const bool copies = run.choice(2) == 1;  // the side work is a copy, or a kernel
  constexpr std::size_t kItems = 4096;     // 16 blocks: the streams' kernels have room beside each other
  Item* const side = device_items(1);
  Item* const seen = pinned_items(1);
  std::vector<cudaStream_t> stream(streams);
  std::vector<Item*> items(streams);
  for (int i = 0; i < streams; ++i) {
    stream[i] = new_stream(run.slow ? cudaStreamDefault : cudaStreamNonBlocking);
    items[i] = device_items(kItems);
  }

  run.time([&] {
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < streams; ++i) {
        advance<<<16, 256, 0, stream[i]>>>(items[i], kItems, steps);
        if (copies) {
          check(cudaMemcpyAsync(seen, side, sizeof(Item), cudaMemcpyDeviceToHost, cudaStreamLegacy));
        } else {
          advance<<<1, 1, 0, cudaStreamLegacy>>>(side, 1, 1);
        }
      }
    }
  });

  for (const Item* each : items) run.verify(each, kItems, advanced(0, run.runs() * rounds * steps));
  run.verify(side, 1, copies ? 0 : advanced(0, run.runs() * rounds * streams));
}

const Registered kSymptom{"default_stream",
                          {.symptom = "kernels of several streams run one after another",
                           .cause = "the legacy default stream",
                           .cure = "`cudaStreamNonBlocking`, or a per-thread default stream",
                           .run = run}};

}  // namespace
