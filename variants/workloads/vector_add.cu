// vector_add: the sum of two arrays, item by item. Two copies in for one out: the bus up is the bottleneck.
//
// Work    `work` additions an item: of the second array's item, again and again, each sum rounded.
// Traffic 3 n.
// Source  Tutorial 08 of the CUDA Programming Series, "Streams & Async Execution", exercise 1.
#include "variants/workloads/each_item.cuh"

namespace scanlab::streams {
namespace {

struct VectorAdd {
  using Item = float;
  static constexpr int kInputs = 2;

  /// The second array runs the other way, so that an exchange of the two shows where work > 1.
  static Item input(int array, std::uint32_t value, int) {
    return array == 0 ? between_one_and_two(value) : 0.3f * between_one_and_two(kValues - 1 - value);
  }
  static Item expected(std::uint32_t value, int work) {
    return compute(input(0, value, work), input(1, value, work), work);
  }
  SCANLAB_HD static Item compute(Item sum, Item item, int work) {
    for (int i = 0; i < work; ++i) sum += item;
    return sum;
  }
};

const WorkloadRegistration kVectorAdd{
    each_item<VectorAdd>({.id = "vector_add",
                          .title = "The sum of two arrays, item by item",
                          .source = "Tutorial 08, Streams & Async Execution: exercise 1",
                          .type = ElementType::f32,
                          .inputs = 2,
                          .work = "additions"})};

}  // namespace
}  // namespace scanlab::streams
