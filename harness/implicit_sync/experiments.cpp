#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/implicit_sync/statements.hpp"
#include "harness/selection/words.hpp"

namespace scanlab::implicit_sync {

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all = [] {
    std::vector<Experiment> both = call_experiments();
    const std::vector<Experiment> others = other_experiments();
    both.insert(both.end(), others.begin(), others.end());
    return both;
  }();
  return all;
}

std::string Experiment::describe_sources() const {
  if (sources.empty()) return "none of the sources speaks of it; programs do it";
  std::string all;
  for (const auto& [work, place] : sources) all += fmt::format("{}{}, {}", all.empty() ? "" : "; ", work, place);
  return all;
}

bool is_control(const Experiment& experiment) {
  constexpr std::array kControls{"nothing.streams", "device_synchronize.host", "device_synchronize.streams"};
  return std::ranges::find(kControls, experiment.name) != kControls.end();
}

std::vector<const Experiment*> select(const std::vector<std::string>& globs) {
  std::vector<const Experiment*> chosen;
  std::vector<std::string> names;
  for (const Experiment& each : experiments()) {
    names.push_back(each.name);
    const auto fits_this = [&](const std::string& glob) { return fits(glob, each.name); };
    if (globs.empty() || is_control(each) || std::ranges::any_of(globs, fits_this)) chosen.push_back(&each);
  }
  for (const std::string& glob : globs) {
    const auto fits_it = [&](const std::string& name) { return fits(glob, name); };
    if (std::ranges::none_of(names, fits_it)) unknown("experiment", glob, names);
  }
  return chosen;
}

}  // namespace scanlab::implicit_sync
