// `streams run` on a device that a test can stand in for.
#pragma once

#include <functional>
#include <memory>

#include "harness/cli/command.hpp"
#include "harness/measure/schedule_session.hpp"

namespace scanlab::cli {

/// A device and where its numbers come from. Throws CommandError (status 3) if there is none.
struct StreamsLab {
  measure::Facts provenance;
  std::unique_ptr<measure::ScheduleBackend> backend;
};
using OpenLab = std::function<StreamsLab(const Context&)>;

/// Status 1 if an output was wrong, or a control's never was; 3 without a device.
int streams_run(const Words& arguments, Context& context, const OpenLab& open);

}  // namespace scanlab::cli
