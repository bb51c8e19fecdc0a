#include "harness/cuda/stream.hpp"
#include "harness/features/feature.hpp"
#include "harness/host/clock.hpp"

namespace scanlab::features {

void Bench::time(const std::string& way, double at, const std::function<void()>& issue, const Program* program) {
  const auto once = [&] {
    cuda::check(cudaDeviceSynchronize(), "waiting for the device");
    const auto begin = Clock::now();
    issue();
    cuda::check(cudaDeviceSynchronize(), "running a program");
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  if (program == nullptr) return take(way, at, once);
  take(way, at, once, [&](const simulator::DeviceProfile& device) { return program->seconds(device); });
}

void Bench::take(const std::string& way, double at, const std::function<double()>& once,
                 const std::function<double(const simulator::DeviceProfile&)>& predict) {
  Case& taken = cases_.emplace_back(Case{.feature = feature_, .way = way, .at = at, .seconds = {}});
  once();  // loads kernels, and lets pools grow
  for (int i = 0; i < repetitions_; ++i) taken.seconds.push_back(once());
  if (predict && profile_ != nullptr) taken.predicted_seconds = predict(*profile_);
}

}  // namespace scanlab::features
