// The experiments: those of calls, and statements that are not about one call while a kernel spins, each with a trial
// of its own.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "harness/implicit_sync/statements.hpp"
#include "harness/selection/words.hpp"
#ifdef SCANLAB_WITH_CUDA
#include "harness/host/clock.hpp"
#include "harness/implicit_sync/test_bed.hpp"
#include "harness/replay/activity.hpp"
#endif

namespace scanlab::implicit_sync {

namespace {

#ifdef SCANLAB_WITH_CUDA

using Action = std::function<void(TestBed&)>;

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
std::function<Trial(TestBed&)> delayed(const Action& behind, const Action& in_b) {
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
std::function<Trial(TestBed&)> event_surplus(bool busy, double host_delay, double limit) {
  return [=](TestBed& bed) {
    if (busy) bed.spin(bed.a());
    done(cudaEventRecord(bed.event.get(), bed.a()));
    spin_for(std::chrono::duration<double>(host_delay));
    const Spin kernel = bed.spin(bed.a(), 1e-3);
    done(cudaEventRecord(bed.other_event.get(), bed.a()));
    bed.finish();
    const double seconds =
        cuda::seconds_between(bed.event, bed.other_event) - seconds_from(kernel.start(), kernel.end());
    return Trial{seconds > limit, seconds};
  };
}

std::function<Trial(TestBed&)> beside_everywhere(Carveout carveout) {
  return [=](TestBed& bed) {
    const Spin first = bed.spin_with(carveout, bed.multiprocessors(), 0, bed.a(), bed.spin_seconds);
    first.wait_until_started();
    const Spin second = bed.spin_with(Carveout::most_shared, 1, bed.most_shared_bytes() / 2, bed.b(), TestBed::kShort);
    bed.finish();
    return Trial{second.start() >= first.end(), seconds_from(first.start(), second.start())};
  };
}

#endif

std::vector<Experiment> launches() {
  const std::string end = "the end of its kernel";
  const auto profiled = [&](const char* name, const char* collected, std::function<std::string()> prepare_process) {
    return Experiment{.name = name,
                      .subject = fmt::format("a kernel launch under a profiler that collects {} (CUPTI)", collected),
                      .verb = "waits for",
                      .object = end,
                      .expected = kYes,
                      .claim = "under a debugger or profiler all launches are synchronous",
                      .sources = kMe759Asynchronous,
                      .trial = SCANLAB_TRIAL(launch),
                      .fresh_process = true,
                      .prepare_process = std::move(prepare_process)};
  };
  return {
      {"kernel_launch", "a kernel launch", "waits for", end, kNo, "kernel launches are asynchronous",
       kMe759Asynchronous, SCANLAB_TRIAL(launch)},
      {.name = "launch_blocking",
       .subject = "a kernel launch with CUDA_LAUNCH_BLOCKING=1",
       .verb = "waits for",
       .object = end,
       .expected = kYes,
       .claim = "what a debugger makes of launches (the variable is its everyday form)",
       .sources = kMe759Asynchronous,
       .trial = SCANLAB_TRIAL(launch),
       .environment = {{"CUDA_LAUNCH_BLOCKING", "1"}},
       .fresh_process = true},
      profiled("profiled_launch", "concurrent kernels",
               SCANLAB_TRIAL([] { return streams::collect_kernels(streams::Collection::concurrent); })),
      profiled("profiled_launch_serialised", "kernels one by one",
               SCANLAB_TRIAL([] { return streams::collect_kernels(streams::Collection::serialised); })),
  };
}

std::vector<Experiment> orders() {
  const std::string hyper_q = "since Hyper-Q the order of launches needs no care";
  const std::string queue =
      "compute capability up to 3.0: what depends on a kernel waits for the queue of blocks to "
      "empty, and holds back all launches until it starts";
  const std::string waiting_kernel = "a kernel that waits for its stream";
  const std::string waiting_copy = "a copy that waits for its stream";
  const std::string other = "a kernel of another stream";
  using TryIt = std::function<Trial(TestBed&)>;
  const TryIt kernel_behind_kernel = SCANLAB_TRIAL(delayed(kernel_behind, nothing));
  const TryIt copy_behind_kernel = SCANLAB_TRIAL(delayed(copy_out_behind, nothing));
  const auto one_connection = [&](const char* name, const std::string& waiting, const TryIt& trial) {
    return Experiment{.name = name,
                      .subject = "with CUDA_DEVICE_MAX_CONNECTIONS=1, " + waiting,
                      .verb = "delays",
                      .object = other,
                      .expected = kYes,
                      .claim = queue,
                      .sources = kRussianQueue,
                      .trial = trial,
                      .environment = {{"CUDA_DEVICE_MAX_CONNECTIONS", "1"}},
                      .fresh_process = true};
  };
  return {
      {"stream_order", "a command", "waits for", "the end of the one before it in its stream", kYes,
       "an operation does not commence before the previous one of its stream has fully completed", kMe759Overview,
       SCANLAB_TRIAL(stream_order)},
      {"copy_beside_kernel", "a kernel", "delays", "a copy of another stream and what follows it there", kNo,
       "with asyncEngineCount > 0, copies from pinned memory run beside kernels", kRussianCopies,
       SCANLAB_TRIAL(delayed(nothing, copy_in_b))},
      {"kernel_behind_kernel", waiting_kernel, "delays", other, kNo, hyper_q, kMarkidisHyperQ, kernel_behind_kernel},
      one_connection("kernel_behind_kernel_one_connection", waiting_kernel, kernel_behind_kernel),
      {"copy_behind_kernel", waiting_copy, "delays", other, kNo, hyper_q, kMarkidisHyperQ, copy_behind_kernel},
      one_connection("copy_behind_kernel_one_connection", waiting_copy, copy_behind_kernel),
      {"opposite_copies", "a copy to the host that waits for its stream", "delays",
       "a copy to the device in another stream", kYes,
       "with one copy engine, a copy blocks all copies the other way that are issued after it", kRussianOneEngine,
       SCANLAB_TRIAL(delayed(copy_out_behind, copy_in_b))},
      {"equal_copies", waiting_copy, "delays", "a copy the same way in another stream", kYes,
       "each engine runs its tasks in the order in which they were issued", kMarkidisEngines,
       SCANLAB_TRIAL(delayed(copy_in_behind, copy_in_b))},
  };
}

std::vector<Experiment> waits() {
  return {
      {"stream_destroy", "cudaStreamDestroy", "waits for", "the commands of its stream", kYes,
       "waits for all preceding commands of the stream before it returns", kMe759CleanUp,
       SCANLAB_TRIAL(stream_destroy)},
      {"stream_destroyed_at_once", "a stream that is destroyed at once", "completes", "what was issued to it", kYes,
       "the example destroys its streams after issuing, without synchronising", kDli,
       SCANLAB_TRIAL(stream_destroyed_at_once)},
      {"stream_synchronize_elsewhere", "cudaStreamSynchronize", "returns before",
       "the end of a kernel in another stream", kYes, "synchronises with one stream and lets the others continue",
       kMe759Synchronization, SCANLAB_TRIAL(stream_synchronize_elsewhere)},
      {"event_synchronize_between", "cudaEventSynchronize", "returns before", "the end of a kernel behind the event",
       kYes, "waits until the event has been reached, not for the stream", kTutorialEvents,
       SCANLAB_TRIAL(event_synchronize_between)},
      {"stream_query_tells", "cudaStreamQuery", "tells", "a stream at work from one that has finished", kYes,
       "a way to know whether all commands before it in a stream have completed", kMe759Synchronization,
       SCANLAB_TRIAL(stream_query_tells)},
  };
}

/// Statements on what the time between two events holds besides the kernel between them.
std::vector<Experiment> event_times() {
  const std::string claim = "timing by events is unaffected by the host's noise and the cost of a launch";
  std::vector<Experiment> all;
  for (const bool busy : {false, true}) {
    const std::string time = std::string("the time between two events in ") +
                             (busy ? "a stream that is busy until all is issued" : "an idle stream");
    const std::string suffix = busy ? "_busy" : "_idle";
    all.push_back({"event_times_host_delay" + suffix, time, "includes", "0.5 ms that the host waits before the launch",
                   kNo, claim, kTutorialEvents, SCANLAB_TRIAL(event_surplus(busy, 500e-6, 250e-6))});
    for (const int us : {1, 2, 5, 10}) {
      all.push_back({fmt::format("event_times_launch{}_{}_us", suffix, us), time, "exceeds",
                     fmt::format("the kernel's own by {} us or more", us), kNo, claim, kTutorialEvents,
                     SCANLAB_TRIAL(event_surplus(busy, 0, us * 1e-6))});
    }
  }
  return all;
}

/// A kernel with a block on every multiprocessor, and one that wants most of a multiprocessor's memory to be shared.
std::vector<Experiment> carveouts() {
  const std::string everywhere = "a kernel with a block on every multiprocessor";
  return {
      {"cache_configuration_everywhere", everywhere, "delays",
       "a kernel that wants another split of L1 and shared memory", kYes,
       "commands of two streams cannot run at once if the split of L1 and shared memory is switched", kMe759Caveats,
       SCANLAB_TRIAL(beside_everywhere(Carveout::least_shared))},
      {"cache_configuration_same", everywhere, "delays", "a kernel that wants the same split of L1 and shared memory",
       kNo, "nothing is switched: the counterpart of the one before", kMe759Caveats,
       SCANLAB_TRIAL(beside_everywhere(Carveout::most_shared))},
  };
}

}  // namespace

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all = [] {
    std::vector<Experiment> list = call_experiments();
    for (const auto& more : {launches(), waits(), event_times(), orders(), carveouts()}) {
      list.insert(list.end(), more.begin(), more.end());
    }
    return list;
  }();
  return all;
}

std::string Experiment::describe_sources() const {
  if (sources.empty()) return "none of the sources speaks of it; programs do it";
  std::string all;
  for (const auto& [work, place] : sources) all += fmt::format("{}{}, {}", all.empty() ? "" : "; ", work, place);
  return all;
}

bool is_control(const Experiment& experiment) {
  constexpr std::array kControls{"nothing.streams", "device_synchronize.host", "device_synchronize.streams"};
  return std::ranges::find(kControls, experiment.name) != kControls.end();
}

std::vector<const Experiment*> select(const std::vector<std::string>& globs) {
  std::vector<const Experiment*> chosen;
  std::vector<std::string> names;
  for (const Experiment& each : experiments()) {
    names.push_back(each.name);
    const auto fits_this = [&](const std::string& glob) { return fits(glob, each.name); };
    if (globs.empty() || is_control(each) || std::ranges::any_of(globs, fits_this)) chosen.push_back(&each);
  }
  for (const std::string& glob : globs) {
    const auto fits_it = [&](const std::string& name) { return fits(glob, name); };
    if (std::ranges::none_of(names, fits_it)) unknown("experiment", glob, names);
  }
  return chosen;
}

}  // namespace scanlab::implicit_sync
