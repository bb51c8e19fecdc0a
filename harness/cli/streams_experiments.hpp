// scanlab streams caveats, scanlab streams concurrency.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/cli/command.hpp"
#include "harness/implicit_sync/caveats.hpp"
#include "harness/implicit_sync/concurrency.hpp"

namespace scanlab::cli {

inline constexpr char kCaveatsSchema[] = "scanlab-caveats/1";
inline constexpr char kConcurrencySchema[] = "scanlab-concurrency/1";

/// Which statements of the sources hold on this device. Status 1 if the controls fail, 3 without a device.
int streams_caveats(const std::vector<std::string>& arguments, Context& context);

/// Small grids side by side, against the formula. Status 3 without a device.
int streams_concurrency(const std::vector<std::string>& arguments, Context& context);

/// An experiment, what was said and what was found, with its raw trials.
nlohmann::ordered_json to_json(const streams::Finding& finding);

/// Grids that were measured, beside the formula, with raw repetitions.
nlohmann::ordered_json to_json(const streams::MeasuredGrids& measured, const streams::ConcurrencySettings& settings,
                               const streams::Room& room, int connections);

}  // namespace scanlab::cli
