// A table for `best` on a device that has none, measured before its first use, in under a minute: few sizes, and each
// scan with the defaults of its parameters. `scanlab tune` measures all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/host/whole_file.hpp"
#include "harness/results/provenance.hpp"
#include "harness/tuning/tuner.hpp"

namespace scanlab::tuning {

/// The requests to `best`: numbers of items, by type and operator.
using Asked = std::map<TypeAndOperator, std::set<std::int64_t>>;

/// The requests of these cases. Empty if `best` is not among them.
Asked best_requests(const std::vector<measure::TimedCase>& cases);

/// Where the table is from that `best` goes by on a device, of which `device` are the facts: `none`, `built in`, or
/// `SCANLAB_TUNING=FILE`. Throws DocumentError if that file is no table.
std::string table_in_use(const measure::Facts& device);
inline constexpr char kNoTable[] = "none";

/// Two lines: a device has no table, the scan that `best` runs there instead, and both ways to get a table.
std::string no_table(const std::string& device);

/// Beside the results, results/scan.json: results/scan.tuning.json.
std::filesystem::path short_table_path(const std::filesystem::path& results);

/// Every candidate once, with the defaults of its parameters.
std::vector<Choice> short_candidates();

/// The largest of the requested sizes, those that lie a factor of 4 or more below the previous, and the least; up to
/// 4 GiB, as tuning_sizes(). The largest comes first: the fastest scan there is not far off elsewhere.
std::vector<std::int64_t> short_sizes(const TypeAndOperator& monoid, const std::set<std::int64_t>& asked);

/// Wall seconds after which no further size is begun. One takes a few, so that it all ends within a minute.
inline constexpr double kShortSeconds = 40;

/// Measures a table for what is asked. Each type and operator has its share of the seconds that are left, by
/// `elapsed`, seconds since all began; what gets no time has no entry. `context` is the provenance, with the device.
/// After Ctrl-C the table is of no use. Throws CommandError (status 2) if no candidate has a time.
TuningTable tune_shortly(const Asked& asked, Tuner& tuner, const measure::Facts& context,
                         const std::function<double()>& elapsed);

/// Writes a table to `file`, at `path`, and lets `best` go by it in this process, as SCANLAB_TUNING does in others.
/// Throws CommandError (status 2) if it cannot be written.
void use_table(const TuningTable& table, WholeFile& file, const std::filesystem::path& path);

}  // namespace scanlab::tuning
