// Where numbers come from: the device, the machine, the build. Shown by `info`, kept in every results file.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace scanlab::measure {

/// Names with texts, in an order that reads well.
using Facts = nlohmann::ordered_json;

/// Commit, compilers, toolkit, and which optional halves this build has.
Facts build_facts();

/// The host: its processor and system.
Facts host_facts();

/// The device and its clocks now; nullopt if there is none, and then `refusal` says why.
std::optional<Facts> device_facts(std::string& refusal);

/// The build, the date, and the command line of a run.
Facts run_facts(const std::vector<std::string>& argv);

/// The provenance of a table, which has no context: names of columns, and a value for each. `device`: empty without
/// one.
std::vector<std::pair<std::string, std::string>> provenance_columns();

/// Host and run facts, for everything that is measured without a device.
Facts measured_on_host(const std::vector<std::string>& argv);

/// Device, host and run facts. Throws CommandError (status 3) if there is no device: `command` needs one.
Facts measured_on(const std::string& command, const std::vector<std::string>& argv);

/// Adds to `facts` where the measurements with the context `measured` come from: device, driver and date, and the code
/// as measured_commit and measured_dirty, as far as the context has them.
void add_measured(Facts& facts, const Facts& measured);

}  // namespace scanlab::measure
