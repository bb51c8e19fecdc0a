// `bench` and `info` end to end, with variants that run on the host, so that no device is needed.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "harness/cli/command.hpp"
#include "harness/core/scan_variant.hpp"
#include "harness/results/provenance.hpp"
#include "harness/results/results_file.hpp"
#include "tests/test_folder.hpp"
#ifdef SCANLAB_WITH_CUDA
#include "harness/cuda/error.hpp"
#endif

namespace scanlab::cli {
namespace {

using Json = nlohmann::json;

/// The faults of the planted variants of this file.
enum class Fault { none, always, interrupts };

int runs_so_far = 0;

template <Fault fault>
class Planted {
 public:
  static Description describe() {
    static const char* const ids[] = {"planted_right", "planted_wrong", "planted_interrupting"};
    Description about;
    about.id = ids[static_cast<int>(fault)];
    about.title = "a variant of the tests";
    return about;
  }
  explicit Planted(const Problem& problem) : n_(problem.items), mode_(problem.mode) {}
  Plan plan() const { return {.chain = n_}; }
  template <class Op>
  void run(Op op, const typename Op::Item* in, typename Op::Item* out) const {
    typename Op::Item sum = Op::identity();
    for (std::int64_t i = 0; i < n_; ++i) {
      if (mode_ == Mode::exclusive) out[i] = sum;
      sum = op(sum, in[i]);
      if (mode_ == Mode::inclusive) out[i] = sum;
    }
    ++runs_so_far;
    if (fault == Fault::always) out[n_ / 2] = in[0];
    if (fault == Fault::interrupts && runs_so_far == 200) raise(SIGINT);
  }

 private:
  std::int64_t n_;
  Mode mode_;
};

class BenchTest : public testing::Test {
 protected:
  /// Not before main: the planted variants are for these tests only.
  static void SetUpTestSuite() {
    if (Registry::instance().find("planted_right") != nullptr) return;
    const Registration right{host_scan<Planted<Fault::none>>()};
    const Registration wrong{host_scan<Planted<Fault::always>>()};
    const Registration interrupting{host_scan<Planted<Fault::interrupts>>()};
  }
  BenchTest() { runs_so_far = 0; }

  int scanlab(std::vector<std::string> words) {
    out_.str({});
    err_.str({});
    return run(words, out_, err_);
  }
  int bench_to_file(std::vector<std::string> words) {
    words.insert(words.begin(), "bench");
    words.insert(words.end(), {"--out", path_.string()});
    return scanlab(std::move(words));
  }
  Json document() const { return Json::parse(std::ifstream(path_)); }

  std::ostringstream out_;
  std::ostringstream err_;
  TestFolder folder_;
  std::filesystem::path path_ = folder_ / "bench.json";
};

TEST_F(BenchTest, KeepsEveryRepetition) {
  ASSERT_EQ(bench_to_file({"--variant", "cpu_sequential", "--items", "1000,2^12", "--type", "i32,f64",
                           "--benchmark_repetitions=3"}),
            kOk)
      << err_.str();
  const Json all = document();
  ASSERT_EQ(all.at("benchmarks").size(), 12u);
  std::set<std::pair<std::string, int>> seen;
  for (const Json& entry : all.at("benchmarks")) {
    seen.emplace(entry.at("name").get<std::string>(), entry.at("repetition_index").get<int>());
    EXPECT_EQ(entry.at("repetitions"), 3);
    EXPECT_EQ(entry.at("verified"), true);
    EXPECT_GT(entry.at("real_time"), 0);
    EXPECT_FALSE(entry.contains("registers"));  // host code has no kernels
  }
  EXPECT_EQ(seen.size(), 12u);
  EXPECT_TRUE(seen.contains({"scan/variant:cpu_sequential/type:f64/op:plus/mode:inclusive/items:4096/cache:warm", 2}));
  const auto f64 = std::ranges::find_if(all.at("benchmarks"), [](const Json& entry) {
    return entry.at("name") == "scan/variant:cpu_sequential/type:f64/op:plus/mode:inclusive/items:1000/cache:warm";
  });
  EXPECT_EQ(f64->at("items"), 1000);
  EXPECT_EQ(f64->at("bytes"), 16000);
}

TEST_F(BenchTest, InterleavesTheCasesOfAProblem) {
  ASSERT_EQ(
      bench_to_file({"--variant", "cpu_sequential,planted_right", "--items", "10,20", "--benchmark_repetitions=40"}),
      kOk);
  const Json all = document();
  int changes = 0;
  std::string last;
  for (const Json& entry : all.at("benchmarks")) {
    const std::string variant = entry.at("variant");
    changes += variant == last ? 0 : 1;
    last = variant;
  }
  EXPECT_GT(changes, 4) << "twice would be one case after the other, for two sizes";
}

TEST_F(BenchTest, SaysWhereItsNumbersComeFrom) {
  ASSERT_EQ(bench_to_file({"--variant", "cpu_sequential", "--items", "10", "--seed", "7", "--benchmark_repetitions=1"}),
            kOk);
  const Json context = document().at("context");
  for (const char* key : {"schema", "kind", "cpu", "compiler", "git_commit", "git_dirty", "seed", "argv", "rounds"}) {
    EXPECT_TRUE(context.at(key).is_string()) << key;
  }
  EXPECT_EQ(context.at("schema"), measure::kResultsSchema);
  EXPECT_EQ(context.at("kind"), "host");
  EXPECT_EQ(context.at("seed"), "7");
  EXPECT_TRUE(context.at("executable").get<std::string>().starts_with("scanlab"));
}

/// tests/measure/plain_benchmark_test.cpp has the others.
TEST_F(BenchTest, TakesGoogleBenchmarksFlags) {
  ASSERT_EQ(bench_to_file({"--variant", "planted_right", "--items", "10,100", "--benchmark_filter=items:100/",
                           "--benchmark_repetitions=2", "--benchmark_min_time=0.001",
                           "--benchmark_context=purpose=a test,kind=spoofed"}),
            kOk)
      << err_.str();
  const Json all = document();
  EXPECT_EQ(all.at("context").at("purpose"), "a test");
  EXPECT_EQ(all.at("context").at("kind"), "host") << "facts are ours";
  ASSERT_EQ(all.at("benchmarks").size(), 2u);
  for (const Json& entry : all.at("benchmarks")) {
    EXPECT_GT(entry.at("iterations"), 100) << "more than the calibration takes";
    EXPECT_EQ(entry.at("items"), 100);
  }
}

TEST_F(BenchTest, DoesNotTimeAVariantThatIsWrong) {
  EXPECT_EQ(bench_to_file({"--variant", "planted_wrong,planted_right", "--items", "100", "--benchmark_repetitions=2"}),
            kFailed);
  const Json entries = document().at("benchmarks");
  ASSERT_EQ(entries.size(), 3u);
  const auto failed = *std::ranges::find(entries, "failed", [](const Json& entry) { return entry.at("outcome"); });
  EXPECT_EQ(failed.at("name"), "scan/variant:planted_wrong/type:i32/op:plus/mode:inclusive/items:100/cache:warm");
  EXPECT_EQ(failed.at("error_occurred"), true);
  EXPECT_TRUE(failed.at("error_message").get<std::string>().starts_with("verification failed: "));
  EXPECT_EQ(failed.at("verified"), false);
}

TEST_F(BenchTest, KeepsWhatIsFinishedWhenInterrupted) {
  EXPECT_EQ(bench_to_file({"--variant", "planted_interrupting", "--items", "1000", "--benchmark_repetitions=1000"}),
            kInterrupted);
  const std::size_t kept = document().at("benchmarks").size();
  EXPECT_GE(kept, 1u);
  EXPECT_LT(kept, 1000u);
}

TEST_F(BenchTest, SkipsWhatDoesNotFitInHostMemoryAndGoesOn) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer ends the program where an allocation would throw";
#endif
  EXPECT_EQ(bench_to_file({"--variant", "planted_right", "--items", "10,2^40", "--benchmark_repetitions=1"}),
            kOutOfMemory);
  const Json entries = document().at("benchmarks");
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_TRUE(entries[1].at("error_message").get<std::string>().starts_with("out of host memory"));
}

TEST_F(BenchTest, RunsOnceAndSaysWhichCaseEachRangeOfAProfilerIsOf) {
  EXPECT_EQ(bench_to_file({"--variant", "planted_right", "--items", "10,20", "--once"}), kOk);
  EXPECT_EQ(runs_so_far, 2);
  const Json all = document();
  EXPECT_EQ(all.at("context").at("schema"), "scanlab-ranges/1");
  ASSERT_EQ(all.at("ranges").size(), 2u);
  for (const Json& range : all.at("ranges")) {
    EXPECT_NE(out_.str().find(range.at("name").get<std::string>() + ": ran once"), std::string::npos);
    EXPECT_EQ(range.at("variant"), "planted_right");
    EXPECT_FALSE(range.contains("cache")) << "nothing is timed";
  }
  EXPECT_EQ(all.at("ranges")[1].at("items"), 20);
}

TEST_F(BenchTest, RefusesWrongWordsBeforeAnyWork) {
  const std::vector<std::vector<std::string>> wrong_words{
      {"--variant", "planted_rigth"},
      {"--cache", "hot"},
      {"--launch", "grph"},
      {"--launch", "stream,"},
      {"--sweep", "ful"},
      {"--variant", "planted_right", "--benchmark_repetitions=0"},
      {"--rounds", "3"},
      {"--variant", "planted_right", "--benchmark_filtr=x"},
      {"--variant", "planted_right", "--benchmark_min_warmup_time=1"},
      {"--variant", "planted_right", "--benchmark_out=/proc/nowhere/results.json"},
      {"--variant", "planted_right", "--benchmark_filter=["},
      {"--seed", "-1"},
      {"--variant", "planted_right", "--benchmark_min_time=soon"},
      {"--quick", "--items", "10"},
      {"--sweep", "head_to_head"},
      {"--sweep", "head_to_head", "--variant", "hs_blocked", "--type", "i8"},
      {"--variant", "planted_right", "--cache", "cold"},
      {"--variant", "planted_right", "--launch", "graph"},
      {"--variant", "planted_right", "--out", "/proc/nowhere/results.json"},
  };
  for (std::vector<std::string> words : wrong_words) {
    words.insert(words.begin(), "bench");
    EXPECT_EQ(scanlab(words), kBadInput) << words.at(1) << " " << words.back();
    EXPECT_FALSE(err_.str().empty());
  }
  EXPECT_EQ(runs_so_far, 0);
}

TEST_F(BenchTest, DoesNotOverwriteResults) {
  ASSERT_EQ(bench_to_file({"--variant", "planted_right", "--items", "10", "--benchmark_repetitions=1"}), kOk);
  EXPECT_EQ(bench_to_file({"--variant", "planted_right", "--items", "10"}), kBadInput);
  EXPECT_EQ(document().at("benchmarks").size(), 1u);
  EXPECT_EQ(bench_to_file({"--variant", "planted_right", "--items", "10", "--benchmark_repetitions=2", "--force"}),
            kOk);
  EXPECT_EQ(document().at("benchmarks").size(), 2u);
}

bool has_device() {
  std::string refusal;
  return measure::device_facts(refusal).has_value();
}

TEST_F(BenchTest, SaysWhatToDoWithoutADevice) {
  if (has_device()) GTEST_SKIP() << "there is a device";
  EXPECT_EQ(bench_to_file({"--variant", "hs_block", "--items", "10"}), kNoDevice);
  EXPECT_NE(err_.str().find("--variant 'cpu_*'"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(BenchTest, InfoIsJson) {
  ASSERT_EQ(scanlab({"info", "--json"}), kOk);
  const Json all = Json::parse(out_.str());
  EXPECT_EQ(all.at("schema"), "scanlab-info/1");
  EXPECT_EQ(all.at("device").is_null(), all.contains("no_device"));
  EXPECT_TRUE(all.at("build").at("git_commit").is_string());
}

TEST_F(BenchTest, TimesDeviceCodeInEveryColumn) {
  EXPECT_EQ(scanlab({"bench", "--variant", "hs_blocked", "--items", "10", "--benchmark_list_tests=true"}), kOk);
  const std::string scan = "scan/variant:hs_blocked/type:i32/op:plus/mode:inclusive/items:10/";
  EXPECT_EQ(out_.str(), scan + "cache:cold/launch:stream\n" + scan + "cache:cold/launch:graph\n" + scan +
                            "cache:warm/launch:stream\n" + scan + "cache:warm/launch:graph\n");
}

TEST_F(BenchTest, TimesBesideAScanWhatItIsComparedWith) {
  EXPECT_EQ(scanlab({"bench", "--compare", "--items", "10"}), kBadInput);
  EXPECT_NE(err_.str().find("--variant my_scan"), std::string::npos) << err_.str();
  ASSERT_EQ(
      scanlab({"bench", "--variant", "planted_right", "--compare", "--items", "10", "--benchmark_list_tests=true"}),
      kOk);
  const std::string listed = out_.str();
  EXPECT_NE(listed.find("variant:planted_right/"), std::string::npos) << listed;
  for (const auto& [id, variant] : Registry::instance().all()) {
    if (variant.about.primitive != Primitive::scan) continue;
    const bool compared = variant.about.family == "CUB" || id == "best" || id == "memcpy" || id == "empty_launch";
    if (!compared || variant.about.id == "cub_newest_deterministic") continue;  // that one takes floats alone
    EXPECT_NE(listed.find("variant:" + id + "/"), std::string::npos) << id;
  }
}

TEST_F(BenchTest, KeepsTheFloorOfANarrowedSweep) {
  const Variant* floor = nullptr;
  for (const auto& [id, variant] : Registry::instance().all()) {
    if (variant.about.kind == Kind::empty_launch) floor = &variant;
  }
  if (floor == nullptr) GTEST_SKIP() << "a build without CUDA has no floor";
  ASSERT_EQ(scanlab({"bench", "--sweep", "full", "--type", "f64", "--benchmark_list_tests=true"}), kOk);
  EXPECT_NE(out_.str().find("variant:" + floor->about.id + "/type:i32"), std::string::npos);
  EXPECT_NE(out_.str().find("/type:f64"), std::string::npos);
}

class NeedsGpuBench : public BenchTest {
 protected:
  void SetUp() override {
    if (!has_device()) GTEST_SKIP() << "there is no CUDA device";
  }
  /// The median over the rounds of a counter, or of the time, of the case whose name ends so.
  static double median_of(const Json& all, const std::string& variant, const std::string& column, const char* key) {
    std::vector<double> values;
    for (const Json& entry : all.at("benchmarks")) {
      const std::string name = entry.at("name");
      if (name.starts_with("scan/variant:" + variant + "/") && name.ends_with(column)) values.push_back(entry.at(key));
    }
    std::ranges::sort(values);
    return values.at(values.size() / 2);
  }
};

TEST_F(NeedsGpuBench, TimesEveryColumn) {
  ASSERT_EQ(bench_to_file({"--variant", "cub_device_scan,thrust_scan,memcpy,copy_vector,empty_launch", "--items",
                           "2^20", "--benchmark_repetitions=3"}),
            kOk)
      << err_.str();
  const Json all = document();
  EXPECT_EQ(all.at("context").at("kind"), "cuda");
  ASSERT_EQ(all.at("benchmarks").size(), 5u * 4u * 3u);
  for (const Json& entry : all.at("benchmarks")) {
    EXPECT_EQ(entry.at("verified"), true) << entry.at("name");
    EXPECT_GT(entry.at("real_time"), 0) << entry.at("name");
  }
  // A replayed node costs less than a launch by the host; a run that finds nothing in the cache, more than one that
  // does.
  const auto time = [&](const char* variant, const char* column) {
    return median_of(all, variant, column, "real_time");
  };
  EXPECT_LT(time("empty_launch", "warm/launch:graph"), time("empty_launch", "warm/launch:stream"));
  EXPECT_GT(time("copy_vector", "cold/launch:graph"), 1.2 * time("copy_vector", "warm/launch:graph"));
  EXPECT_NEAR(time("copy_vector", "cold/launch:graph") / time("copy_vector", "cold/launch:stream"), 1, 0.5);
  EXPECT_EQ(median_of(all, "empty_launch", "warm/launch:graph", "iterations"), 200);
  EXPECT_GE(median_of(all, "empty_launch", "warm/launch:stream", "iterations"), 100);
}

TEST_F(NeedsGpuBench, RecordsWhatKernelsTake) {
  ASSERT_EQ(bench_to_file({"--variant", "empty_launch,memcpy,copy_vector,hs_blocked", "--items", "2^16", "--cache",
                           "warm", "--benchmark_repetitions=1"}),
            kOk)
      << err_.str();
  const Json all = document();
  const auto counter = [&](const char* variant, const char* key) { return median_of(all, variant, "graph", key); };
  EXPECT_EQ(counter("empty_launch", "launches"), 1);
  EXPECT_EQ(counter("empty_launch", "threads_per_block"), 32);
  EXPECT_EQ(counter("empty_launch", "shared_bytes"), 0);
  EXPECT_EQ(counter("empty_launch", "local_bytes"), 0);
  EXPECT_EQ(counter("copy_vector", "threads_per_block"), 256);
  EXPECT_GT(counter("copy_vector", "registers"), 0);
  EXPECT_GT(counter("hs_blocked", "launches"), 1);
  EXPECT_GT(counter("hs_blocked", "shared_bytes"), 0);
  for (const Json& entry : all.at("benchmarks")) {
    if (entry.at("name").get<std::string>().starts_with("scan/variant:memcpy/")) {
      EXPECT_FALSE(entry.contains("registers"));  // no kernel that we know
    }
  }
}

#ifdef SCANLAB_WITH_CUDA

/// Who a workspace was last prepared for, or used by; and runs that found it someone else's.
std::map<void*, std::string> users;
int unprepared_runs = 0;
int preparations = 0;

/// Copies its input, if its workspace is its own.
Variant planted_on_the_device(const std::string& id, bool prepares) {
  Variant variant;
  variant.about.id = id;
  variant.about.title = "a variant of the tests";
  variant.about.kind = Kind::copy;
  variant.about.types = {ElementType::i32};
  variant.about.operators = {Operator::plus};
  variant.backends.cuda = true;
  variant.origin = Origin::baseline;
  variant.bind = [id, prepares](const Problem& problem) {
    BoundScan bound;
    bound.plan.workspace_bytes = 1000;
    if (prepares) {
      bound.prepare_cuda = [id](void* workspace, StreamHandle stream) {
        cuda::check(cudaMemsetAsync(workspace, 0, 1000, static_cast<cudaStream_t>(stream)), "preparing");
        users[workspace] = id;
        ++preparations;
      };
    }
    bound.cuda = [=](const Buffers& buffers, StreamHandle stream) {
      if (prepares && users[buffers.workspace] != id) ++unprepared_runs;
      users[buffers.workspace] = id;
      cuda::check(cudaMemcpyAsync(buffers.out, buffers.in, problem.array_bytes(), cudaMemcpyDeviceToDevice,
                                  static_cast<cudaStream_t>(stream)),
                  "copying");
    };
    return bound;
  };
  return variant;
}

TEST_F(NeedsGpuBench, PreparesAWorkspaceThatAnotherCaseUsed) {
  const Registration preparing{planted_on_the_device("planted_preparing", true)};
  const Registration trampling{planted_on_the_device("planted_trampling", false)};
  ASSERT_EQ(bench_to_file({"--variant", "planted_preparing,planted_trampling", "--items", "1000,2000",
                           "--benchmark_repetitions=2"}),
            kOk)
      << err_.str();
  EXPECT_EQ(unprepared_runs, 0);
  EXPECT_GT(preparations, 0);
  const Json all = document();
  EXPECT_GT(median_of(all, "planted_preparing", "warm/launch:graph", "prepare_ns"), 0);
  EXPECT_EQ(median_of(all, "planted_trampling", "warm/launch:graph", "prepare_ns"), 0);
}

#endif

TEST_F(NeedsGpuBench, BaselinesTakeEveryTypeOperatorAndMode) {
  EXPECT_EQ(bench_to_file({"--variant", "cub_device_scan,memcpy,copy_vector,copy_bulk", "--type", "all", "--op", "all",
                           "--mode", "all", "--items", "0,1,1000,100003", "--cache", "warm", "--launch", "stream",
                           "--benchmark_repetitions=1"}),
            kOk)
      << err_.str() << out_.str();
  for (const auto& [types, operators] : {std::pair{"all", "plus"}, std::pair{"i32,f32", "all"}}) {
    EXPECT_EQ(bench_to_file({"--variant", "thrust_scan", "--type", types, "--op", operators, "--mode", "all", "--items",
                             "0,1,1000,100003", "--cache", "warm", "--launch", "stream", "--benchmark_repetitions=1",
                             "--force"}),
              kOk)
        << err_.str() << out_.str();
  }
}

TEST_F(NeedsGpuBench, SkipsWhatDoesNotFitAndGoesOn) {
  EXPECT_EQ(bench_to_file({"--variant", "memcpy", "--items", "10,2^38", "--cache", "warm", "--launch", "stream",
                           "--benchmark_repetitions=1"}),
            kOutOfMemory);
  EXPECT_EQ(document().at("benchmarks").size(), 2u);
}

}  // namespace
}  // namespace scanlab::cli
