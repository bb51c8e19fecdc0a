// The commands of `scanlab streams`.
#pragma once

#include <functional>
#include <memory>

#include "harness/cli/options.hpp"
#include "harness/measure/schedule_session.hpp"
#include "harness/timeline/nsight_export.hpp"

namespace scanlab::cli {

int streams_list(const std::vector<std::string>& arguments, Context& context);
int streams_check(const std::vector<std::string>& arguments, Context& context);

/// Times schedules. Status 1 if an output was wrong, or a control's never was; 3 without a device.
int streams_run(const std::vector<std::string>& arguments, Context& context);

/// A device and where its numbers come from. Throws CommandError (status 3) if there is none.
struct StreamsLab {
  measure::Facts provenance;
  std::unique_ptr<measure::ScheduleBackend> backend;
};
using OpenLab = std::function<StreamsLab(const Context&)>;

/// `streams run` on a device that a test can stand in for.
int streams_run(const std::vector<std::string>& arguments, Context& context, const OpenLab& open);

/// A schedule's timeline. Status 1 if the output was wrong, but for a control; 3 without a device.
int streams_trace(const std::vector<std::string>& arguments, Context& context);

/// What holds up a schedule, or two, status 3 without a device; or the program of an export of Nsight Systems.
int streams_diagnose(const std::vector<std::string>& arguments, Context& context);

/// Which statements of the sources hold on this device. Status 1 if the controls fail, 3 without a device.
int streams_implicit_sync(const std::vector<std::string>& arguments, Context& context);

/// Small grids side by side, against the formula. Status 3 without a device.
int streams_concurrency(const std::vector<std::string>& arguments, Context& context);

/// Writes what is in an export of Nsight Systems as a trace.
int streams_import(const std::vector<std::string>& arguments, Context& context);

/// --from, --to, --range and --gpu: a part of an export of Nsight Systems.
struct NsightWords {
  streams::NsightPart part;

  void add_to(Options& options);
  /// Throws as read_nsight_export() does, and for a time that is none.
  streams::NsightExport read(const std::string& file) const;
};
/// A line for each sentence on what the export does not say.
void print_unknown(const streams::NsightExport& imported, std::ostream& out);

}  // namespace scanlab::cli
