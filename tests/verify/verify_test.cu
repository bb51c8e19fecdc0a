// The checker is checked: each fault is planted once and must be caught, on the CPU and, where there is one, on a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/core/scan_variant.hpp"
#include "harness/simt/registration.hpp"
#include "harness/verify/guard.hpp"
#include "harness/verify/verification.hpp"
#if defined(__CUDACC__)
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/launch.cuh"
#include "harness/cuda/registration.cuh"
#include "harness/cuda/stream.hpp"
#include "harness/verify/cuda_verification.hpp"
#include "tests/needs_gpu.hpp"
#endif

namespace scanlab::verify {
namespace {

enum class Defect {
  none,
  corrupted_element,
  swapped_operand,
  one_element_too_many,
  nan_output,
  nothing_written,
  dropped_barrier,
  writes_input,
};

constexpr std::int64_t kMaxItems = 256;
constexpr std::uint64_t kSeed = 11;

/// Hillis-Steele over one block, with one defect.
template <Defect kDefect>
struct DefectiveKernel {
  static constexpr const char* kName = "defective";
  static constexpr int kMaxThreads = kMaxItems;

  template <simt::ThreadBlock Block, Monoid Op>
  SCANLAB_HD void operator()(Block& block, simt::Global<Block, const typename Op::Item> in,
                             simt::Global<Block, typename Op::Item> out, int n, Op op) const {
    using Item = typename Op::Item;
    auto temp = block.template shared<Item>(2 * n);
    const int t = block.thread_rank();
    Item item = in[t];
    temp[t] = item;
    int from = 0;
    for (int offset = 1; offset < n; offset *= 2) {
      if (kDefect != Defect::dropped_barrier || offset != 4) block.sync();  // the buffer to be read is complete
      if (t >= offset) {
        const Item left = temp[from + t - offset];
        const Item right = temp[from + t];
        item = kDefect == Defect::swapped_operand && offset == 2 ? op(right, left) : op(left, right);
      }
      from = n - from;
      temp[from + t] = item;
    }
    if (kDefect == Defect::nothing_written) return;
    if (kDefect == Defect::corrupted_element && t == n / 2) item = op(item, item);
    if constexpr (kDefect == Defect::nan_output && std::is_floating_point_v<Item>) {
      if (t == n / 2) item = std::numeric_limits<Item>::quiet_NaN();
    }
    out[t] = item;
    if (kDefect == Defect::one_element_too_many && t == n - 1) out[n] = item;
  }
};

template <Defect kDefect>
struct DefectiveScan {
  /// A defect shows in one problem, and each operator takes its time to compile.
  template <class Op>
  static constexpr bool kTakes =
      kDefect == Defect::none || std::is_same_v<Op, Affine<std::int32_t>> || std::is_same_v<Op, Plus<float>>;

  explicit DefectiveScan(const Problem& problem) : items(problem.items) {}
  static Description describe() {
    Description about;
    about.id = "defective";
    if (kDefect == Defect::nan_output) {  // of an item that can be a NaN
      about.types = {ElementType::f32, ElementType::f64};
      about.operators = {Operator::plus};
    }
    return about;
  }
  Plan plan() const {
    if (items > kMaxItems) return Plan::refuse("n <= 256");
    return {.chain = ceil_log2(std::max<std::int64_t>(items, 1))};
  }
  template <class Machine, Monoid Op>
  void run(Machine& machine, Op op, simt::Arrays<Machine, typename Op::Item> arrays, simt::Workspace) const {
    if (items == 0) return;
    const int n = static_cast<int>(items);
    machine.launch({.blocks = 1, .threads = n, .shared_bytes = 2 * n * sizeof(typename Op::Item)},
                   DefectiveKernel<kDefect>{}, arrays.in, arrays.out, n, op);
  }
  std::int64_t items;
};

Problem problem_of(ElementType type, Operator op, std::int64_t n, Mode mode = Mode::inclusive) {
  return {type, op, mode, n, {}};
}

/// The problem in which a defect must show: affine, since it does not commute.
Problem telling_problem(Defect defect) {
  return defect == Defect::nan_output ? problem_of(ElementType::f32, Operator::plus, 100)
                                      : problem_of(ElementType::i32, Operator::affine, 100);
}

Outcome on_emulator(const Variant& variant, const Problem& problem, simt::EmulatorOptions options = {}) {
  return verify_on_cpu(variant, problem, Oracle(problem, InputKind::random, kSeed), options);
}

template <Defect kDefect>
Outcome on_emulator(simt::EmulatorOptions options = {}) {
  return on_emulator(simt::portable_scan<DefectiveScan<kDefect>>(), telling_problem(kDefect), options);
}

/// Expects that `outcome` failed with a message that contains `words`.
testing::AssertionResult caught(const Outcome& outcome, const std::string& words) {
  if (outcome.status != Outcome::Status::failed) return testing::AssertionFailure() << "it was not caught";
  if (outcome.message.find(words) == std::string::npos) return testing::AssertionFailure() << outcome.message;
  return testing::AssertionSuccess() << outcome.message;
}

/// The sums of 32-bit integers, from an input to an output that may be the same.
void add_up(const Buffers& buffers, std::int64_t items) {
  const auto* in = static_cast<const std::int32_t*>(buffers.in);
  auto* out = static_cast<std::int32_t*>(buffers.out);
  std::int32_t sum = 0;
  for (std::int64_t i = 0; i < items; ++i) out[i] = sum = wrapping_add(sum, in[i]);
}

/// A scan on the host that does nothing but call `look`, run by run from 0 on.
Variant looking(std::function<void(const Buffers&, int run)> look, Plan plan = {}) {
  Variant variant;
  variant.about.id = "looking";
  variant.about.in_place = true;
  variant.backends.host = true;
  variant.bind = [look = std::move(look), plan = std::move(plan)](const Problem&) {
    BoundScan bound;
    bound.plan = plan;
    bound.host = [look, run = std::make_shared<int>(0)](const Buffers& buffers) { look(buffers, (*run)++); };
    return bound;
  };
  return variant;
}

TEST(VerifyOnEmulator, ARightScanPassesForEveryTypeOperatorAndInput) {
  const Variant scan = simt::portable_scan<DefectiveScan<Defect::none>>();
  for (const auto& [type, op] : compiled_monoids()) {
    for (const InputKind kind : kInputKinds) {
      for (const std::int64_t n : {0, 1, 2, 31, 32, 33, 256}) {
        const Problem problem = problem_of(type, op, n);
        const Outcome outcome = verify_on_cpu(scan, problem, Oracle(problem, kind, kSeed), {});
        EXPECT_TRUE(outcome.passed()) << name(type) << " " << name(op) << " " << name(kind) << " n = " << n << ": "
                                      << outcome.message;
        EXPECT_LE(outcome.error_to_bound, 1);
      }
    }
  }
}

/// The worst of two runs in each of several shifts counts.
TEST(VerifyOnEmulator, TellsTheLargestErrorOfAllRuns) {
  constexpr std::int64_t kItems = 100;
  const Problem sums = problem_of(ElementType::f32, Operator::plus, kItems);
  const Oracle oracle(sums, InputKind::random, kSeed);
  const auto worst = [&](int at_run) {
    const Variant scan = looking(
        [=](const Buffers& b, int run) {
          const auto* in = static_cast<const float*>(b.in);
          auto* out = static_cast<float*>(b.out);
          double sum = 0;
          for (std::int64_t i = 0; i < kItems; ++i) out[i] = static_cast<float>(sum += static_cast<double>(in[i]));
          if (run == at_run) out[kItems - 1] += 30 * 0x1p-24F;
        },
        {.chain = kItems});
    const Outcome outcome = verify_on_cpu(scan, sums, oracle, {}, Aliasing::shifted);
    EXPECT_TRUE(outcome.passed()) << outcome.message;
    return outcome.error_to_bound;
  };
  const double usual = worst(-1);
  for (const int run : {0, 1, 4, 9}) EXPECT_GT(worst(run), 1.5 * usual) << run;
}

TEST(VerifyOnEmulator, CatchesEachDefect) {
  EXPECT_TRUE(caught(on_emulator<Defect::corrupted_element>(), "1 of 100 items wrong, the first at 50"));
  EXPECT_TRUE(caught(on_emulator<Defect::swapped_operand>(), "items wrong"));
  EXPECT_TRUE(caught(on_emulator<Defect::nan_output>(), "got nan"));
  EXPECT_TRUE(caught(on_emulator<Defect::nothing_written>(), "100 of 100 items wrong"));
  EXPECT_TRUE(caught(on_emulator<Defect::nothing_written>(), "never written"));
  for (const Outcome& outcome : {on_emulator<Defect::one_element_too_many>(), on_emulator<Defect::dropped_barrier>()}) {
    EXPECT_TRUE(caught(outcome, "verify_test.cu:"));
  }
  EXPECT_TRUE(caught(on_emulator<Defect::one_element_too_many>(), simt::name(simt::FaultKind::out_of_bounds)));
  EXPECT_TRUE(caught(on_emulator<Defect::dropped_barrier>(), simt::name(simt::FaultKind::race)));
  // Without a trace no race is seen, but threads in a random order get other sums.
  EXPECT_TRUE(caught(
      on_emulator<Defect::dropped_barrier>({.trace = false, .order = simt::BlockOrder::interleaved, .seed = kSeed}),
      "items wrong"));
}

TEST(VerifyOnEmulator, CatchesOutputThatWasNeverWrittenWhereItShouldBeZero) {
  const Problem sums = problem_of(ElementType::i32, Operator::plus, 100, Mode::exclusive);
  const Variant begins_late =
      looking([](const Buffers& b, int) { add_up({.in = b.in, .out = static_cast<std::int32_t*>(b.out) + 1}, 99); });
  EXPECT_TRUE(caught(on_emulator(begins_late, sums), "1 of 100 items wrong, the first at 0"));
}

TEST(VerifyOnEmulator, ARefusalIsASkipWithItsReason) {
  const Variant scan = simt::portable_scan<DefectiveScan<Defect::none>>();
  const Outcome outcome = on_emulator(scan, problem_of(ElementType::i32, Operator::plus, 257));
  EXPECT_EQ(outcome.status, Outcome::Status::skipped);
  EXPECT_EQ(outcome.message, "n <= 256");
}

/// Takes three items of memory for each that it scans, whatever it asks for. If that is a byte, its plan throws.
struct Greedy {
  static inline std::size_t asks_for = 0;
  template <class Op>
  static constexpr bool kTakes = std::is_same_v<Op, Plus<float>>;

  explicit Greedy(const Problem& problem) : items(problem.items) {}
  static Description describe() {
    Description about;
    about.id = "greedy";
    return about;
  }
  Plan plan() const {
    if (asks_for == 1) throw std::out_of_range("there is no level 3");
    return {.workspace_bytes = asks_for};
  }
  template <class Machine, Monoid Op>
  void run(Machine& machine, Op, simt::Arrays<Machine, typename Op::Item>, simt::Workspace workspace) const {
    machine.global(workspace.take<typename Op::Item>(3 * items), 3 * items, "sums");
  }
  std::int64_t items;
};

TEST(VerifyOnEmulator, CatchesAPlanThatAsksForTooLittle) {
  const Variant scan = simt::portable_scan<Greedy>();
  const Problem problem = problem_of(ElementType::f32, Operator::plus, 100);
  Greedy::asks_for = 1199;
  EXPECT_TRUE(caught(on_emulator(scan, problem), "no room for 'sums', 300 items of 4 bytes"));
  Greedy::asks_for = 1200;
  EXPECT_FALSE(caught(on_emulator(scan, problem), "no room"));
}

TEST(VerifyOnEmulator, NamesTheScanWhosePlanFails) {
  const auto reason = [](std::size_t asks_for) -> std::string {
    Greedy::asks_for = asks_for;
    try {
      simt::portable_scan<Greedy>().bind(problem_of(ElementType::f32, Operator::plus, 100));
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(reason(1), "the plan of greedy failed: there is no level 3");
  EXPECT_EQ(reason(static_cast<std::size_t>(-8)),
            "the plan of greedy failed: it asks for 2^48 bytes or more, or less than none");
}

/// Counts its runs in its workspace; every run but the first of a prepared workspace goes wrong.
struct Counting {
  int prepared = 0;
  Variant variant() {
    Variant counting;
    counting.about.id = "counting";
    counting.backends.simt = true;
    counting.bind = [this](const Problem& problem) {
      BoundScan bound;
      bound.plan.workspace_bytes = sizeof(int);
      bound.prepare_simt = [this](void* workspace, simt::Emulator&) {
        ++prepared;
        *static_cast<int*>(workspace) = 0;
      };
      bound.simt = [n = problem.items](const Buffers& buffers, simt::Emulator&) {
        add_up(buffers, n);
        if ((*static_cast<int*>(buffers.workspace))++ > 0) ++static_cast<std::int32_t*>(buffers.out)[0];
      };
      return bound;
    };
    return counting;
  }
};

TEST(VerifyOnEmulator, CatchesAWorkspaceLeftStaleOnTheSecondRun) {
  Counting counting;
  const Outcome outcome = on_emulator(counting.variant(), problem_of(ElementType::i32, Operator::plus, 100));
  EXPECT_TRUE(caught(outcome, "on the second run: 1 of 100 items wrong"));
  EXPECT_EQ(counting.prepared, 1);
}

bool all_poison(const void* memory, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    if (static_cast<const unsigned char*>(memory)[i] != pattern_byte(kPoison, i)) return false;
  }
  return true;
}

/// A scan that takes a workspace for zeros, or leaves an output as it was, is then wrong wherever memory came from.
TEST(VerifyOnHost, RunsFindPoisonWhereTheyMustWriteFirst) {
  constexpr std::int64_t kItems = 333;
  constexpr std::size_t kWorkspace = 1003;
  const Problem problem = problem_of(ElementType::i32, Operator::plus, kItems);
  for (const Aliasing aliasing : {Aliasing::apart, Aliasing::shifted}) {
    int runs = 0;
    const Variant scan = looking(
        [&](const Buffers& b, int run) {
          ++runs;
          EXPECT_TRUE(all_poison(b.out, kItems * sizeof(std::int32_t))) << "run " << run;
          if (run % 2 == 0) {  // of two with one workspace
            EXPECT_TRUE(all_poison(b.workspace, kWorkspace)) << "run " << run;
          }
          add_up(b, kItems);
          std::memset(b.workspace, 0, kWorkspace);
        },
        {.workspace_bytes = kWorkspace});
    const Outcome outcome = verify_on_cpu(scan, problem, Oracle(problem, InputKind::random, kSeed), {}, aliasing);
    EXPECT_TRUE(outcome.passed()) << outcome.message;
    EXPECT_EQ(runs, 2 * static_cast<int>(shifts(aliasing).size()));
  }
}

TEST(VerifyOnHost, CatchesAnOutputThatOnlyTheFirstRunWrites) {
  const Problem problem = problem_of(ElementType::i32, Operator::plus, 100);
  const Oracle oracle(problem, InputKind::random, kSeed);
  const Variant scan = looking([](const Buffers& b, int run) {
    if (run == 0) add_up(b, 100);
  });
  EXPECT_TRUE(caught(verify_on_cpu(scan, problem, oracle, {}), "on the second run: 100 of 100 items wrong"));
}

/// A sequential scan of 1000 items on the host that then does `harm` to its buffers.
Variant harmful(std::function<void(const Buffers&, std::size_t bytes)> harm) {
  Variant variant = looking(
      [harm = std::move(harm)](const Buffers& buffers, int) {
        constexpr std::int64_t kItems = 1000;
        add_up(buffers, kItems);
        harm(buffers, kItems * sizeof(std::int32_t));
      },
      {.workspace_bytes = 100});  // not a multiple of a canary: it must lie right behind all the same
  variant.about.id = "harmful";
  variant.about.in_place = false;
  return variant;
}

Outcome outcome_of_harm(std::function<void(const Buffers&, std::size_t)> harm) {
  return on_emulator(harmful(std::move(harm)), problem_of(ElementType::i32, Operator::plus, 1000));
}

unsigned char* bytes_of(const void* memory) { return static_cast<unsigned char*>(const_cast<void*>(memory)); }

/// A harm, and what is said of it.
struct Harm {
  void (*harm)(const Buffers& b, std::size_t bytes);
  const char* words;
};

TEST(VerifyOnHost, CatchesAWriteOutsideEachBufferAndToTheInput) {
  for (const auto& [harm, words] : std::vector<Harm>{
           {[](const Buffers&b, std::size_t n) { ++bytes_of(b.out)[n]; }, "past the end of the output"},
           {[](const Buffers&b, std::size_t) { ++*(bytes_of(b.out) - 1); }, "before the beginning of the output"},
           {[](const Buffers&b, std::size_t) { ++bytes_of(b.workspace)[100]; }, "past the end of the workspace"},
           {[](const Buffers&b, std::size_t) { ++*(bytes_of(b.workspace) - 1); },
            "before the beginning of the workspace"},
           {[](const Buffers&b, std::size_t n) { ++bytes_of(b.in)[n]; }, "past the end of the input"},
           {[](const Buffers&b, std::size_t) { ++*(bytes_of(b.in) - 1); }, "before the beginning of the input"},
           // As far as a canary reaches, on either side.
           {[](const Buffers&b, std::size_t n) { ++bytes_of(b.out)[n + kGuardBytes - 1]; },
            "past the end of the output"},
           {[](const Buffers&b, std::size_t) { ++*(bytes_of(b.out) - kGuardBytes); },
            "before the beginning of the output"},
           // One item too many: the canary of the input must not look like the one of the output.
           {[](const Buffers&b, std::size_t n) { std::copy_n(bytes_of(b.in) + n, 4, bytes_of(b.out) + n); },
            "past the end of the output"},
           {[](const Buffers&b, std::size_t n) { ++bytes_of(b.in)[n / 2]; }, "wrote to its input"},
           {[](const Buffers&, std::size_t) { throw std::runtime_error("out of luck"); }, "out of luck"}}) {
    EXPECT_TRUE(caught(outcome_of_harm(harm), words));
  }
}

Outcome in_aliasing(Aliasing aliasing, Variant variant, Mode mode = Mode::inclusive) {
  const Problem problem = problem_of(ElementType::i32, Operator::plus, 1000, mode);
  return verify_on_cpu(variant, problem, Oracle(problem, InputKind::random, kSeed), {}, aliasing);
}

TEST(VerifyOnHost, CatchesThatAlignmentIsTakenForGranted) {
  const auto aligned = [](const void* memory) { return reinterpret_cast<std::uintptr_t>(memory) % 16 == 0; };
  const Variant wants_both = harmful([&](const Buffers& b, std::size_t) {
    if (!aligned(b.in) || !aligned(b.out)) ++*bytes_of(b.out);
  });
  EXPECT_TRUE(in_aliasing(Aliasing::apart, wants_both).passed());
  EXPECT_TRUE(caught(in_aliasing(Aliasing::shifted, wants_both), "input from element 1, output from element 3: "));
  const Variant asks_its_input = harmful([&](const Buffers& b, std::size_t) {
    if (aligned(b.in) && !aligned(b.out)) ++*bytes_of(b.out);
  });
  EXPECT_TRUE(caught(in_aliasing(Aliasing::shifted, asks_its_input), "input from element 0, output from element 1"));
  const Variant asks_its_output = harmful([&](const Buffers& b, std::size_t) {
    if (!aligned(b.in) && aligned(b.out)) ++*bytes_of(b.out);
  });
  EXPECT_TRUE(caught(in_aliasing(Aliasing::shifted, asks_its_output), "input from element 1, output from element 0"));
}

TEST(VerifyOnHost, CanariesLieRightBesideAShiftedSpan) {
  const auto harm_beside = [](const std::function<void(const Buffers&, std::size_t)>& harm) {
    return in_aliasing(Aliasing::shifted, harmful(harm));
  };
  EXPECT_TRUE(caught(harm_beside([](const Buffers& b, std::size_t) { ++*(bytes_of(b.out) - 1); }),
                     "before the beginning of the output"));
  EXPECT_TRUE(
      caught(harm_beside([](const Buffers& b, std::size_t n) { ++bytes_of(b.in)[n]; }), "past the end of the input"));
}

TEST(VerifyOnHost, InPlaceIsAskedOnlyOfThoseThatSayTheyCan) {
  Variant scan = harmful([](const Buffers&, std::size_t) {});
  const Outcome outcome = in_aliasing(Aliasing::in_place, scan);
  EXPECT_EQ(outcome.status, Outcome::Status::skipped);
  EXPECT_EQ(outcome.message, "harmful does not work in place");
  scan.about.in_place = true;
  EXPECT_TRUE(in_aliasing(Aliasing::in_place, scan).passed());
}

TEST(VerifyOnHost, CatchesAnInputReadAfterItWasWrittenOver) {
  Variant scan = harmful([](const Buffers& b, std::size_t n) {
    const auto* in = static_cast<const std::int32_t*>(b.in);
    auto* out = static_cast<std::int32_t*>(b.out);
    for (std::size_t i = 1; i < n / 4; ++i) out[i] = wrapping_add(out[i - 1], in[i]);  // once more
  });
  scan.about.in_place = true;
  EXPECT_TRUE(in_aliasing(Aliasing::apart, scan).passed());
  EXPECT_TRUE(caught(in_aliasing(Aliasing::in_place, scan), "in place from element 0: "));
}

TEST(VerifyOnHost, BuffersAreAlignedAsOnTheDevice) {
  EXPECT_TRUE(
      outcome_of_harm([](const Buffers& b, std::size_t) {
        for (const void* memory : {b.in, static_cast<const void*>(b.out), static_cast<const void*>(b.workspace)}) {
          EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 256, 0U);
        }
      }).passed());
}

#if defined(__CUDACC__)

Outcome on_gpu(const Variant& variant, const Problem& problem, InputKind kind = InputKind::random) {
  return verify_on_cuda(variant, problem, CudaReference(Oracle(problem, kind, kSeed)));
}

template <Defect kDefect>
Outcome on_gpu() {
  return on_gpu(simt::portable_scan<DefectiveScan<kDefect>>(), telling_problem(kDefect));
}

TEST_F(NeedsGpu, ARightScanPassesForEveryTypeOperatorAndInput) {
  const Variant scan = simt::portable_scan<DefectiveScan<Defect::none>>();
  for (const auto& [type, op] : compiled_monoids()) {
    for (const InputKind kind : kInputKinds) {
      for (const std::int64_t n : {0, 1, 33, 256}) {
        const Outcome outcome = on_gpu(scan, problem_of(type, op, n), kind);
        EXPECT_TRUE(outcome.passed()) << name(type) << " " << name(op) << " " << name(kind) << " n = " << n << ": "
                                      << outcome.message;
      }
    }
  }
}

TEST_F(NeedsGpu, InputsAreTheSameBitsAsOnTheHost) {
  constexpr std::int64_t kItems = 100'000;
  const cuda::Stream stream;
  for (const auto& [type, op] : compiled_monoids()) {
    for (const InputKind kind : kInputKinds) {
      with_monoid(type, op, [&, type = type, op = op]<class Op>(Op) {
        const CudaReference reference(Oracle(problem_of(type, op, kItems), kind, kSeed));
        std::vector<typename Op::Item> items(kItems);
        cuda::check(cudaMemcpyAsync(items.data(), reference.input(), kItems * sizeof items[0], cudaMemcpyDeviceToHost,
                                    stream.get()),
                    "reading the input");
        stream.synchronize();
        for (std::int64_t i = 0; i < kItems; ++i) {
          ASSERT_TRUE(same_bits(items[i], input_item<Op>(kind, kSeed, i, kItems))) << name(kind) << " " << i;
        }
      });
    }
  }
}

__global__ void copy_too_soon(const int* in, int* out, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

/// A kernel that is launched early and does not wait copies stale input.
TEST_F(NeedsGpu, CatchesAnEarlyKernelThatDoesNotWait) {
  if (!cuda::pdl_kernels_wait()) GTEST_SKIP() << "kernels are not launched early on this device";
  const auto copied = [](bool early, std::int64_t n) {
    Variant copy;
    copy.about.id = "too soon";
    copy.about.kind = Kind::copy;
    copy.backends.cuda = true;
    copy.bind = [early](const Problem& problem) {
      BoundScan bound;
      bound.cuda = [early, n = problem.items](const Buffers& b, StreamHandle stream) {
        cuda::launch(copy_too_soon, {.blocks = static_cast<int>(ceil_div(n, 256)), .threads = 256, .pdl = early},
                     static_cast<cudaStream_t>(stream), static_cast<const int*>(b.in), static_cast<int*>(b.out), n);
      };
      return bound;
    };
    return on_gpu(copy, problem_of(ElementType::i32, Operator::plus, n));
  };
  for (const std::int64_t n : {1, 1000, 100'000}) {
    EXPECT_TRUE(copied(false, n).passed()) << n;
    EXPECT_TRUE(caught(copied(true, n), "never written")) << n;
  }
}

TEST_F(NeedsGpu, CatchesEachDefect) {
  EXPECT_TRUE(caught(on_gpu<Defect::corrupted_element>(), "1 of 100 items wrong, the first at 50"));
  EXPECT_TRUE(caught(on_gpu<Defect::swapped_operand>(), "items wrong"));
  EXPECT_TRUE(caught(on_gpu<Defect::one_element_too_many>(), "past the end of the output"));
  EXPECT_TRUE(caught(on_gpu<Defect::nan_output>(), "1 of 100 items wrong"));
  EXPECT_TRUE(caught(on_gpu<Defect::nothing_written>(), "never written"));
}

__global__ void overwrite(std::int32_t* item) { *item ^= 1; }

/// Copies its input, as a ceiling does, and then writes over its middle.
struct InputWriter {
  static Description describe() {
    Description about;
    about.id = "input_writer";
    about.kind = Kind::copy;
    return about;
  }
  explicit InputWriter(const Problem& problem) : items(problem.items) {}
  Plan plan() const { return {}; }
  template <class Op>
  void run(cudaStream_t stream, Op, const typename Op::Item* in, typename Op::Item* out, void*, std::size_t) const {
    using Item = typename Op::Item;
    cuda::check(cudaMemcpyAsync(out, in, items * sizeof(Item), cudaMemcpyDeviceToDevice, stream), "copying");
    overwrite<<<1, 1, 0, stream>>>(reinterpret_cast<std::int32_t*>(const_cast<Item*>(in) + items / 2));
  }
  std::int64_t items;
};

TEST_F(NeedsGpu, CatchesAWriteToTheInput) {
  EXPECT_TRUE(caught(on_gpu(cuda::cuda_scan<InputWriter>(), problem_of(ElementType::i32, Operator::plus, 100)),
                     "wrote to its input, first to item 50"));
}

/// Wants more workspace than any device has.
struct Glutton : InputWriter {
  using InputWriter::InputWriter;
  Plan plan() const { return {.workspace_bytes = std::size_t{1} << 47}; }
};

TEST_F(NeedsGpu, LackOfMemoryIsASkipThatSaysTheBytes) {
  const Outcome outcome = on_gpu(cuda::cuda_scan<Glutton>(), problem_of(ElementType::i32, Operator::plus, 100));
  EXPECT_EQ(outcome.status, Outcome::Status::skipped);
  EXPECT_TRUE(outcome.out_of_memory);
  EXPECT_NE(outcome.message.find("1407374883"), std::string::npos) << outcome.message;  // 2^47 and some
}

/// Adds up on one thread, in float, and counts its runs in its workspace.
template <class Op>
__global__ void scan_and_count(const typename Op::Item* in, typename Op::Item* out, std::int64_t n, int* runs,
                               bool stale, bool varying) {
  typename Op::Item sum = Op::identity();
  for (std::int64_t i = 0; i < n; ++i) out[i] = sum = Op{}(sum, in[i]);
  if constexpr (std::is_same_v<typename Op::Item, float>) {
    if (varying && *runs % 3 == 2) out[n - 1] = nextafterf(out[n - 1], 1e30F);  // well within its bound
    if (stale && *runs > 0) out[n - 1] += 1e6F;
  }
  ++*runs;
}

/// Only the first run of a prepared workspace is right.
template <bool kStale, bool kVarying, bool kClaimsReproducible>
struct CountingScan {
  template <class Op>
  static constexpr bool kTakes = std::is_same_v<Op, Plus<float>>;
  static Description describe() {
    Description about;
    about.id = "counting";
    about.bitwise_reproducible = kClaimsReproducible;
    return about;
  }
  explicit CountingScan(const Problem& problem) : items(problem.items) {}
  Plan plan() const { return {.workspace_bytes = sizeof(int), .chain = items}; }
  template <class Op>
  void prepare(cudaStream_t stream, Op, void* workspace, std::size_t bytes) const {
    cuda::check(cudaMemsetAsync(workspace, 0, bytes, stream), "preparing");
  }
  template <class Op>
  void run(cudaStream_t stream, Op, const typename Op::Item* in, typename Op::Item* out, void* workspace,
           std::size_t) const {
    scan_and_count<Op><<<1, 1, 0, stream>>>(in, out, items, static_cast<int*>(workspace), kStale, kVarying);
  }
  std::int64_t items;
};

TEST_F(NeedsGpu, CatchesAWorkspaceLeftStaleOnTheSecondRun) {
  const Problem problem = problem_of(ElementType::f32, Operator::plus, 1000);
  EXPECT_TRUE(on_gpu(cuda::cuda_scan<CountingScan<false, false, true>>(), problem).passed());
  EXPECT_TRUE(caught(on_gpu(cuda::cuda_scan<CountingScan<true, false, true>>(), problem),
                     "on the second run: 1 of 1000 items wrong, the first at 999"));
}

TEST_F(NeedsGpu, CountsDifferentOutputsAndHoldsVariantsToWhatTheySay) {
  constexpr int kRuns = 10;
  const Problem problem = problem_of(ElementType::f32, Operator::plus, 1000);
  const CudaReference reference(Oracle(problem, InputKind::random, kSeed));
  int different = 0;
  const auto repeat = [&](const Variant& variant) {
    return repeat_on_cuda(variant, problem, reference, kRuns, different);
  };
  EXPECT_TRUE(repeat(cuda::cuda_scan<CountingScan<false, false, true>>()).passed());
  EXPECT_EQ(different, 1);
  EXPECT_TRUE(repeat(cuda::cuda_scan<CountingScan<false, true, false>>()).passed());
  EXPECT_EQ(different, 2);
  EXPECT_TRUE(caught(repeat(cuda::cuda_scan<CountingScan<false, true, true>>()), "2 different outputs in 10 runs"));
  EXPECT_TRUE(caught(repeat(cuda::cuda_scan<CountingScan<true, false, false>>()), "items wrong"));
}

TEST_F(NeedsGpu, ARightScanPassesInEveryAliasing) {
  const Variant scan = simt::portable_scan<DefectiveScan<Defect::none>>();
  Variant in_place = scan;  // one block reads everything before it writes anything
  in_place.about.in_place = true;
  for (const auto& [type, op] : compiled_monoids()) {
    for (const std::int64_t n : {0, 1, 33, 256}) {
      const Problem problem = problem_of(type, op, n);
      const CudaReference reference(Oracle(problem, InputKind::random, kSeed));
      for (const Aliasing aliasing : kAliasings) {
        const Outcome outcome = verify_on_cuda(in_place, problem, reference, aliasing);
        EXPECT_TRUE(outcome.passed()) << name(type) << " " << name(op) << " n = " << n << " " << name(aliasing) << ": "
                                      << outcome.message;
      }
      EXPECT_EQ(verify_on_cuda(scan, problem, reference, Aliasing::in_place).message,
                "defective does not work in place");
    }
  }
}

TEST_F(NeedsGpu, CatchesOneElementTooManyOfAShiftedSpan) {
  const Problem problem = telling_problem(Defect::one_element_too_many);
  const Outcome outcome = verify_on_cuda(simt::portable_scan<DefectiveScan<Defect::one_element_too_many>>(), problem,
                                         CudaReference(Oracle(problem, InputKind::random, kSeed)), Aliasing::shifted);
  EXPECT_TRUE(caught(outcome, "input from element 1, output from element 3: wrote past the end of the output"));
}

/// Every pair of a half and one of a few others: sum and product.
__global__ void compute_halves(const Half* others, int count, Half* results) {
  const int bits = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const Half a = Half::from_bits(static_cast<std::uint16_t>(bits));
  for (int i = 0; i < count; ++i) {
    results[2 * (bits * count + i)] = a + others[i];
    results[2 * (bits * count + i) + 1] = a * others[i];
  }
}

TEST_F(NeedsGpu, HalvesAreAddedAndMultipliedAsOnTheHost) {
  constexpr int kPatterns = 1 << 16;
  std::vector<Half> others;
  for (const int bits : {0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x3C01, 0xBBFF, 0x5555, 0x7BFF, 0xFC00, 0x7E00}) {
    others.push_back(Half::from_bits(static_cast<std::uint16_t>(bits)));
  }
  const auto count = static_cast<int>(others.size());
  const cuda::Stream stream;
  const cuda::DeviceBuffer sent(others.size() * sizeof(Half));
  const cuda::DeviceBuffer computed(std::size_t{2} * kPatterns * count * sizeof(Half));
  std::vector<Half> results(std::size_t{2} * kPatterns * count);
  cuda::check(cudaMemcpyAsync(sent.data(), others.data(), sent.bytes(), cudaMemcpyHostToDevice, stream.get()),
              "sending");
  compute_halves<<<kPatterns / 256, 256, 0, stream.get()>>>(sent.as<const Half>(), count, computed.as<Half>());
  cuda::check(cudaMemcpyAsync(results.data(), computed.data(), computed.bytes(), cudaMemcpyDeviceToHost, stream.get()),
              "reading");
  stream.synchronize();
  const auto same = [](Half x, Half y) { return x.bits == y.bits || (!(x == x) && !(y == y)); };
  for (int bits = 0; bits < kPatterns; ++bits) {
    const Half a = Half::from_bits(static_cast<std::uint16_t>(bits));
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(same(results[2 * (bits * count + i)], a + others[i])) << bits << " + " << others[i].bits;
      ASSERT_TRUE(same(results[2 * (bits * count + i) + 1], a * others[i])) << bits << " * " << others[i].bits;
    }
  }
}

TEST_F(NeedsGpu, TheDeviceComparesAsTheHostDoes) {
  const Problem problem = problem_of(ElementType::f32, Operator::plus, 1 << 20);
  const Oracle oracle(problem, InputKind::random, kSeed);
  const CudaReference reference(oracle);
  std::vector<float> out(problem.items);
  float sum = 0;
  for (std::int64_t i = 0; i < problem.items; ++i) {
    sum += input_item<Plus<float>>(InputKind::random, kSeed, i, problem.items);
    out[i] = sum;
  }
  const cuda::DeviceBuffer sent(out.size() * sizeof(float));
  const cuda::Stream stream;
  cuda::check(cudaMemcpyAsync(sent.data(), out.data(), sent.bytes(), cudaMemcpyHostToDevice, stream.get()), "sending");
  stream.synchronize();
  for (const std::int64_t chain : {problem.items - 1, std::int64_t{20}}) {
    const Outcome here = oracle.compare(out.data(), chain, Kind::scan);
    const Outcome there = reference.compare(sent.data(), chain, Kind::scan);
    EXPECT_EQ(here.status, there.status);
    EXPECT_EQ(here.message, there.message);
    EXPECT_EQ(here.error_to_bound, there.error_to_bound);
  }
}

#endif

}  // namespace
}  // namespace scanlab::verify
