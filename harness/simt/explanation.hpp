// The steps of a variant, counted on the emulator.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/core/variant.hpp"
#include "harness/simt/report.hpp"

namespace scanlab::simt {

struct Explanation {
  Case explained_case;
  Report report;
  double seconds = 0;  ///< duration of the trace
};

/// Every variant that has a form for the emulator, with every value of its padding and of its loads, in both modes, at
/// the sizes that figures use; `quick`: at fewer.
std::vector<Case> usual_cases(bool quick);

/// Why a case cannot be explained; empty if it can.
std::string unexplainable(const Case& chosen);

/// Runs the case on the emulator, tracing. A fault that stops a launch is in the report like any other. Throws
/// CommandError if there is no memory for it.
Explanation explain(const Case& chosen);

/// Each launch with its steps, as a table.
void print_launches(const Report& report, std::ostream& out);
/// Each fault by file and line, or that there is none.
void print_faults(const Report& report, std::ostream& out);

/// As a table, for people.
void print(const Explanation& explanation, std::ostream& out);
/// Without provenance.
nlohmann::ordered_json to_json(const Explanation& explanation);

}  // namespace scanlab::simt
