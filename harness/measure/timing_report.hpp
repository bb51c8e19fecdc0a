// Reports and exit statuses that all timing commands share.
#pragma once

#include <concepts>
#include <ostream>
#include <string>
#include <vector>

#include "harness/measure/loop.hpp"

namespace scanlab::measure {

using Timings = std::vector<const Timing*>;

template <std::derived_from<Timing> Timed>
Timings timings(const std::vector<Timed>& all) {
  Timings pointers;
  for (const Timed& timed : all) pointers.push_back(&timed);
  return pointers;
}

/// "yes", "FAILED", or "before only" if the output after the last run was not looked at.
std::string verified_in_words(const Timing& timing);

/// Cases that were not timed, those of one reason together.
void print_untimed(const Timings& all, std::ostream& out);

/// kInterrupted after Ctrl-C, kFailed if a case failed, kOutOfMemory if one was skipped for lack of memory, else kOk.
int status_of(const Timings& all);

/// As status_of(), but kBadInput and a sentence where it is kOk though every case was skipped.
int status_or_nothing_ran(const Timings& all, std::ostream& err);

}  // namespace scanlab::measure
