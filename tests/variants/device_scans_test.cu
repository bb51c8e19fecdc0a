// Tests of every registered scan that only a device can make: captured runs replayed, runs beside each other and beside
// work that holds half of the device, workspaces used before, awkward sizes and places. The harness's own checks
// (verify_on_cuda) run every type, operator and mode; here is what they do not do.
//
// A scan that waits for what never comes would hang: every wait ends the program with a sentence after kPatience.
#if defined(__CUDACC__)
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "harness/cuda/buffer.hpp"
#include "harness/cuda/graph.hpp"
#include "harness/cuda/launch.cuh"
#include "harness/cuda/stream.hpp"
#include "harness/verify/cuda_verification.hpp"
#include "tests/needs_gpu.hpp"

namespace scanlab::verify {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kSeed = 17;
constexpr auto kPatience = 20s;

/// Waits for a stream; ends the program if that takes too long, since a device that hangs cannot be taken back.
void wait(const cuda::Stream& stream, const std::string& doing) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  for (cudaError_t state = cudaErrorNotReady; state == cudaErrorNotReady;) {
    state = cudaStreamQuery(stream.get());
    if (state != cudaSuccess && state != cudaErrorNotReady) cuda::check(state, doing.c_str());
    if (std::chrono::steady_clock::now() < end) continue;
    ADD_FAILURE() << doing << ": did not end within " << kPatience.count() << " s; the test ends here";
    std::fflush(nullptr);
    std::_Exit(EXIT_FAILURE);
  }
}

Problem problem_of(ElementType type, Operator op, std::int64_t n, Mode mode = Mode::inclusive) {
  return {type, op, mode, n, {}};
}

CudaReference reference_of(const Problem& problem, std::uint64_t seed = kSeed) {
  return CudaReference(Oracle(problem, InputKind::random, seed));
}

/// A scan bound to one problem, with memory of its own.
class Bound {
 public:
  Bound(const Variant& variant, const Problem& problem, std::shared_ptr<cuda::DeviceBuffer> workspace = nullptr)
      : name_(case_name(variant.about, problem)),
        kind_(variant.about.kind),
        problem_(problem),
        scan_(variant.bind(problem)),
        in_(bytes()),
        out_(bytes()),
        workspace_(std::move(workspace)) {
    if (!workspace_) workspace_ = std::make_shared<cuda::DeviceBuffer>(scan_.plan.workspace_bytes);
  }

  const std::string& name() const { return name_; }
  std::size_t bytes() const { return problem_.array_bytes(); }
  void* in() const { return in_.data(); }

  void prepare(const cuda::Stream& stream) const {
    if (scan_.prepare_cuda) scan_.prepare_cuda(workspace_->data(), stream.get());
  }
  void read(const CudaReference& reference, const cuda::Stream& stream) const {
    reference.copy_input(in_.data(), stream.get());
  }
  void poison(const cuda::Stream& stream) const {
    cuda::check(cudaMemsetAsync(out_.data(), 0xFF, bytes(), stream.get()), "poisoning");
  }
  void run(const cuda::Stream& stream) const {
    scan_.cuda({in_.data(), out_.data(), workspace_->data()}, stream.get());
  }
  /// Empty if the scan has no instrumented form. Waits.
  std::vector<RoleCycles> watch(const cuda::Stream& stream) const {
    if (!scan_.cuda_watch) return {};
    return scan_.cuda_watch({in_.data(), out_.data(), workspace_->data()}, stream.get());
  }
  /// Compares the output, which has been waited for, with `reference`.
  testing::AssertionResult right(const CudaReference& reference) const {
    const Outcome outcome = reference.compare(out_.data(), scan_.plan.chain, kind_);
    if (outcome.status == Outcome::Status::failed)
      return testing::AssertionFailure() << name_ << ": " << outcome.message;
    return testing::AssertionSuccess();
  }

 private:
  std::string name_;
  Kind kind_;
  Problem problem_;
  BoundScan scan_;
  cuda::DeviceBuffer in_;
  cuda::DeviceBuffer out_;
  std::shared_ptr<cuda::DeviceBuffer> workspace_;
};

/// Everything of a kind in the registry that runs on the device and takes the problem.
std::vector<const Variant*> scans_for(const Problem& problem, Kind kind = Kind::scan) {
  std::vector<const Variant*> scans;
  for (const auto& [id, variant] : Registry::instance().all()) {
    if (variant.about.kind != kind || !variant.backends.cuda) continue;
    if (variant.bind(problem).plan.possible()) scans.push_back(&variant);
  }
  return scans;
}

const std::vector<std::pair<ElementType, Operator>>& telling_monoids() {
  static const std::vector<std::pair<ElementType, Operator>> monoids{
      {ElementType::i32, Operator::plus}, {ElementType::i32, Operator::affine}, {ElementType::f64, Operator::plus}};
  return monoids;
}

using NeedsGpuScans = NeedsGpu;

TEST_F(NeedsGpuScans, ACapturedRunIsReplayedAHundredTimesOnChangingInput) {
  constexpr int kReplays = 100;
  constexpr int kInputs = 5;
  const cuda::Stream stream;
  for (const auto& [type, op] : telling_monoids()) {
    for (const std::int64_t n : {1, 1000, 7681, 1'000'003}) {
      const Problem problem = problem_of(type, op, n);
      std::vector<CudaReference> references;
      for (int i = 0; i < kInputs; ++i) references.push_back(reference_of(problem, kSeed + i));
      for (const Variant* variant : scans_for(problem)) {
        const Bound scan(*variant, problem);
        scan.prepare(stream);
        const cuda::Graph graph(stream.get(), [&] { scan.run(stream); });
        const cuda::ReadyGraph ready(graph);
        for (int replay = 0; replay < kReplays; ++replay) {
          const CudaReference& reference = references[replay % kInputs];
          scan.read(reference, stream);
          scan.poison(stream);
          ready.replay(stream.get());
          wait(stream, "replaying " + scan.name());
          ASSERT_TRUE(scan.right(reference)) << "replay " << replay;
        }
      }
    }
  }
}

TEST_F(NeedsGpuScans, ReplaysBackToBackLeaveTheLastOutputRight) {
  const cuda::Stream stream;
  const Problem problem = problem_of(ElementType::i32, Operator::affine, 300'007);
  const CudaReference reference = reference_of(problem);
  for (const Variant* variant : scans_for(problem)) {
    const Bound scan(*variant, problem);
    scan.prepare(stream);
    scan.read(reference, stream);
    const cuda::Graph graph(stream.get(), [&] { scan.run(stream); });
    const cuda::ReadyGraph ready(graph);
    for (int replay = 0; replay < 99; ++replay) ready.replay(stream.get());
    scan.poison(stream);
    ready.replay(stream.get());
    wait(stream, "replaying back to back " + scan.name());
    EXPECT_TRUE(scan.right(reference));
  }
}

/// Copies after `cycles`, and lets the kernel behind it begin before that. One block.
__global__ void copy_late(const unsigned* from, unsigned* to, std::size_t words, long long cycles) {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
  for (std::size_t i = threadIdx.x; i < words; i += blockDim.x) to[i] = from[i];
}

constexpr long long kLateCycles = 200'000;  // 0.1 ms: what does not wait has long read what was there before

__global__ void copy_without_waiting(const unsigned* from, unsigned* to) { to[threadIdx.x] = from[threadIdx.x]; }

TEST_F(NeedsGpuScans, AnEarlyKernelThatDoesNotWaitReadsTooSoon) {
  if (!cuda::pdl_kernels_wait()) GTEST_SKIP() << "kernels are not launched early on this device";
  constexpr int kWords = 256;
  const cuda::Stream stream;
  const cuda::DeviceBuffer ones(kWords * sizeof(unsigned));
  const cuda::DeviceBuffer in(ones.bytes());
  const cuda::DeviceBuffer out(ones.bytes());
  cuda::check(cudaMemsetAsync(ones.data(), 1, ones.bytes(), stream.get()), "filling");
  std::vector<unsigned> seen(kWords);
  for (int run = 0; run < 2; ++run) {  // code is loaded when it is first launched, which would wait for what runs
    cuda::check(cudaMemsetAsync(in.data(), 0, in.bytes(), stream.get()), "spoiling the input");
    copy_late<<<1, kWords, 0, stream.get()>>>(ones.as<unsigned>(), in.as<unsigned>(), kWords, kLateCycles);
    cuda::launch(copy_without_waiting, {.threads = kWords, .pdl = true}, stream.get(), in.as<unsigned>(),
                 out.as<unsigned>());
    cuda::check(cudaMemcpyAsync(seen.data(), out.data(), out.bytes(), cudaMemcpyDeviceToHost, stream.get()), "reading");
    wait(stream, "reading too soon");
  }
  EXPECT_EQ(seen, std::vector<unsigned>(kWords, 0)) << "so the next test cannot tell whether a run waits";
}

TEST_F(NeedsGpuScans, ARunWaitsForTheKernelThatBringsItsInput) {
  const cuda::Stream stream;
  for (const auto& [type, op] : telling_monoids()) {
    for (const std::int64_t n : {1000, 16'000, 300'007, 2'000'003}) {
      const Problem problem = problem_of(type, op, n);
      const CudaReference reference = reference_of(problem);
      std::vector<const Variant*> early = scans_for(problem);
      for (const Kind kind : {Kind::copy, Kind::barrier_copy}) {
        std::ranges::copy(scans_for(problem, kind), std::back_inserter(early));
      }
      for (const Variant* variant : early) {
        const Bound scan(*variant, problem);
        const cuda::DeviceBuffer late(scan.bytes());
        scan.prepare(stream);
        reference.copy_input(late.data(), stream.get());
        scan.run(stream);  // code is loaded when it is first launched, which would wait for what runs
        cuda::check(cudaMemsetAsync(scan.in(), 0xFF, scan.bytes(), stream.get()), "spoiling the input");
        scan.poison(stream);
        copy_late<<<1, 256, 0, stream.get()>>>(late.as<unsigned>(), static_cast<unsigned*>(scan.in()),
                                               scan.bytes() / sizeof(unsigned), kLateCycles);
        cuda::check(cudaGetLastError(), "bringing the input late");
        scan.run(stream);
        wait(stream, "behind a kernel that brings the input: " + scan.name());
        EXPECT_TRUE(scan.right(reference));
      }
    }
  }
}

TEST_F(NeedsGpuScans, RunsOnTwoStreamsAtOnceDoNotDisturbEachOther) {
  struct Load {
    std::int64_t n;
    int rounds;
    int runs_a_round;  // back to back on each stream
  };
  const cuda::Stream streams[2];
  for (const auto& [type, op] : telling_monoids()) {
    for (const Load& load :
         {Load{5000, 50, 20}, Load{300'007, 50, 10}, Load{2'000'003, 50, 5}, Load{(1 << 24) + 3, 30, 2}}) {
      const Problem problem = problem_of(type, op, load.n);
      const CudaReference references[2]{reference_of(problem, 1), reference_of(problem, 2)};
      for (const Variant* variant : scans_for(problem)) {
        const Bound scans[2]{{*variant, problem}, {*variant, problem}};
        for (int i : {0, 1}) {
          scans[i].prepare(streams[i]);
          scans[i].read(references[i], streams[i]);
        }
        for (int round = 0; round < load.rounds; ++round) {
          for (int run = 0; run < load.runs_a_round; ++run) {
            for (int i : {0, 1}) {
              if (run == load.runs_a_round - 1) scans[i].poison(streams[i]);
              scans[i].run(streams[i]);
            }
          }
          for (int i : {0, 1}) wait(streams[i], "two at once: " + scans[i].name());
          for (int i : {0, 1}) ASSERT_TRUE(scans[i].right(references[i])) << "round " << round << " stream " << i;
        }
      }
    }
  }
}

/// Holds a multiprocessor for `cycles`: with all of its shared memory and half of its threads nothing fits beside it.
__global__ void __launch_bounds__(1024) hold(long long cycles, int* resident) {
  const long long begin = clock64();
  if (threadIdx.x == 0) atomicAdd_system(resident, 1);
  while (clock64() - begin < cycles) {
  }
}

/// Half of the multiprocessors, held for some 20 ms from `begin` on.
class HalfHeld {
 public:
  HalfHeld() {
    cuda::check(cudaFuncSetAttribute(hold, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes_),
                "asking for all of the shared memory");
    cuda::check(cudaMallocHost(&resident_, sizeof *resident_), "allocating host memory");
  }
  ~HalfHeld() { cudaFreeHost(resident_); }
  HalfHeld(const HalfHeld&) = delete;
  HalfHeld& operator=(const HalfHeld&) = delete;

  /// Returns when every block of it is on its multiprocessor.
  void begin() const {
    *resident_ = 0;
    hold<<<blocks_, 1024, shared_bytes_, stream_.get()>>>(cycles_, resident_);
    cuda::check(cudaGetLastError(), "holding half of the device");
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (*static_cast<volatile int*>(resident_) < blocks_ && std::chrono::steady_clock::now() < end) {
    }
    ASSERT_EQ(*resident_, blocks_) << "blocks that hold a multiprocessor";
  }
  bool holds() const { return cudaStreamQuery(stream_.get()) == cudaErrorNotReady; }
  void end() const { wait(stream_, "holding half of the device"); }

 private:
  cuda::Stream stream_;
  int blocks_ = cuda::multiprocessors() / 2;
  int shared_bytes_ = cuda::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  long long cycles_ = 20LL * cuda::device_attribute(cudaDevAttrClockRate);  // in kHz, so that this is 20 ms
  int* resident_ = nullptr;
};

TEST_F(NeedsGpuScans, RunsEndBesideAKernelThatHoldsHalfOfTheDevice) {
  constexpr int kRuns = 3;
  const cuda::Stream stream;
  const HalfHeld half;
  auto monoids = telling_monoids();
  monoids.emplace_back(ElementType::i16, Operator::max);
  for (const auto& [type, op] : monoids) {
    // With 2'000'003 items of 4 bytes, and 1'000'003 of 8, the blocks of one_wave fill the device, and half of it is
    // not to be had; with 3'000'001 of 2 bytes, even the whole device does not hold them at a time.
    for (const std::int64_t n : {1000, 300'007, 1'000'003, 2'000'003, 3'000'001, (1 << 24) + 3}) {
      const Problem problem = problem_of(type, op, n);
      const CudaReference reference = reference_of(problem);
      for (const Variant* variant : scans_for(problem)) {
        const Bound scan(*variant, problem);
        scan.prepare(stream);
        scan.read(reference, stream);
        scan.run(stream);  // code is loaded when it is first launched, which would wait for what runs
        wait(stream, "preparing " + scan.name());
        ASSERT_NO_FATAL_FAILURE(half.begin());
        for (int run = 0; run < kRuns; ++run) {
          scan.poison(stream);
          scan.run(stream);
        }
        EXPECT_TRUE(half.holds()) << scan.name() << ": nothing was held when its runs were enqueued";
        wait(stream, "beside a kernel that holds half of the device: " + scan.name());
        half.end();
        EXPECT_TRUE(scan.right(reference));
      }
    }
  }
}

TEST_F(NeedsGpuScans, AWatchedRunIsRightAndWaitsForNoLongerThanItLasts) {
  const cuda::Stream stream;
  int watched = 0;
  for (const std::int64_t n : {1, 300'007, (1 << 24) + 3}) {
    const Problem problem = problem_of(ElementType::i32, Operator::plus, n);
    const CudaReference reference = reference_of(problem);
    for (const Variant* variant : scans_for(problem)) {
      const Bound scan(*variant, problem);
      scan.prepare(stream);
      scan.read(reference, stream);
      scan.poison(stream);
      const std::vector<RoleCycles> roles = scan.watch(stream);
      if (roles.empty()) continue;
      ++watched;
      EXPECT_TRUE(scan.right(reference));
      for (const RoleCycles& role : roles) {
        double waiting = 0;
        for (const auto& [what, cycles] : role.waiting) waiting += cycles;
        EXPECT_GT(role.total, 0) << scan.name() << " " << role.role;
        EXPECT_LE(waiting, role.total) << scan.name() << " " << role.role;
      }
    }
  }
  EXPECT_GT(watched, 0) << "look_ahead has an instrumented form";
}

TEST_F(NeedsGpuScans, AWorkspaceThatServedAnotherSizeServesAfterItIsPreparedAnew) {
  const cuda::Stream stream;
  const Problem problems[]{problem_of(ElementType::i32, Operator::plus, 1'000'003),
                           problem_of(ElementType::i32, Operator::plus, 700),
                           problem_of(ElementType::f64, Operator::affine, 300'007, Mode::exclusive)};
  std::vector<CudaReference> references;
  for (const Problem& problem : problems) references.push_back(reference_of(problem));
  for (const Variant* variant : scans_for(problems[0])) {
    std::size_t most = 0;
    for (const Problem& problem : problems) most = std::max(most, variant->bind(problem).plan.workspace_bytes);
    const auto workspace = std::make_shared<cuda::DeviceBuffer>(most);
    for (const int which : {0, 1, 0, 2, 1, 2, 0}) {
      if (!variant->bind(problems[which]).plan.possible()) continue;
      const Bound scan(*variant, problems[which], workspace);
      scan.prepare(stream);
      scan.read(references[which], stream);
      for (int run = 0; run < 2; ++run) {
        scan.poison(stream);
        scan.run(stream);
        wait(stream, "in a workspace used before: " + scan.name());
        ASSERT_TRUE(scan.right(references[which])) << "run " << run;
      }
    }
  }
}

/// verify_on_cuda of every scan that takes the problem.
void verify_all(const Problem& problem, const std::vector<Aliasing>& aliasings = {Aliasing::apart}) {
  const std::vector<const Variant*> scans = scans_for(problem);
  if (scans.empty()) return;
  const CudaReference reference = reference_of(problem);
  for (const Variant* variant : scans) {
    for (const Aliasing aliasing : aliasings) {
      const Outcome outcome = verify_on_cuda(*variant, problem, reference, aliasing);
      EXPECT_NE(outcome.status, Outcome::Status::failed)
          << case_name(variant->about, problem) << ": " << outcome.message;
    }
  }
}

/// A scan's defaults, every value of each of its parameters beside the others' defaults, and what makes it small.
std::vector<Settings> settings_of(const Variant& variant) {
  std::vector<Settings> all{{}};
  for (const Parameter& parameter : variant.about.parameters) {
    for (std::size_t i = 1; i < parameter.values.size(); ++i) all.push_back({{parameter.name, parameter.values[i]}});
  }
  if (const Settings small = small_settings(variant.about); !small.empty()) all.push_back(small);
  return all;
}

/// The most items, from 1 on, that `holds` is true of; 0 if it is not of 1, or is of more than any tile or wave has.
template <class Predicate>
std::int64_t most_items(const Predicate& holds) {
  constexpr std::int64_t kTooMany = std::int64_t{1} << 28;
  if (!holds(1)) return 0;
  std::int64_t most = 1;
  std::int64_t too_many = 2;
  for (; too_many < kTooMany && holds(too_many); too_many *= 2) most = too_many;
  if (too_many >= kTooMany) return 0;
  while (too_many - most > 1) {
    const std::int64_t middle = most + (too_many - most) / 2;
    (holds(middle) ? most : too_many) = middle;
  }
  return most;
}

/// Tile sizes of a scan in items: its parameters in KiB, and the sizes at which its plan changes. A scan that states
/// none has the tiles of the plain blocks.
std::vector<std::int64_t> tiles_of(const Variant& variant, Problem problem) {
  std::vector<std::int64_t> tiles;
  for (const char* const in_kib : {"tile", "piece"}) {
    if (std::ranges::find(variant.about.parameters, in_kib, &Parameter::name) == variant.about.parameters.end())
      continue;
    const std::int64_t bytes = 1024 * std::stoll(setting(variant.about, problem.settings, in_kib));
    tiles.push_back(bytes / static_cast<std::int64_t>(item_bytes(problem.type, problem.op)));
  }
  if (!tiles.empty()) return tiles;
  const auto plan = [&](std::int64_t n) {
    problem.items = n;
    return variant.bind(problem).plan;
  };
  const std::int64_t chain = plan(1).chain;  // a tile more has a longer one
  const std::int64_t tile = most_items([&](std::int64_t n) { return plan(n).possible() && plan(n).chain == chain; });
  if (tile > 1) return {tile};
  return {1024, 2048};
}

TEST_F(NeedsGpuScans, SizesAroundTilesAndWavesOfEverySetting) {
  constexpr std::int64_t kMax = 1 << 24;  // two waves of any tile; a share of the whole device is no tile
  const std::int64_t multiprocessors = cuda::probe_device().facts->multiprocessors;
  for (const Problem& monoid :
       {problem_of(ElementType::i32, Operator::plus, 1),
        problem_of(ElementType::i8, Operator::plus, 1, Mode::exclusive),
        problem_of(ElementType::f64, Operator::plus, 1), problem_of(ElementType::f64, Operator::affine, 1)}) {
    std::map<std::int64_t, std::vector<std::pair<const Variant*, Settings>>> scans;  // by items
    for (const Variant* variant : scans_for(monoid)) {
      for (const Settings& settings : settings_of(*variant)) {
        Problem problem = monoid;
        problem.settings = settings;
        const auto takes = [&](std::int64_t n) {
          problem.items = n;
          return variant->bind(problem).plan.possible();
        };
        std::set<std::int64_t> ends{most_items(takes)};  // of what fits into one wave, where that is the limit
        for (const std::int64_t tile : tiles_of(*variant, problem)) {
          for (const std::int64_t tiles : {std::int64_t{1}, multiprocessors, 2 * multiprocessors})
            ends.insert(tile * tiles);
        }
        std::set<std::int64_t> sizes;
        for (const std::int64_t end : ends) sizes.insert({end - 1, end, end + 1});
        for (const std::int64_t n : sizes) {
          if (n > 0 && n < kMax && takes(n)) scans[n].emplace_back(variant, settings);
        }
      }
    }
    for (const auto& [n, all] : scans) {
      Problem problem = monoid;
      problem.items = n;
      const CudaReference reference = reference_of(problem);
      for (const auto& [variant, settings] : all) {
        problem.settings = settings;
        const Outcome outcome = verify_on_cuda(*variant, problem, reference);
        EXPECT_TRUE(outcome.passed()) << case_name(variant->about, problem) << ": " << outcome.message;
      }
    }
  }
}

TEST_F(NeedsGpuScans, SizesAtRandom) {
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 10; ++i) {
    const auto n = static_cast<std::int64_t>(random() % (4 << 20));
    verify_all(problem_of(ElementType::i32, Operator::plus, n));
    verify_all(problem_of(ElementType::i8, Operator::plus, n, Mode::exclusive));
    verify_all(problem_of(ElementType::f64, Operator::affine, n));
  }
}

TEST_F(NeedsGpuScans, EveryTypeAndOperatorInEveryAliasing) {
  for (const auto& [type, op] : types_with_operators()) {
    for (const Mode mode : {Mode::inclusive, Mode::exclusive}) {
      for (const std::int64_t n : {1, 1025, 100'003}) {
        verify_all(problem_of(type, op, n, mode), {Aliasing::shifted, Aliasing::in_place});
      }
    }
  }
}

TEST_F(NeedsGpuScans, MoreThan31BitsOfBytes) {
  const Problem problem = problem_of(ElementType::i8, Operator::plus, (std::int64_t{1} << 31) + 17);
  const std::vector<const Variant*> scans = scans_for(problem);
  if (scans.empty()) GTEST_SKIP() << "no scan takes 2^31 + 17 bytes";
  std::unique_ptr<CudaReference> reference;
  try {
    reference = std::make_unique<CudaReference>(reference_of(problem));
  } catch (const cuda::OutOfMemory& lack) {
    GTEST_SKIP() << lack.what();
  } catch (const std::bad_alloc&) {
    GTEST_SKIP() << "host memory does not hold the expected outputs";
  }
  for (const Variant* variant : scans) {
    const Outcome outcome = verify_on_cuda(*variant, problem, *reference);
    if (outcome.out_of_memory) GTEST_SKIP() << case_name(variant->about, problem) << ": " << outcome.message;
    EXPECT_TRUE(outcome.passed()) << case_name(variant->about, problem) << ": " << outcome.message;
  }
}

}  // namespace
}  // namespace scanlab::verify
#endif
