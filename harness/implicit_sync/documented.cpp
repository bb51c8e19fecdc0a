// What NVIDIA's documentation of CUDA 13 says of the experiments: the CUDA Runtime API, "API synchronization behavior",
// "Stream synchronization behavior" and the pages of the functions; of CUDA_LAUNCH_BLOCKING, the programming guide. It
// adds that any call may block or synchronise, and that undocumented behaviour should not be relied upon.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "harness/implicit_sync/experiment.hpp"

namespace scanlab::implicit_sync {
namespace {

constexpr auto kNo = Expected::no;
constexpr auto kYes = Expected::yes;
constexpr auto kMay = Expected::may;

struct Documented {
  std::string_view name;
  Expected answer;
};
constexpr Documented kDocumented[] = {
    {"nothing.streams", kMay},
    {"device_synchronize.host", kYes},
    {"device_synchronize.streams", kYes},
    {"device_memset.host", kNo},
    {"device_memset.streams", kYes},
    {"device_memset_async.host", kNo},
    {"device_copy.host", kNo},
    {"device_copy.streams", kYes},
    {"device_copy_async.host", kNo},
    {"default_stream_kernel.host", kNo},
    {"default_stream_kernel.streams", kYes},
    {"default_stream_copy_async.host", kNo},
    {"default_stream_copy_async.streams", kYes},
    {"cache_configuration.streams", kMay},
    {"default_stream_kernel_nonblocking.host", kNo},
    {"default_stream_kernel_nonblocking.streams", kNo},
    {"per_thread_default_stream_kernel.host", kNo},
    {"per_thread_default_stream_kernel.streams", kNo},
    {"copy_nonblocking.host", kNo},
    {"copy_nonblocking.streams", kNo},
    {"copy_64_kib_nonblocking.host", kNo},
    {"copy_64_kib_nonblocking.streams", kNo},
    {"copy_to_device_pinned_large.host", kYes},
    {"copy_to_device_pinned_large.streams", kYes},
    {"copy_to_device_pinned_64_kib.host", kYes},
    {"copy_to_device_pinned_64_kib.streams", kYes},
    {"copy_to_device_pageable_large.host", kYes},
    {"copy_to_device_pageable_large.streams", kYes},
    {"copy_to_device_pageable_64_kib.host", kYes},
    {"copy_to_device_pageable_64_kib.streams", kYes},
    {"copy_to_host_pinned_large.host", kYes},
    {"copy_to_host_pinned_large.streams", kYes},
    {"copy_to_host_pinned_64_kib.host", kYes},
    {"copy_to_host_pinned_64_kib.streams", kYes},
    {"copy_to_host_pageable_large.host", kYes},
    {"copy_to_host_pageable_large.streams", kYes},
    {"copy_to_host_pageable_64_kib.host", kYes},
    {"copy_to_host_pageable_64_kib.streams", kYes},
    {"copy_async_to_device_pinned_large.host", kNo},
    {"copy_async_to_device_pinned_64_kib.host", kNo},
    {"copy_async_to_device_pageable_large.host", kMay},
    {"copy_async_to_device_pageable_64_kib.host", kMay},
    {"copy_async_to_host_pinned_large.host", kNo},
    {"copy_async_to_host_pinned_64_kib.host", kNo},
    {"copy_async_to_host_pageable_large.host", kMay},
    {"copy_async_to_host_pageable_64_kib.host", kMay},
    {"peer_copy_async.host", kNo},
    {"stream_query.host", kNo},
    {"stream_synchronize.host", kYes},
    {"stream_wait_event.host", kNo},
    {"stream_wait_event.streams", kYes},
    {"stream_wait_event_elsewhere.streams", kNo},
    {"event_record.host", kNo},
    {"event_synchronize.host", kYes},
    {"event_elapsed_time.host", kNo},
    {"allocation_in_stream.host", kNo},
    {"kernel_launch", kNo},
    {"launch_blocking", kYes},
    {"stream_destroy", kNo},
    {"stream_destroyed_at_once", kYes},
    {"stream_synchronize_elsewhere", kYes},
    {"event_synchronize_between", kYes},
    {"stream_query_tells", kYes},
    {"stream_order", kYes},
};

}  // namespace

Expected Experiment::documented() const {
  const auto* const found = std::ranges::find(kDocumented, std::string_view(name), &Documented::name);
  return found == std::end(kDocumented) ? Expected::nothing : found->answer;
}

std::vector<std::string> documented_experiments() {
  std::vector<std::string> names;
  for (const Documented& each : kDocumented) names.emplace_back(each.name);
  return names;
}

}  // namespace scanlab::implicit_sync
