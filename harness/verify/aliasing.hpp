// Where the input and the output of a run lie. A scan is asked of a user's pointers, not of an allocator's.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace scanlab::verify {

enum class Aliasing {
  apart,     ///< two arrays, both aligned as the device allocates them
  shifted,   ///< parts of two arrays, from the second, fourth, sixth item on: aligned to an item and to no more
  in_place,  ///< one array: the output takes the input's place. Only of variants that say they can
};
inline constexpr std::array kAliasings{Aliasing::apart, Aliasing::shifted, Aliasing::in_place};
std::string_view name(Aliasing aliasing);

/// Items of an aligned array before the span that is scanned, and before the span that is written.
struct Shift {
  std::int64_t in = 0;
  std::int64_t out = 0;
};

/// Every shift that a aliasing is tried with. One aligned array beside one that is not tells a scan that asks one of
/// its pointers only; in place both are one.
std::span<const Shift> shifts(Aliasing aliasing);

/// Begins the message of a fault: which run and which shift, or nothing for the first run of aligned arrays.
std::string run_name(Aliasing aliasing, const Shift& shift, bool second_run);

}  // namespace scanlab::verify
