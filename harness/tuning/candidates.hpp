// The candidates of tuning: which scans, and shapes of a rival's, of which types and operators, at which sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/core/variant.hpp"

namespace scanlab::tuning {

using TypeAndOperator = std::pair<ElementType, Operator>;

/// A choice that was measured, as a table has it: without the parameters of experiments. Nothing if it is an
/// experiment.
std::optional<Choice> without_experiments(Choice choice);

/// Every candidate of this program, once with each value of each of its parameters, the others at their defaults.
std::vector<Choice> candidates();

/// The shapes of a rival, which its family names, that are compiled in for a type and operator; none if none are.
std::vector<Choice> rival_candidates(std::string_view rival, const TypeAndOperator& monoid);

/// The types and operators for which a rival's shapes are compiled in.
std::vector<TypeAndOperator> rival_monoids(std::string_view rival);

/// The references of a rival's shapes, which are never chosen: the rival as shipped, and a copy.
std::vector<Choice> rival_references(std::string_view rival);

/// Every scan that a search times: of ours if `rival` is empty, or else a rival's and its references.
std::vector<const Variant*> timed_variants(const std::string& rival);

/// Plus, max and affine of every type, and what computes more than it moves: what matters most in a few minutes.
std::vector<TypeAndOperator> usual_monoids();

/// The combinations of these that are defined.
std::vector<TypeAndOperator> defined_monoids(const std::vector<ElementType>& types,
                                             const std::vector<Operator>& operators);

/// 2^8 to 2^30, 60 odd sizes from 2^12 to 2^26, one in each 60th of that range of their logarithm, and odd sizes
/// halfway between the other powers; as far as an array is of 4 GiB or less. Rising.
std::vector<std::int64_t> tuning_sizes(const TypeAndOperator& monoid);

/// The `tuning_sizes` up to 1 GiB, since all runs that choose a rival are verified; and among these 2^22, 2^26 and the
/// largest, where every shape is timed.
std::vector<std::int64_t> rival_sizes(const TypeAndOperator& monoid);
std::vector<std::int64_t> first_rival_sizes(const TypeAndOperator& monoid);

}  // namespace scanlab::tuning
