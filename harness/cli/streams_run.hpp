// scanlab streams run, on a device that a test can stand in for.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/cli/command.hpp"
#include "harness/measure/schedule_session.hpp"

namespace scanlab::cli {

/// A device and where its numbers come from. Throws CommandError (status 3) if there is none.
struct StreamsLab {
  measure::Facts provenance;
  std::unique_ptr<measure::ScheduleBackend> backend;
};
using OpenLab = std::function<StreamsLab(const Context&)>;

/// `streams run` on such a device.
int streams_run(const std::vector<std::string>& arguments, Context& context, const OpenLab& open);

}  // namespace scanlab::cli
