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

/// The device and its clocks now; nullopt if there is none, and then `why_not` says why.
std::optional<Facts> device_facts(std::string& why_not);

/// What ran, and when: the build, the date, and the command line.
Facts run_facts(const std::vector<std::string>& argv);

/// The same of a table, which has no context: names of columns, and a value for each. `device`: empty without one.
std::vector<std::pair<std::string, std::string>> provenance_columns();

/// The host, and what ran on it: of everything that is measured without a device.
Facts measured_on_host(const std::vector<std::string>& argv);

/// The same with the device. Throws CommandError (status 3) if there is no device: `command` needs
/// one.
Facts measured_on(const std::string& command, const std::vector<std::string>& argv);

/// Of measurements that something is computed from, by their context `measured`: adds to `facts` the device, driver and
/// date, and as measured_commit and measured_dirty the code that ran, as far as they are said.
void add_measured(Facts& facts, const Facts& measured);

}  // namespace scanlab::measure
