// scanlab_nvbench: registered scans, timed by nvbench.
//
// NVIDIA's own stopwatch beside that of `scanlab bench`: the same calls of the same scans on the same items, each
// verified before and after. Options are nvbench's. The file of --json has the provenance of `scanlab bench`, as
// "context". Built where SCANLAB_NVBENCH names an nvbench; the package cuda-bench of Python has one.
#include <fstream>
#include <iostream>
#include <nvbench/main.cuh>
#include <nvbench/nvbench.cuh>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/core/variant.hpp"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/host/whole_file.hpp"
#include "harness/measure/scan_backend.hpp"
#include "harness/results/provenance.hpp"

namespace scanlab {
namespace {

ElementType element_type(const std::string& name_of) {
  for (const auto& [type, its_name] : named_values<ElementType>()) {
    if (its_name == name_of) return type;
  }
  throw std::invalid_argument("there is no type '" + name_of + "'");
}

/// Throws std::runtime_error if what is in `out` is wrong.
void expect_right(const verify::CudaReference& reference, const void* out, const BoundScan& bound,
                  const Description& about) {
  const verify::Outcome outcome = reference.compare(out, bound.plan.chain, about.kind);
  if (!outcome.passed()) throw std::runtime_error(about.id + ": " + outcome.message);
}

/// Inclusive sums by one scan, or the copy of as many items: isolated, and in batches.
void inclusive_sum(nvbench::state& state) {
  const std::string id = state.get_string("variant");
  const Problem problem{.type = element_type(state.get_string("type")), .items = state.get_int64("items")};
  const Variant* const variant = Registry::instance().find(id);
  if (variant == nullptr || !variant->backends.cuda) throw std::invalid_argument("there is no scan '" + id + "'");
  const BoundScan bound = variant->bind(problem);
  if (!bound.plan.possible()) {
    state.skip(bound.plan.refusal);
    return;
  }
  const verify::CudaReference reference(verify::Oracle(problem, measure::kTimedInput, 1));
  const std::size_t bytes = problem.array_bytes();
  const cuda::DeviceBuffer out(bytes);
  const cuda::DeviceBuffer workspace(bound.plan.workspace_bytes);
  const Buffers buffers{.in = reference.input(), .out = out.data(), .workspace = workspace.data()};
  const cuda::Stream stream;
  if (bound.prepare_cuda) bound.prepare_cuda(workspace.data(), stream.get());
  bound.cuda(buffers, stream.get());
  stream.synchronize();
  expect_right(reference, out.data(), bound, variant->about);
  cuda::check(cudaMemset(out.data(), 0xFF, bytes), "poisoning the output");

  state.add_element_count(problem.items);
  state.add_global_memory_reads<char>(bytes);
  state.add_global_memory_writes<char>(bytes);
  state.exec([&](nvbench::launch& launch) { bound.cuda(buffers, launch.get_stream().get_stream()); });
  expect_right(reference, out.data(), bound, variant->about);
}
NVBENCH_BENCH(inclusive_sum)
    .add_string_axis("variant", {"cub_device_scan", "best", "memcpy"})
    .add_string_axis("type", {"i32"})
    .add_int64_power_of_two_axis("items", {20, 22, 24, 26, 28});

/// The file that --json names; empty without it.
std::string results_file(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "--json") return words[i + 1];
  }
  return {};
}

/// First, so that who reads the beginning sees whose file it is.
void add_context(const std::string& path, const measure::Facts& context) {
  measure::Facts results{{"context", context}};
  results.update(measure::Facts::parse(std::ifstream(path)));
  WholeFile(path, true).write(results.dump(1) + "\n");
}

int timed_by_nvbench(int argc, char** argv) { NVBENCH_MAIN_BODY(argc, argv) }

}  // namespace
}  // namespace scanlab

int main(int argc, char** argv) try {
  const std::vector<std::string> words(argv, argv + argc);
  const std::string path = scanlab::results_file(words);
  scanlab::measure::Facts context{{"schema", "scanlab-nvbench/1"}};
  if (!path.empty()) context.update(scanlab::measure::measured_on("scanlab_nvbench", words));
  const int status = scanlab::timed_by_nvbench(argc, argv);
  if (status == 0 && !path.empty()) scanlab::add_context(path, context);
  return status;
} catch (const std::exception& error) {
  std::cerr << "scanlab_nvbench: " << error.what() << "\n";
  return 1;
}
