// Schedules replayed on a CUDA device, and their parts by themselves.
#include <optional>

#include "harness/cuda/device.hpp"
#include "harness/cuda/error.hpp"
#include "harness/cuda/nvml.hpp"
#include "harness/measure/scan_backend.hpp"
#include "harness/measure/schedule_session.hpp"
#include "harness/replay/replayer.hpp"

namespace scanlab::measure {

namespace {

template <class Work>
auto or_lacks_memory(const Work& work) {
  try {
    return work();
  } catch (const cuda::OutOfMemory& lack) {
    throw LacksMemory(lack.what());
  }
}

class CudaScheduleBackend : public ScheduleBackend {
 public:
  std::size_t fill(const streams::Job& job, std::uint64_t seed) override {
    arrays_.reset();  // before the next ones are made
    arrays_.emplace(job, seed);
    return arrays_->bytes();
  }

  double copy_seconds(streams::Direction direction, std::size_t bytes, bool both_ways) override {
    return or_lacks_memory([&] { return streams::copy_seconds(*arrays_, direction, bytes, both_ways); });
  }

  double kernel_seconds(const streams::Job& job) override {
    return or_lacks_memory([&] { return streams::kernel_seconds(job); });
  }

  ScheduleSample sample(const streams::Recording& recording) override {
    return or_lacks_memory([&] {
      streams::Replayer replayer(recording, *arrays_);
      replayer.replay();  // untimed: the first of anything takes longer
      ScheduleSample taken{.device_seconds = replayer.replay_between_events()};
      replayer.poison();
      taken.host_seconds = replayer.replay().seconds();
      taken.sm_clock_mhz = sm_clock_mhz();  // comparing takes a while
      taken.wrong = arrays_->wrong();
      return taken;
    });
  }

  double sm_clock_mhz() override { return clock_.sm_mhz(); }

 private:
  cuda::ClockReader clock_{cuda::probe_device().facts.value().pci_bus_id};
  std::optional<streams::HostArrays> arrays_;
};

}  // namespace

std::unique_ptr<ScheduleBackend> make_cuda_schedule_backend() { return std::make_unique<CudaScheduleBackend>(); }

}  // namespace scanlab::measure
