#include "harness/cli/sweep.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/cli/command.hpp"

namespace scanlab::cli {

namespace po = boost::program_options;

const std::vector<Sweep>& sweeps() {
  using enum SweepPart::Machine;
  static const std::vector<Cache> both{Cache::cold, Cache::warm};
  static const std::vector<Cache> cold{Cache::cold};
  static const std::vector<Cache> warm{Cache::warm};
  static const std::vector<Sweep> all{
      {.name = "full",
       .about = "the ladder to 2^28 and every figure of the report",
       .rounds = 15,
       .parts =
           {
               {device, {"--items=2^10:2^28:x2"}, both},                            // the ladder
               {device, {"--items=1000,100000,1000000,10000000,100000000"}, cold},  // not powers of two
               {device, {"--mode=exclusive", "--items=2^16:2^28:x16"}, both},
               {device, {"--type=i64,f32,f64", "--items=2^16:2^28:x16"}, both},
               {device, {"--type=i32,f32", "--op=max,affine", "--items=2^16:2^28:x16"}, cold},
               {device, {"--items=2^10:2^28:x4"}, cold, "padding"},
               {device, {"--items=2^20,2^24"}, cold, "load"},
               {device, {"--items=2^20,2^24"}, cold, "levels"},
               {host, {"--items=2^10:2^24:x2"}, warm},  // the sizes published in 2007
           }},
      {.name = "quick",
       .about = "every variant at a few sizes, in minutes",
       .rounds = 5,
       .parts =
           {
               {device, {"--items=2^10:2^28:x4"}, both},
               {device, {"--mode=exclusive", "--items=2^20,2^24"}, cold},
               {device, {"--items=2^20,2^24"}, cold, "padding"},
               {host, {"--items=2^10:2^24:x4"}, warm},
           }},
      {.name = "counters",
       .about = "what has bank conflicts, for ncu to count them: use with --once",
       .rounds = 1,
       .parts =
           {
               {device, {"--type=i32,f64", "--mode=exclusive", "--items=2048,2^16"}, cold},
               {device, {"--type=i32,f64", "--mode=exclusive", "--items=2048,2^16"}, cold, "padding"},
               {device, {"--mode=exclusive", "--items=2048"}, cold, "load"},
           }},
  };
  return all;
}

const Sweep& find_sweep(std::string_view name) {
  const auto found = std::ranges::find(sweeps(), name, &Sweep::name);
  if (found != sweeps().end()) return *found;
  std::vector<std::string> names;
  for (const Sweep& sweep : sweeps()) names.push_back(sweep.name);
  throw CommandError(kBadInput, fmt::format("there is no sweep '{}'; known: {}", name, fmt::join(names, ", ")));
}

namespace {

Selection select(const SweepPart& part) {
  po::options_description options;
  add_selection_options(options, "");
  po::variables_map values;
  po::store(po::command_line_parser(part.words).options(options).run(), values);
  po::notify(values);
  Selection selection = read_selection(values);
  std::erase_if(selection.variants, [&](const Variant* variant) {
    const bool on_host = variant->machines.host && !variant->machines.cuda;
    return on_host != (part.machine == SweepPart::Machine::host);
  });
  return selection;
}

/// The case itself, or once with each value of the part's parameter.
std::vector<Case> varied(const Case& scan, const std::string& parameter) {
  if (parameter.empty()) return {scan};
  std::vector<Case> all;
  for (const Parameter& known : scan.variant->about.parameters) {
    if (known.name != parameter) continue;
    for (const std::string& value : known.values) {
      all.push_back(scan);
      all.back().problem.settings[parameter] = value;
    }
  }
  return all;
}

}  // namespace

std::vector<SweepCase> cases(const Sweep& sweep) {
  std::vector<SweepCase> all;
  std::vector<const Variant*> floors;
  for (const SweepPart& part : sweep.parts) {
    for (const Case& scan : select(part).cases()) {
      if (scan.variant->about.kind == Kind::floor) {
        if (std::ranges::find(floors, scan.variant) != floors.end()) continue;
        floors.push_back(scan.variant);
      }
      for (Case& each : varied(scan, part.vary)) all.push_back({std::move(each), part.caches});
    }
  }
  return all;
}

}  // namespace scanlab::cli
