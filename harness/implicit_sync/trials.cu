// Statements that are not about one call while a kernel spins: each with a trial of its own. And how one is run.
#include <optional>
#include <utility>

#include "harness/cuda/error.hpp"
#include "harness/implicit_sync/findings.hpp"
#include "harness/implicit_sync/stage.hpp"
#include "harness/replay/activity.hpp"

namespace scanlab::implicit_sync {

namespace {

using Action = std::function<void(Stage&)>;
using TrialOf = std::function<Trial(Stage&)>;

void done(cudaError_t error) { cuda::check(error, "an experiment's call"); }

Trial launch(Stage& stage) {
  std::optional<Spin> spin;
  const double seconds = host_seconds([&] { spin = stage.spin(stage.a()); });
  const Trial trial{spin->ended(), seconds};
  stage.clear();
  return trial;
}

Trial stream_order(Stage& stage) {
  const Spin first = stage.spin(stage.a());
  const Spin second = stage.spin(stage.a(), Stage::kShort);
  stage.finish();
  const Trial trial{second.start() >= first.end(), seconds_from(first.end(), second.start())};
  stage.clear();
  return trial;
}

/// Whether a kernel of stream b waits for the end of one in stream a, behind which something else waits.
TrialOf delayed(const Action& behind, const Action& in_b) {
  return [=](Stage& stage) {
    const Spin first = stage.spin(stage.a());
    first.wait_until_started();
    behind(stage);
    in_b(stage);
    const Spin second = stage.spin(stage.b(), Stage::kShort);
    stage.finish();
    const Trial trial{second.start() >= first.end(), seconds_from(first.start(), second.start())};
    stage.clear();
    return trial;
  };
}

void nothing(Stage&) {}
void kernel_behind(Stage& stage) { stage.spin(stage.a(), Stage::kShort); }
void copy_in_behind(Stage& stage) {
  done(cudaMemcpyAsync(stage.device(), stage.pinned(), Stage::kLarge, cudaMemcpyHostToDevice, stage.a()));
}
void copy_out_behind(Stage& stage) {
  done(cudaMemcpyAsync(stage.pinned(), stage.device(), Stage::kLarge, cudaMemcpyDeviceToHost, stage.a()));
}
void copy_in_b(Stage& stage) {
  done(cudaMemcpyAsync(stage.other_device(), stage.pinned(), Stage::kLarge, cudaMemcpyHostToDevice, stage.b()));
}

/// The stream is what is studied: it is destroyed while its kernel spins.
std::pair<Spin, Trial> destroy(Stage& stage) {
  cudaStream_t stream{};
  done(cudaStreamCreate(&stream));
  const Spin spin = stage.spin(stream);
  spin.wait_until_started();
  const double seconds = host_seconds([&] { done(cudaStreamDestroy(stream)); });
  return {spin, Trial{spin.ended(), seconds}};
}

Trial stream_destroy(Stage& stage) {
  const Trial trial = destroy(stage).second;
  stage.clear();
  return trial;
}

Trial stream_destroyed_at_once(Stage& stage) {
  const Spin spin = destroy(stage).first;
  stage.finish();
  const Trial trial{spin.ended(), 0};
  stage.clear();
  return trial;
}

Trial stream_synchronize_elsewhere(Stage& stage) {
  const Spin other = stage.spin(stage.b(), 3 * stage.spin_seconds);
  const Spin own = stage.spin(stage.a());
  own.wait_until_started();
  const double seconds = host_seconds([&] { done(cudaStreamSynchronize(stage.a())); });
  const Trial trial{own.ended() && !other.ended(), seconds};
  stage.clear();
  return trial;
}

Trial event_synchronize_between(Stage& stage) {
  stage.spin(stage.a());
  done(cudaEventRecord(stage.event.get(), stage.a()));
  const Spin behind = stage.spin(stage.a());
  const double seconds = host_seconds([&] { done(cudaEventSynchronize(stage.event.get())); });
  const Trial trial{!behind.ended(), seconds};
  stage.clear();
  return trial;
}

Trial stream_query_tells(Stage& stage) {
  const Spin spin = stage.spin(stage.a());
  spin.wait_until_started();
  const bool busy = cudaStreamQuery(stage.a()) == cudaErrorNotReady;
  cudaGetLastError();
  stage.finish();
  const bool idle = cudaStreamQuery(stage.a()) == cudaSuccess;
  stage.clear();
  return {busy && idle, 0};
}

/// Whether the time between two events is longer than the kernel between them by more than `limit`. The stream is idle
/// when the first event is recorded, or busy with another kernel until all is issued.
TrialOf event_surplus(bool busy, double host_delay, double limit) {
  return [=](Stage& stage) {
    if (busy) stage.spin(stage.a());
    done(cudaEventRecord(stage.event.get(), stage.a()));
    host_wait(host_delay);
    const Spin kernel = stage.spin(stage.a(), 1e-3);
    done(cudaEventRecord(stage.other_event.get(), stage.a()));
    stage.finish();
    const double seconds =
        cuda::seconds_between(stage.event, stage.other_event) - seconds_from(kernel.start(), kernel.end());
    stage.clear();
    return Trial{seconds > limit, seconds};
  };
}

TrialOf beside_everywhere(Carveout carveout) {
  return [=](Stage& stage) {
    const Spin first = stage.spin_with(carveout, stage.multiprocessors(), 0, stage.a(), stage.spin_seconds);
    first.wait_until_started();
    const Spin second =
        stage.spin_with(Carveout::most_shared, 1, stage.most_shared_bytes() / 2, stage.b(), Stage::kShort);
    stage.finish();
    const Trial trial{second.start() >= first.end(), seconds_from(first.start(), second.start())};
    stage.clear();
    return trial;
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
  if (on_device.prepare_process) result.why_not = on_device.prepare_process();
  if (!result.why_not.empty()) return result;
  Stage stage(experiment.non_blocking_streams);
  on_device.trial(stage);  // what is loaded or allocated at first use is no part of an answer
  for (int i = 0; i < repetitions; ++i) {
    const Trial trial = on_device.trial(stage);
    result.yes += trial.yes ? 1 : 0;
    result.seconds.push_back(trial.seconds);
  }
  return result;
}

}  // namespace scanlab::implicit_sync
