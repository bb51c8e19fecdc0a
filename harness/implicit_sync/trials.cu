// Statements that are not about one call while a kernel spins: each with a trial of its own. And how one is run.
#include <optional>
#include <utility>

#include "harness/cuda/error.hpp"
#include "harness/implicit_sync/findings.hpp"
#include "harness/implicit_sync/test_bed.hpp"
#include "harness/replay/activity.hpp"

namespace scanlab::implicit_sync {

namespace {

using Action = std::function<void(TestBed&)>;
using TrialOf = std::function<Trial(TestBed&)>;

void done(cudaError_t error) { cuda::check(error, "an experiment's call"); }

Trial launch(TestBed& bed) {
  std::optional<Spin> spin;
  const double seconds = host_seconds([&] { spin = bed.spin(bed.a()); });
  return Trial{spin->ended(), seconds};
}

Trial stream_order(TestBed& bed) {
  const Spin first = bed.spin(bed.a());
  const Spin second = bed.spin(bed.a(), TestBed::kShort);
  bed.finish();
  return Trial{second.start() >= first.end(), seconds_from(first.end(), second.start())};
}

/// Whether a kernel of stream b waits for the end of one in stream a, behind which something else waits.
TrialOf delayed(const Action& behind, const Action& in_b) {
  return [=](TestBed& bed) {
    const Spin first = bed.spin(bed.a());
    first.wait_until_started();
    behind(bed);
    in_b(bed);
    const Spin second = bed.spin(bed.b(), TestBed::kShort);
    bed.finish();
    return Trial{second.start() >= first.end(), seconds_from(first.start(), second.start())};
  };
}

void nothing(TestBed&) {}
void kernel_behind(TestBed& bed) { bed.spin(bed.a(), TestBed::kShort); }
void copy_in_behind(TestBed& bed) {
  done(cudaMemcpyAsync(bed.device(), bed.pinned(), TestBed::kLarge, cudaMemcpyHostToDevice, bed.a()));
}
void copy_out_behind(TestBed& bed) {
  done(cudaMemcpyAsync(bed.pinned(), bed.device(), TestBed::kLarge, cudaMemcpyDeviceToHost, bed.a()));
}
void copy_in_b(TestBed& bed) {
  done(cudaMemcpyAsync(bed.other_device(), bed.pinned(), TestBed::kLarge, cudaMemcpyHostToDevice, bed.b()));
}

/// The stream is what is studied: it is destroyed while its kernel spins.
std::pair<Spin, Trial> destroy(TestBed& bed) {
  cudaStream_t stream{};
  done(cudaStreamCreate(&stream));
  const Spin spin = bed.spin(stream);
  spin.wait_until_started();
  const double seconds = host_seconds([&] { done(cudaStreamDestroy(stream)); });
  return {spin, Trial{spin.ended(), seconds}};
}

Trial stream_destroy(TestBed& bed) { return destroy(bed).second; }

Trial stream_destroyed_at_once(TestBed& bed) {
  const Spin spin = destroy(bed).first;
  bed.finish();
  return Trial{spin.ended(), 0};
}

Trial stream_synchronize_elsewhere(TestBed& bed) {
  const Spin other = bed.spin(bed.b(), 3 * bed.spin_seconds);
  const Spin own = bed.spin(bed.a());
  own.wait_until_started();
  const double seconds = host_seconds([&] { done(cudaStreamSynchronize(bed.a())); });
  return Trial{own.ended() && !other.ended(), seconds};
}

Trial event_synchronize_between(TestBed& bed) {
  bed.spin(bed.a());
  done(cudaEventRecord(bed.event.get(), bed.a()));
  const Spin behind = bed.spin(bed.a());
  const double seconds = host_seconds([&] { done(cudaEventSynchronize(bed.event.get())); });
  return Trial{!behind.ended(), seconds};
}

Trial stream_query_tells(TestBed& bed) {
  const Spin spin = bed.spin(bed.a());
  spin.wait_until_started();
  const bool busy = cudaStreamQuery(bed.a()) == cudaErrorNotReady;
  cudaGetLastError();
  bed.finish();
  const bool idle = cudaStreamQuery(bed.a()) == cudaSuccess;
  return {busy && idle, 0};
}

/// Whether the time between two events is longer than the kernel between them by more than `limit`. The stream is idle
/// when the first event is recorded, or busy with another kernel until all is issued.
TrialOf event_surplus(bool busy, double host_delay, double limit) {
  return [=](TestBed& bed) {
    if (busy) bed.spin(bed.a());
    done(cudaEventRecord(bed.event.get(), bed.a()));
    host_wait(host_delay);
    const Spin kernel = bed.spin(bed.a(), 1e-3);
    done(cudaEventRecord(bed.other_event.get(), bed.a()));
    bed.finish();
    const double seconds =
        cuda::seconds_between(bed.event, bed.other_event) - seconds_from(kernel.start(), kernel.end());
    return Trial{seconds > limit, seconds};
  };
}

TrialOf beside_everywhere(Carveout carveout) {
  return [=](TestBed& bed) {
    const Spin first = bed.spin_with(carveout, bed.multiprocessors(), 0, bed.a(), bed.spin_seconds);
    first.wait_until_started();
    const Spin second = bed.spin_with(Carveout::most_shared, 1, bed.most_shared_bytes() / 2, bed.b(), TestBed::kShort);
    bed.finish();
    return Trial{second.start() >= first.end(), seconds_from(first.start(), second.start())};
  };
}

}  // namespace

DeviceExperiments trials() {
  constexpr double kDelay = 500e-6;
  constexpr double kLaunch = 2e-6;
  return {
      {"kernel_launch", {launch}},
      {"launch_blocking", {launch}},
      {"profiled_launch", {launch, [] { return streams::collect_kernels(streams::Collection::concurrent); }}},
      {"profiled_launch_serialised",
       {launch, [] { return streams::collect_kernels(streams::Collection::serialised); }}},
      {"stream_order", {stream_order}},
      {"copy_beside_kernel", {delayed(nothing, copy_in_b)}},
      {"kernel_behind_kernel", {delayed(kernel_behind, nothing)}},
      {"kernel_behind_kernel_one_connection", {delayed(kernel_behind, nothing)}},
      {"copy_behind_kernel", {delayed(copy_out_behind, nothing)}},
      {"copy_behind_kernel_one_connection", {delayed(copy_out_behind, nothing)}},
      {"opposite_copies", {delayed(copy_out_behind, copy_in_b)}},
      {"equal_copies", {delayed(copy_in_behind, copy_in_b)}},
      {"stream_destroy", {stream_destroy}},
      {"stream_destroyed_at_once", {stream_destroyed_at_once}},
      {"stream_synchronize_elsewhere", {stream_synchronize_elsewhere}},
      {"event_synchronize_between", {event_synchronize_between}},
      {"stream_query_tells", {stream_query_tells}},
      {"event_times_host_delay_idle", {event_surplus(false, kDelay, kDelay / 2)}},
      {"event_times_host_delay_busy", {event_surplus(true, kDelay, kDelay / 2)}},
      {"event_times_launch_idle", {event_surplus(false, 0, kLaunch)}},
      {"event_times_launch_busy", {event_surplus(true, 0, kLaunch)}},
      {"cache_configuration_everywhere", {beside_everywhere(Carveout::least_shared)}},
      {"cache_configuration_same", {beside_everywhere(Carveout::most_shared)}},
  };
}

Trials run_experiment(const Experiment& experiment, int repetitions) {
  static const DeviceExperiments all = [] {
    DeviceExperiments both = calls();
    both.merge(trials());
    return both;
  }();
  const DeviceExperiment& on_device = all.at(experiment.name);
  Trials result;
  if (on_device.prepare_process) result.refusal = on_device.prepare_process();
  if (!result.refusal.empty()) return result;
  TestBed bed(experiment.non_blocking_streams);
  on_device.trial(bed);  // what is loaded or allocated at first use is no part of an answer
  for (int i = 0; i < repetitions; ++i) {
    bed.clear();
    const Trial trial = on_device.trial(bed);
    result.yes += trial.yes ? 1 : 0;
    result.seconds.push_back(trial.seconds);
  }
  return result;
}

}  // namespace scanlab::implicit_sync
