// Advice, and what it is worth, for people.
#pragma once

#include <ostream>

#include "harness/advice/advice_score.hpp"

namespace scanlab::simulator {

/// The parts, the best choice or why streams are not worth it, and a line for each of the `show` fastest choices.
void print(const Advice& advice, const DeviceProfile& device, int show, std::ostream& out);

/// Lines per problem, the advised choice beside the fastest; then how much is lost, and how wrong predictions are.
void print(const AdviceScore& score, std::ostream& out);

}  // namespace scanlab::simulator
