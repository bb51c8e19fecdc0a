#include "harness/measure/scan_sweeps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

#include "harness/selection/scan_selection.hpp"

namespace scanlab::measure {

namespace {

/// Every power of two from 2^8 to 2^`most`, and 20 sizes between, always the same ones: each a random
/// octave, and a random place in it.
std::string powers_and_random_sizes(int most) {
  constexpr int kMin = 8;
  constexpr int kRandomSizes = 20;
  std::mt19937_64 random(static_cast<std::uint64_t>(most));
  std::string words = fmt::format("2^{}:2^{}:x2", kMin, most);
  for (int i = 0; i < kRandomSizes; ++i) {
    const auto octaves = static_cast<std::uint64_t>(most - kMin);
    const std::uint64_t octave = std::uint64_t{1} << (kMin + random() % octaves);
    words += fmt::format(",{}", octave + random() % octave);
  }
  return words;
}

/// Odd sizes, always the same ones, log-uniform from 2^12 to 2^22: where two scans are the closest.
std::string odd_sizes(std::uint64_t seed) {
  constexpr int kSizes = 24;
  std::mt19937_64 random(seed);
  std::string words;
  for (int i = 0; i < kSizes; ++i) {
    const double octave = 12 + 10 * (i + static_cast<double>(random() >> 11) * 0x1p-53) / kSizes;
    words += fmt::format("{}{}", i == 0 ? "" : ",", static_cast<std::int64_t>(std::exp2(octave)) | 1);
  }
  return words;
}

}  // namespace

const std::vector<ScanSweep>& scan_sweeps() {
  using enum ScanSweepPart::Who;
  static const std::vector<Cache> cold{Cache::cold};
  static const std::vector<Cache> warm{Cache::warm};
  static const std::vector<Cache> cold_and_warm{Cache::cold, Cache::warm};
  static const std::vector<Launch> stream{Launch::stream};
  static const std::vector<Launch> graph{Launch::graph};
  static const std::vector<Launch> batch{Launch::batch};
  static const std::vector<Launch> pipeline{Launch::pipeline};
  static const std::vector<Launch> both{Launch::stream, Launch::graph};
  static const std::string narrow_sizes = powers_and_random_sizes(30);
  static const std::string wide_sizes = powers_and_random_sizes(28);
  static const std::string odd = odd_sizes(1);
  static const std::vector<ScanSweep> all{
      {.name = "full",
       .about = "the ladder to 2^30 and every figure of scans",
       .rounds = 11,
       .seconds = 3e-3,
       .parts =
           {
               {general, {{"items", "2^8:2^30:x2"}}, cold_and_warm, both},    // the ladder
               {device, {{"items", "2^10:2^28:x2"}}, cold_and_warm, stream},  // and what led to it
               {general, {{"items", "2^8:2^20:x4"}}, warm, batch},            // without the host's part of short runs
               {general, {{"items", "2^16:2^28:x16"}}, warm, pipeline},       // as a part of a program
               {device, {{"items", "1000,100000,1000000,10000000,100000000"}}, cold, stream},  // not powers of two
               {device, {{"mode", "exclusive"}, {"items", "2^16:2^28:x16"}}, cold, stream},
               {device, {{"type", "i64,f64"}, {"items", "2^16:2^28:x16"}}, cold, stream},
               {device, {{"type", "i8,i16,f16,f32"}, {"items", "2^16:2^28:x16,2^30"}}, cold, stream},
               {device, {{"type", "i32,f32"}, {"op", "max,min,affine"}, {"items", "2^16:2^28:x16"}}, cold, stream},
               {general, {{"type", "i32,f32"}, {"op", "affine"}, {"items", "2^27"}}, cold, stream},
               {device, {{"items", "2^10:2^28:x4"}}, cold, stream, "padding"},
               {device, {{"items", "2^20,2^24"}}, cold, stream, "load"},
               {device, {{"items", "2^20,2^24"}}, cold, stream, "levels"},
               {device, {{"items", "2^20,2^24,2^28"}}, cold, stream, "tile"},
               {device, {{"items", "2^20,2^24,2^28"}}, cold, stream, "threads"},
               {device, {{"items", "2^20,2^24,2^28"}}, cold, stream, "stages"},
               {device, {{"items", "2^20,2^24,2^28"}}, cold, stream, "loading"},
               {device, {{"items", "2^20,2^24,2^28"}}, cold_and_warm, stream, "assignment"},
               {device, {{"items", "2^20,2^24,2^28"}}, cold_and_warm, stream, "early"},
               {device, {{"items", "2^20,2^24,2^28"}}, cold, stream, "asking"},
               {device, {{"items", "2^20,2^24,2^28"}}, cold, stream, "arrivals"},
               {device,
                {{"type", "f32"}, {"op", "log_sum_exp"}, {"set", "tile=49"}, {"items", "2^20,2^24,2^28"}},
                cold,
                stream,
                "folding"},
               {host, {{"items", "2^10:2^24:x2"}}, warm, stream},  // the sizes published in 2007
           }},
      {.name = "quick",
       .about = "every variant at a few sizes, in minutes",
       .rounds = 5,
       .seconds = 3e-3,
       .parts =
           {
               {device, {{"items", "2^10:2^28:x4"}}, cold_and_warm, stream},
               {general, {{"items", "2^10:2^28:x4"}}, warm, graph},
               {device, {{"mode", "exclusive"}, {"items", "2^20,2^24"}}, cold, stream},
               {device, {{"items", "2^20,2^24"}}, cold, stream, "padding"},
               {device, {{"items", "2^20,2^24"}}, cold, stream, "tile"},
               {host, {{"items", "2^10:2^24:x4"}}, warm, stream},
           }},
      {.name = "duel",
       .about = "selected variants head to head at 43 sizes, for every type, cache state and launch, with plus, max, "
                "min and affine",
       .rounds = 7,
       .seconds = 1.5e-3,
       .of_chosen = true,
       .parts =
           {
               {device,
                {{"type", "i8,i16,i32,f16,f32"}, {"op", "plus,max,min"}, {"items", narrow_sizes}},
                cold_and_warm,
                both},
               {device, {{"type", "i8,i16,f16"}, {"op", "affine"}, {"items", narrow_sizes}}, cold_and_warm, both},
               // More than 4 bytes per item:
               {device, {{"type", "i32,f32"}, {"op", "affine"}, {"items", wide_sizes}}, cold_and_warm, both},
               {device,
                {{"type", "i64,f64"}, {"op", "plus,max,min,affine"}, {"items", wide_sizes}},
                cold_and_warm,
                both},
           }},
      {.name = "duel_operators",
       .about = "the same with the operators that `full` does not have",
       .rounds = 7,
       .seconds = 1.5e-3,
       .of_chosen = true,
       .parts =
           {
               {device,
                {{"type", "i32,f32,f64"},
                 {"op", "arg_max,complex_multiply,log_sum_exp,matrix_2x2,segmented_plus"},
                 {"items", wide_sizes}},
                cold_and_warm,
                both},
           }},
      {.name = "odd_sizes",
       .about = "selected variants at 24 odd sizes from 2^12 to 2^22, sums of every type: for several processes, each "
                "with a seed of its own",
       .rounds = 3,
       .seconds = 1.5e-3,
       .of_chosen = true,
       .parts =
           {
               {device, {{"type", "i8,i16,i32,i64,f16,f32,f64"}, {"items", odd}}, cold, stream},
               {device, {{"type", "i8,i16,i32,i64,f16,f32,f64"}, {"items", odd}}, warm, graph},
           }},
      {.name = "counters",
       .about = "variants with bank conflicts, for ncu to count; add --once",
       .rounds = 1,
       .parts =
           {
               {device, {{"type", "i32,f64"}, {"mode", "exclusive"}, {"items", "2048,2^16"}}, cold, stream},
               {device, {{"type", "i32,f64"}, {"mode", "exclusive"}, {"items", "2048,2^16"}}, cold, stream, "padding"},
               {device, {{"mode", "exclusive"}, {"items", "2048"}}, cold, stream, "load"},
           }},
  };
  return all;
}

namespace {

bool is_of(const Variant& variant, ScanSweepPart::Who who) {
  const bool on_host = variant.machines.host && !variant.machines.cuda;
  if (on_host || who == ScanSweepPart::Who::host) return on_host && who == ScanSweepPart::Who::host;
  return who == ScanSweepPart::Who::device || variant.about.types.size() == named_values<ElementType>().size();
}

Selection select(const ScanSweepPart& part) {
  OptionWords said;
  for (const auto& [option, text] : part.words) said[option] = {text};
  Selection selection = select_scans(said);
  std::erase_if(selection.variants, [&](const Variant* variant) { return !is_of(*variant, part.who); });
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

std::vector<ScanInColumns> cases(const ScanSweep& sweep) {
  std::vector<ScanInColumns> all;
  std::vector<const Variant*> floors;
  for (const ScanSweepPart& part : sweep.parts) {
    for (const Case& scan : select(part).cases()) {
      if (!unsupported(scan.variant->about, scan.problem).empty()) continue;
      if (scan.variant->about.kind == Kind::empty_launch) {
        if (std::ranges::find(floors, scan.variant) != floors.end()) continue;
        floors.push_back(scan.variant);
      }
      for (Case& each : varied(scan, part.vary)) all.push_back({std::move(each), part.caches, part.launches});
    }
  }
  return all;
}

}  // namespace scanlab::measure
