// best: the fastest of the others for this n, type, operator and device.
//
// Idea    No scan is the fastest for every n: a block's registers suffice for few items, a cluster's or the device's
//         for more, and beyond that bulk copies in flight decide. Which is best where was measured: a table a device,
//         in data/tuned/, which `scanlab tune` writes. SCANLAB_TUNING=FILE names another.
// Safe    Where no table fits: one_block for what a block holds, else decoupled_lookback, which runs anywhere. The
//         same for arrays that do not suit what the table says: one array in place for redundant_reduce, arrays that
//         are not aligned to 16 bytes for look_ahead, which copies those by hand.
// Bits    Not fixed, since decoupled_lookback's are not. Where look_ahead or a smaller one is chosen, they are, but for
//         arrays that do not suit it.
// Source  the harness's own measurements.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/scan_variant.hpp"
#include "harness/tuning/tuning_table.hpp"
#if defined(__CUDACC__)
#include "harness/cuda/device.hpp"
#endif

namespace scanlab::scan {
namespace {

constexpr std::size_t kAlignment = 256;  // of a workspace, and so of its parts

struct Best {
  static Description describe() {
    Description about;
    about.id = "best";
    about.title = "The variant that tuning on the device chose";
    about.source = "scanlab tune";
    about.family = "tuned choice";
    about.in_place = true;
    about.bitwise_reproducible = false;
    about.cost = {.work = "of the chosen", .span = "of the chosen", .traffic = "2n"};
    return about;
  }
};

/// The table of this device; null if there is none, or no device.
const TuningTable* table() {
#if defined(__CUDACC__)
  static const cuda::DeviceProbe probe = cuda::probe_device();
  if (probe.facts) return tuning_table(probe.facts->name, probe.facts->multiprocessors);
#endif
  return tuning_table("", 0);
}

/// A scan with its name.
struct Named {
  Choice choice;
  BoundScan scan;
};

/// The first that takes the problem, or the last.
Named first_possible(const std::vector<Choice>& choices, const Problem& problem) {
  Named named;
  for (const Choice& choice : choices) {
    named = {choice, bind(choice, problem)};
    if (named.scan.plan.possible()) break;
  }
  return named;
}

constexpr char kOfAligned[] = "look_ahead";  // takes all, but is fast where arrays are aligned

/// Whether a variant takes such arrays, and by what is fast about it. `aligned`: to 16 bytes.
bool suits(const Variant& variant, bool in_place, bool aligned) {
  return (variant.about.in_place || !in_place) && (variant.about.id != kOfAligned || aligned);
}
bool suits(const Variant& variant, const Buffers& buffers) {
  const auto address = [](const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
  return suits(variant, buffers.in == buffers.out, (address(buffers.in) | address(buffers.out)) % 16 == 0);
}

/// `first`, or `second` where first has no form for the machine, or arrays do not suit it. Both have a part of the
/// workspace.
BoundScan either(const Named& first, const Named& second) {
  const Variant* const variant = Registry::instance().find(first.choice.variant);
  const std::size_t offset = (first.scan.plan.workspace_bytes + kAlignment - 1) / kAlignment * kAlignment;
  const auto part = [offset](void* workspace) -> void* { return static_cast<unsigned char*>(workspace) + offset; };
  const auto run = [variant, part](const auto& of_first, const auto& of_second) {
    return [=](Buffers buffers, auto&& machine) {
      if (of_first && suits(*variant, buffers)) return of_first(buffers, machine);
      buffers.workspace = part(buffers.workspace);
      of_second(buffers, machine);
    };
  };
  const auto prepare = [part](const auto& of_first, const auto& of_second) {
    return [=](void* workspace, auto&& machine) {
      if (of_first) of_first(workspace, machine);
      if (of_second) of_second(part(workspace), machine);
    };
  };
  BoundScan bound = first.scan;
  bound.plan.workspace_bytes = offset + second.scan.plan.workspace_bytes;
  bound.plan.chain = std::max(first.scan.plan.chain, second.scan.plan.chain);
  const bool suits_all = suits(*variant, /*in_place=*/true, /*aligned=*/false);
  if (!suits_all || !first.scan.simt) {
    bound.simt = run(first.scan.simt, second.scan.simt);
    bound.prepare_simt = prepare(first.scan.prepare_simt, second.scan.prepare_simt);
  }
  if (!suits_all) {
    bound.cuda = run(first.scan.cuda, second.scan.cuda);
    bound.prepare_cuda = prepare(first.scan.prepare_cuda, second.scan.prepare_cuda);
  }
  return bound;
}

BoundScan bind_best(const Problem& problem) {
  const Named safe = first_possible({{"one_block"}, {"decoupled_lookback"}}, problem);
  const TuningTable* const measured = table();
  Named chosen = measured == nullptr ? safe : first_possible(measured->choices(problem), problem);
  if (!chosen.scan.plan.possible() || chosen.choice.variant.empty()) chosen = safe;
  BoundScan bound = chosen.choice == safe.choice ? safe.scan : either(chosen, safe);
  if (bound.plan.possible()) bound.plan.choice = chosen.choice;
  return bound;
}

Variant best() {
  Variant variant;
  variant.about = Best::describe();
  describe_monoids<Best>(variant.about);
  variant.backends.simt = true;
#if defined(__CUDACC__)
  variant.backends.cuda = true;
#endif
  variant.bind = [about = variant.about](const Problem& problem) {
    BoundScan refused;
    refused.plan = Plan::refuse(unsupported(about, problem));
    return refused.plan.possible() ? bind_best(problem) : refused;
  };
  return variant;
}

const Registration kBest{best()};

}  // namespace
}  // namespace scanlab::scan
