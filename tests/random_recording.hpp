// Recordings that no schedule would make: operations in random streams, with random events and waits of the host.
#pragma once

#include <random>
#include <vector>

#include "harness/schedule/issuer.hpp"

namespace scanlab::streams {

/// Side kernels, and with `copies` the job's chunks too, copied and computed without regard to each other; any wait may
/// be for nothing.
inline Recording random_recording(std::mt19937& random, const Job& job, int operations, bool copies) {
  Recording recording{.job = job};
  Issuer issuer(recording);
  std::vector<Stream> streams = issuer.create_streams(2);
  streams.push_back(issuer.create_stream(StreamKind::non_blocking));
  streams.push_back(issuer.create_stream(StreamKind::non_blocking));
  streams.push_back(kPerThreadDefault);
  streams.push_back(kLegacyDefault);
  const std::vector<Event> events{issuer.create_event(), issuer.create_event()};
  const std::vector<Chunk> chunks = issuer.chunks();
  recording.buffer_items = chunks.front().items;
  for (int i = 0; i < operations; ++i) {
    // The legacy default stream rarely, and the host rarely: they order nearly everything.
    const Stream stream = streams[random() % (random() % 4 == 0 ? 6 : 5)];
    const Event event = events[random() % 2];
    const Chunk& chunk = chunks[random() % chunks.size()];
    const auto draw = random() % (copies ? 48 : 24);
    if (draw == 0) {
      random() % 4 == 0 ? issuer.synchronize_device() : issuer.synchronize(stream);
    } else if (draw == 1) {
      issuer.synchronize(event);
    } else if (draw == 2) {
      issuer.host_work(1);
    } else if (draw < 7) {
      issuer.record(event, stream);
    } else if (draw < 11) {
      issuer.wait(stream, event);
    } else if (draw < 24 || draw >= 43) {
      issuer.side_kernel(stream);
    } else if (draw == 24) {
      random() % 2 == 0 ? issuer.copy_in_now(chunk) : issuer.copy_out_now(chunk);
    } else if (draw < 32) {
      issuer.copy_in(chunk, stream);
    } else if (draw < 39) {
      issuer.copy_out(chunk, stream);
    } else {
      issuer.compute(chunk, stream);
    }
  }
  return recording;
}

/// The recording with all that the device works at writing one word, so that any two that nothing orders are a hazard.
inline Recording conflicting(Recording recording) {
  for (Operation& operation : recording.operations) {
    if (is_work(operation)) operation.accesses = {{.place = Place::carry, .items = 1, .writes = true}};
  }
  return recording;
}

}  // namespace scanlab::streams
