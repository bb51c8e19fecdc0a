#include "harness/verify/aliasing.hpp"

#include <fmt/format.h>

namespace scanlab::verify {

std::string_view name(Aliasing aliasing) {
  constexpr std::array<std::string_view, 3> kNames{"apart", "shifted", "in_place"};
  return kNames[static_cast<std::size_t>(aliasing)];
}

std::span<const Shift> shifts(Aliasing aliasing) {
  static constexpr std::array kAligned{Shift{0, 0}};
  static constexpr std::array kShifted{Shift{1, 3}, Shift{3, 1}, Shift{5, 5}, Shift{0, 1}, Shift{1, 0}};
  static constexpr std::array kInPlace{Shift{0, 0}, Shift{3, 3}};
  if (aliasing == Aliasing::shifted) return kShifted;
  if (aliasing == Aliasing::in_place) return kInPlace;
  return kAligned;
}

std::string run_name(Aliasing aliasing, const Shift& shift, bool second_run) {
  std::string words;
  if (second_run) words += "on the second run";
  if (aliasing != Aliasing::apart) {
    words += words.empty() ? "" : ", ";
    words += aliasing == Aliasing::in_place
                 ? fmt::format("in place from element {}", shift.in)
                 : fmt::format("input from element {}, output from element {}", shift.in, shift.out);
  }
  return words.empty() ? words : words + ": ";
}

}  // namespace scanlab::verify
