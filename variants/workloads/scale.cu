// scale: every item times a factor.
//
// Idea    The smallest kernel there is: copies bound it, unless `work` makes it longer.
// Work    `work` multiplications an item, each of the product before: rounded each time, so that no compiler may fold
//         them into one.
// Traffic 2 n.
// Source  Tutorial 08 of the CUDA Programming Series, "Streams & Async Execution", scaleKernel.
#include "variants/workloads/each_item.cuh"

namespace scanlab::streams {
namespace {

struct Scale {
  using Item = float;
  static constexpr int kInputs = 1;
  /// So little that a million multiplications of it stay below 3.
  static constexpr float kFactor = 1.000001f;

  static Item input(int, std::uint32_t value, int) { return between_one_and_two(value); }
  static Item expected(std::uint32_t value, int work) { return compute(between_one_and_two(value), 0, work); }
  SCANLAB_HD static Item compute(Item item, Item, int work) {
    for (int i = 0; i < work; ++i) item *= kFactor;
    return item;
  }
};

const WorkloadRegistration kScale{each_item<Scale>({.id = "scale",
                                                    .title = "Every item times a factor",
                                                    .source = "Tutorial 08, Streams & Async Execution: scaleKernel",
                                                    .type = ElementType::f32,
                                                    .work = "multiplications"})};

}  // namespace
}  // namespace scanlab::streams
