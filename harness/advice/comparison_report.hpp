// Predictions of the engine model held against measured traces, for people.
#pragma once

#include <ostream>

#include "harness/advice/comparison.hpp"

namespace scanlab::simulator {

/// A line: makespans, the error, and the overlapping pairs of operations that the prediction keeps.
void print(const ComparedTrace& one, std::ostream& out);

/// A line per operation: how wrong its start, end and duration are.
void print_operations(const ComparedTrace& one, std::ostream& out);

/// The errors of all traces, with and without their hardware work queues.
void print(const ComparisonSummary& summary, std::ostream& out);

}  // namespace scanlab::simulator
