// The candidates as two variants, one for each of CUB's algorithms: their settings are the fields of the shape.
#include <algorithm>
#include <limits>

#include "baselines/cub_candidates/candidates.hpp"
#include "baselines/cub_chain.hpp"
#include "baselines/cub_compiled.hpp"
#include "harness/cuda/launch.cuh"
#include "harness/cuda/registration.cuh"

namespace scanlab {
namespace {

/// Each parameter of a shape, with every value that a candidate has.
template <class Shape>
std::vector<Parameter> parameters_of() {
  std::vector<Parameter> parameters;
  for_each_cub_candidate([&]<class Each>(auto, const Each& shape) {
    if constexpr (std::is_same_v<Each, Shape>) {
      for (const auto& [name, value] : shape.settings()) {
        auto parameter = std::ranges::find(parameters, name, &Parameter::name);
        if (parameter == parameters.end()) {
          parameter =
              parameters.insert(parameter, {.name = name, .values = {}, .meaning = "as in CUB's tuning policy"});
        }
        if (std::ranges::find(parameter->values, value) == parameter->values.end()) parameter->values.push_back(value);
      }
    }
  });
  return parameters;
}

template <class Op, class... Ops>
constexpr bool is_among(std::tuple<Ops...>) {
  return (std::is_same_v<Op, Ops> || ...);
}

template <class Shape>
class CubShapeScan {
 public:
  template <class Op>
  static constexpr bool kTakes = is_among<Op>(CubMonoids{});

  static Description describe() {
    static const std::vector<Parameter> parameters = parameters_of<Shape>();
    return {
        .id = Shape::kVariant,
        .title = std::string("CUB DeviceScan, ") + (kLooksAhead ? "look-ahead" : "look-back") + ", in a given shape",
        .source = "NVIDIA CCCL, cub/device/device_scan.cuh, with cuda::execution::tune",
        .family = "CUB",
        .label = kLooksAhead ? "CUB, look-ahead" : "CUB, look-back",
        .overview = false,
        .parameters = parameters,
        .shapes = compiled_shapes,
        .limits = "inclusive scans of up to 2^31 - 1 items, in the shapes that are compiled in",
        .in_place = true,
        .bitwise_reproducible = false,
        .cost = {.work = "O(n)", .span = "O(log n) a tile, then a chain of tiles", .traffic = "2n"},
    };
  }

  explicit CubShapeScan(const Problem& problem) : problem_(problem) {
    const Description about = describe();
    Choice shape{Shape::kVariant, {}};
    for (const Parameter& each : about.parameters) {
      shape.settings[each.name] = setting(about, problem.settings, each.name);
    }
    enqueue_ = find_compiled_cub_scan(problem, shape);
  }

  Plan plan() const {
    if (enqueue_ == nullptr) {
      return Plan::refuse(std::string(Shape::kVariant) + " is not compiled in this shape for " +
                          std::string(name(problem_.op)) + " of " + std::string(name(problem_.type)));
    }
    if (problem_.mode != Mode::inclusive)
      return Plan::refuse("the shapes of CUB are compiled for inclusive scans alone");
    if (problem_.items > std::numeric_limits<int>::max()) {
      return Plan::refuse("the shapes of CUB are compiled for at most 2^31 - 1 items");
    }
    if constexpr (kLooksAhead) {
      std::string reason = look_ahead_refusal(Shape::kVariant, cuda::compute_capability());
      if (!reason.empty()) return Plan::refuse(std::move(reason));
    }
    Plan plan{.chain = cub_chain(problem_) + kLookAheadChain};
    const cudaError_t error =
        enqueue_(problem_.mode, nullptr, 0, &plan.workspace_bytes, nullptr, nullptr, problem_.items, nullptr);
    if (plan.workspace_bytes == 0) {
      return Plan::refuse(std::string("CUB refuses this shape: ") + cudaGetErrorString(error));
    }
    return plan;
  }

  template <class Op>
  void run(cudaStream_t stream, Op, const typename Op::Item* in, typename Op::Item* out, void* workspace,
           std::size_t bytes) const {
    cuda::check(enqueue_(problem_.mode, workspace, bytes, nullptr, in, out, problem_.items, stream), "cub::DeviceScan");
  }

 private:
  static constexpr bool kLooksAhead = std::is_same_v<Shape, CubLookAhead>;

  static std::vector<Settings> compiled_shapes(ElementType type, Operator op) {
    std::vector<Settings> shapes;
    for (const CompiledCubScan& each : compiled_cub_scans()) {
      if (each.type == type && each.op == op && each.choice.variant == Shape::kVariant) {
        shapes.push_back(each.choice.settings);
      }
    }
    return shapes;
  }

  Problem problem_;
  EnqueueCub enqueue_ = nullptr;
};

const Registration look_ahead{cuda::cuda_scan<CubShapeScan<CubLookAhead>>(Origin::baseline)};
const Registration look_back{cuda::cuda_scan<CubShapeScan<CubLookBack>>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
