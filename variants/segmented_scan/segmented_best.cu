// key_best and segment_best: the fastest scan by key, or of segments, for the problem.
#include "harness/core/first_possible.hpp"
#include "variants/segmented_scan/segmented.hpp"

namespace scanlab::segmented {
namespace {

template <Primitive kPrimitive>
struct Best {
  template <class Op>
  static constexpr bool kTakes = kSegmented<Op>;

  static Description describe() {
    constexpr bool kByKey = kPrimitive == Primitive::scan_by_key;
    Description about = describe_segmented(kPrimitive, false);
    about.id = kByKey ? "key_best" : "segment_best";
    about.title = kByKey ? "The fastest scan by key" : "The fastest segmented scan";
    about.source = "Scanlab";
    about.family = "tuned choice";
    about.bitwise_reproducible = false;
    about.cost.work = "of the chosen";
    about.cost.span = "of the chosen";
    return about;
  }
};

/// Keys of 8 bytes beside shorter items leave little room in the ring of key_look_ahead.
std::vector<const char*> scans_by_key(const Problem& problem) {
  if (problem.segments.width == 8 && item_bytes(problem.type, problem.op) < 8) return {"key_bits", "key_pairs"};
  return {"key_wave", "key_look_ahead", "key_pairs"};
}
/// One block of segment_wave reads all offsets that fall into its tile, which are many if segments are empty.
std::vector<const char*> segmented_scans(const Problem& problem) {
  if (problem.segments.entries(problem.items) > problem.items / 4) return {"segment_look_ahead", "segment_pairs"};
  return {"segment_wave", "segment_look_ahead", "segment_pairs"};
}

const Registration kKeyBest{first_possible<Best<Primitive::scan_by_key>>(scans_by_key)};
const Registration kSegmentBest{first_possible<Best<Primitive::segmented_scan>>(segmented_scans)};

}  // namespace
}  // namespace scanlab::segmented
