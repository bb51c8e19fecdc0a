// The commands of `scanlab streams`.
#pragma once

#include <iosfwd>

#include "harness/cli/command.hpp"
#include "harness/timeline/nsight_export.hpp"

namespace scanlab::cli {

/// The entry of `scanlab streams NAME`, its name written out ("streams check"), for parse_options.
Command streams_command(const std::string& name);

int streams_list(const std::vector<std::string>& arguments, Context& context);
int streams_check(const std::vector<std::string>& arguments, Context& context);

/// Times schedules. Status 1 if an output was wrong, or a control's never was; 3 without a device.
int streams_run(const std::vector<std::string>& arguments, Context& context);

/// A schedule's timeline. Status 1 if the output was wrong, but for a control; 3 without a device.
int streams_trace(const std::vector<std::string>& arguments, Context& context);

/// What holds up a schedule, or two, status 3 without a device; or the program of an export of Nsight Systems.
int streams_why(const std::vector<std::string>& arguments, Context& context);

/// Which statements of the sources hold on this device. Status 1 if the controls fail, 3 without a device.
int streams_caveats(const std::vector<std::string>& arguments, Context& context);

/// Small grids side by side, against the formula. Status 3 without a device.
int streams_concurrency(const std::vector<std::string>& arguments, Context& context);

/// Writes what is in an export of Nsight Systems as a trace.
int streams_import(const std::vector<std::string>& arguments, Context& context);

/// Adds --from, --to and --range, for nsight_export().
void add_nsight_options(po::options_description& options);
/// Throws as read_nsight_export() does, and for a time that is none.
streams::NsightExport nsight_export(const std::string& file, const po::variables_map& values);
/// A line for each sentence on what the export does not say.
void print_unknown(const streams::NsightExport& imported, std::ostream& out);

}  // namespace scanlab::cli
