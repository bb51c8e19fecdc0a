// square: every item squared.
//
// Work    `work` squarings an item. Before each but the first the item is brought back to [1, 2), by halving it, which
//         is exact: else a few squarings would end at infinity.
// Traffic 2 n.
// Source  Tutorial 08 of the CUDA Programming Series, "Streams & Async Execution", squareKernel.
#include "variants/workloads/each_item.cuh"

namespace scanlab::streams {
namespace {

struct Square {
  using Item = float;
  static constexpr int kInputs = 1;

  static Item input(int, std::uint32_t value, int) { return between_one_and_two(value); }
  static Item expected(std::uint32_t value, int work) { return compute(between_one_and_two(value), 0, work); }
  SCANLAB_HD static Item compute(Item item, Item, int work) {
    Item square = item * item;  // of [1, 2): in [1, 4)
    for (int i = 1; i < work; ++i) {
      item = square < 2 ? square : square / 2;
      square = item * item;
    }
    return square;
  }
};

const WorkloadRegistration kSquare{each_item<Square>({.id = "square",
                                                      .title = "Every item squared",
                                                      .source = "Tutorial 08, Streams & Async Execution: squareKernel",
                                                      .type = ElementType::f32,
                                                      .work = "squarings"})};

}  // namespace
}  // namespace scanlab::streams
