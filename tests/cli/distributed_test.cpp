// scanlab distributed: its lists, and its messages for bad words and for what the machine lacks.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/cli/command.hpp"
#include "harness/distributed/algorithm.hpp"
#include "harness/distributed/communicator.hpp"
#include "harness/distributed/nccl.hpp"
#include "harness/distributed/rank_backend.hpp"
#include "harness/results/provenance.hpp"
#include "tests/needs_gpu.hpp"
#include "tests/program.hpp"
#include "tests/test_folder.hpp"

namespace scanlab::cli {
namespace {

TEST(DistributedCommand, ListsAlgorithmsWithWhatTheyMove) {
  const Result result = run_program({"distributed", "list"});
  EXPECT_EQ(result.status, kOk) << result.err;
  if (distributed::has_mpi()) {
    EXPECT_TRUE(has(result.out, "mpi_exscan"));
    EXPECT_TRUE(has(result.out, " yes "));
  }
#ifdef SCANLAB_WITH_CUDA
  for (const char* id : {"peer_look_ahead", "reduce_exchange_scan", "scan_exchange_add", "blocked_peer", "nccl_cub",
                         "nccl_thrust", "one_gpu", "read_all", "axis_exchange", "axis_apart", "peer_axis"}) {
    EXPECT_TRUE(has(result.out, id));
  }
#endif
}

TEST(DistributedCommand, BadWordsAreSaid) {
  expect_error({"distributed", "bench", "-b", "4MiB", "-e", "1MiB"},
               "--minbytes 4194304 is more than --maxbytes 1048576");
  expect_error({"distributed", "bench", "-f", "1"}, "stepfactor");
  expect_error({"distributed", "bench", "--minbytes", "0"}, "--minbytes 0: give 1 byte or more, as in --minbytes 4MiB");
  expect_error({"distributed", "bench", "--algorithm", "mpi_exscam"}, "mpi_exscam");
  expect_error({"distributed", "bench", "--type", "i33"}, "i33");
  expect_error({"distributed", "bench", "--gpus", "0"}, "gpus");
  expect_error({"distributed", "verify", "--inner", "4"}, "--rows and --inner would have no effect");
  expect_error({"distributed", "bench", "--primitive", "scan_axis", "--inner", "2^20", "-b", "4KiB"},
               "--rows 1 --inner 1048576: these are more than 4096 bytes in all");
  expect_error({"distributed", "verify", "--primitive", "select"}, "--primitive takes scan or scan_axis here");
  expect_error({"distributed", "verify", "--primitive", "scan_axis", "--rows", "0"}, "--rows 0: give 1 or more");
  expect_error({"distributed", "bench", "--benchmark_min_time=1"}, "--benchmark_min_time would have no effect");
  expect_error({"distributed", "bench", "--benchmark_min_warmup_time=1"},
               "--benchmark_min_warmup_time would have no effect");
  expect_error({"distributed", "bench", "--on-hosts", "--benchmark_filter=["}, "no case is left to time");
}

TEST(DistributedCommand, ATraceRefusesWhatItCannotBeOf) {
  const auto expect = [](const std::vector<std::string>& words, Status status, const std::string& error) {
    expect_error(with({"distributed", "trace"}, words), error, status);
  };
  expect({"--runs", "0"}, kBadInput, "runs");
  expect({"--on-hosts"}, kBadInput, "--on-hosts: a trace is of GPUs");
  setenv("SCANLAB_RANKS_PER_GPU", "2", 1);
  expect({"--gpus", "2"}, kBadInput, "SCANLAB_RANKS_PER_GPU: a trace needs one rank per GPU");
  unsetenv("SCANLAB_RANKS_PER_GPU");
  setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
  expect({}, kBadInput, "use one process with --gpus N instead");
  unsetenv("OMPI_COMM_WORLD_SIZE");
  std::string refusal;
  if (!measure::device_facts(refusal)) expect({"--gpus", "2"}, kNoDevice, "scanlab distributed trace");
}

TEST(DistributedCommand, ListsTheCasesThatAFilterLetsPass) {
  if (!distributed::has_mpi()) GTEST_SKIP() << "this build has no MPI";
  const Result result = run_program({"distributed", "bench", "--algorithm", "mpi_exscan", "-b", "64KiB", "-e", "256KiB",
                                     "--benchmark_filter=items:65536/", "--benchmark_list_tests"});
  EXPECT_EQ(result.status, kOk) << result.err;
  EXPECT_EQ(result.out, "scan/variant:mpi_exscan/type:i32/op:plus/mode:inclusive/items:65536/ranks:1\n");
}

TEST(DistributedCommand, HostsWithoutMpirunAreToldWhatToDo) {
  if (!distributed::has_mpi()) GTEST_SKIP() << "this build has no MPI";
  const Result result = run_program({"distributed", "verify", "--algorithm", "mpi_exscan", "--items", "100"});
  EXPECT_EQ(result.status, kBadInput);
  EXPECT_TRUE(has(result.err, "nothing was checked: every case was skipped"));
  EXPECT_TRUE(has(result.out, "mpirun -n 4 scanlab distributed"));
  expect_error({"distributed", "bench", "--algorithm", "mpi_exscan", "-e", "4MiB"},
               "nothing was timed: every case was skipped");
}

TEST(DistributedCommand, ChecksAreWrittenAsVerifyWritesThem) {
  if (!distributed::has_mpi()) GTEST_SKIP() << "this build has no MPI";
  const TestFolder folder;
  const std::vector<std::string> words{"distributed", "verify", "--algorithm", "mpi_exscan",
                                       "--items",     "100",    "--json",      folder / "checks.jsonl"};
  EXPECT_EQ(run_program(words).status, kBadInput) << "nothing was checked: a process alone is no rank of MPI";
  std::ifstream file(folder / "checks.jsonl");
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0]["context"]["backend"], "host");
  EXPECT_EQ(lines[0]["context"]["ranks"], 1);
  EXPECT_EQ(lines[1]["variant"], "mpi_exscan");
  EXPECT_EQ(lines[1]["items"], 100);
  EXPECT_EQ(lines[1]["outcome"], "skipped");
  EXPECT_TRUE(has(lines[1]["reason"].get<std::string>(), "mpirun"));
  EXPECT_EQ(lines[2]["ended"]["skipped"], 1);
  expect_error(words, "--force");
}

TEST(DistributedCommand, WaysToVerifyThatAreNotThereAreSaid) {
  expect_error({"distributed", "verify", "--launch", "tape"}, "tape");
  expect_error({"distributed", "cycles"}, "--algorithm peer_look_ahead");
  if (!distributed::has_mpi()) return;
  expect_error({"distributed", "verify", "--algorithm", "mpi_exscan", "--items", "9", "--beside"},
               "no chosen algorithm is on GPUs");
}

#ifdef SCANLAB_WITH_CUDA
TEST(DistributedCommand, WhatNeedsNcclSaysWhereThereIsNone) {
  const std::string reason = distributed::why_no_nccl();
  if (reason.empty()) GTEST_SKIP() << "this machine has NCCL";
  EXPECT_TRUE(has(reason, "install NCCL"));
  const auto& algorithm = distributed::Algorithms::instance().all().at("nccl_cub");
  EXPECT_EQ(algorithm.plan({.items = 100}, 2).refusal, reason);
}

TEST(DistributedCommand, GpusThatAreNotHereAreSaid) {
  expect_error({"distributed", "verify", "--gpus", "64", "--algorithm", "copy_all", "--items", "9"},
               "64 ranks of a host need as many GPUs", kNoDevice);
}

class NeedsGpuDistributed : public NeedsGpu {};

TEST_F(NeedsGpuDistributed, EveryAlgorithmIsRightOnOneGpu) {
  const Result result = run_program({"distributed", "verify", "--algorithm", "peer_look_ahead,blocked_peer,copy_all",
                                     "--mode", "inclusive,exclusive", "--op", "plus,affine", "--repeat", "20"});
  EXPECT_EQ(result.status, kOk) << result.out << result.err;
}

TEST_F(NeedsGpuDistributed, ScansAlongAnAxisAreRightOnOneGpu) {
  const Result result =
      run_program({"distributed", "verify", "--primitive", "scan_axis", "--mode", "inclusive,exclusive", "--type",
                   "i32,f32", "--op", "plus,affine", "--repeat", "20"});
  EXPECT_EQ(result.status, kOk) << result.out << result.err;
}

/// Ranks that share a GPU tell each other as those of two do.
TEST_F(NeedsGpuDistributed, PeersScanAlongAnAxisTogether) {
  setenv("SCANLAB_RANKS_PER_GPU", "2", 1);
  const std::vector<std::string> words{"distributed", "verify", "--gpus", "2",        "--algorithm",
                                       "peer_axis",   "--type", "i32",    "--repeat", "20"};
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"--set", "chunk=1"}, {"--launch", "graph", "--inner", "1024"}}) {
    const Result result = run_program(with(words, more));
    EXPECT_EQ(result.status, kOk) << result.out << result.err;
  }
  unsetenv("SCANLAB_RANKS_PER_GPU");
}

/// Rank 0 of two never runs.
TEST_F(NeedsGpuDistributed, ATensorThatIsCutApartWaitsForNobody) {
  setenv("SCANLAB_RANKS_PER_GPU", "2", 1);
  distributed::run_threads(2, std::chrono::seconds(20), [](distributed::Communicator& communicator) {
    const auto backend = distributed::make_gpu_backend(communicator);
    if (communicator.rank() == 1) {
      const auto& algorithm = distributed::Algorithms::instance().all().at("axis_apart");
      for (const char* along : {"rows", "columns"}) {
        const Problem problem{
            .type = ElementType::f32, .items = 4 * 1000 * 96, .settings = {{"along", along}}, .rows = 4, .inner = 96};
        const distributed::Plan plan = algorithm.plan(problem, 2);
        backend->fill(problem, plan.distribution, InputKind::random, 1);
        const auto bound = backend->bind(algorithm, problem, plan);
        EXPECT_GT(backend->time(*bound, 1, 3), 0);
      }
    }
    communicator.barrier();
  });
  unsetenv("SCANLAB_RANKS_PER_GPU");
}

TEST_F(NeedsGpuDistributed, ScansAreRightBesideOtherWorkAndReplayedByAGraph) {
  const std::vector<std::string> words{"distributed", "verify",      "--algorithm", "peer_look_ahead,blocked_peer",
                                       "--op",        "plus,affine", "--repeat",    "20"};
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--beside"}, {"--launch", "graph"}}) {
    const Result result = run_program(with(words, more));
    EXPECT_EQ(result.status, kOk) << result.out << result.err;
    EXPECT_EQ(result.out.find("other work") != std::string::npos, more.size() == 1) << result.out;
  }
}

TEST_F(NeedsGpuDistributed, EachRoleHasCycles) {
  const TestFolder folder;
  const Result result = run_program({"distributed", "cycles", "--algorithm", "peer_look_ahead", "--items", "2^22",
                                     "--csv", folder / "ranks_prefix_wait.csv"});
  ASSERT_EQ(result.status, kOk) << result.out << result.err;
  std::ifstream file(folder / "ranks_prefix_wait.csv");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 6u) << "a head and five roles";
  EXPECT_EQ(lines[0].find(
                "variant,items,type,ranks,rank,device,date,git_commit,git_dirty,role,cycles_total,cycles_waiting_data"),
            0u)
      << lines[0];
  EXPECT_EQ(lines[5].find("peer_look_ahead,4194304,i32,1,0,"), 0u) << lines[5];
  EXPECT_TRUE(has(lines[5], ",tell,"));
}

TEST_F(NeedsGpuDistributed, ATraceHasTheKernelsOfEachRun) {
  const TestFolder folder;
  const Result result = run_program({"distributed", "trace", "--algorithm", "peer_look_ahead,blocked_peer,copy_all",
                                     "--items", "2^20", "--runs", "3", "--out", folder / "trace.json"});
  ASSERT_EQ(result.status, kOk) << result.out << result.err;
  const auto document = nlohmann::json::parse(std::ifstream(folder / "trace.json"));
  EXPECT_EQ(document["schema"], "scanlab-ranks-trace/1");
  EXPECT_EQ(document["context"]["ranks"], 1);
  ASSERT_EQ(document["traces"].size(), 3u);
  for (const auto& each : document["traces"]) {
    std::vector<int> of_run(3, 0);
    for (const auto& activity : each["activities"]) {
      ++of_run.at(activity["run"].get<std::size_t>());
      EXPECT_LE(activity["start_ns"], activity["end_ns"]);
      EXPECT_EQ(activity["kind"], each["variant"] == "copy_all" ? "copy" : "kernel") << activity;
    }
    EXPECT_EQ(of_run, std::vector<int>(3, each["variant"] == "blocked_peer" ? of_run[0] : 1)) << each;
  }
}
#else

TEST(DistributedCommand, ABuildWithoutGpusSaysSo) {
  for (const char* const command : {"bench", "verify"}) {
    expect_error({"distributed", command, "--gpus", "4"}, "--gpus 4: this build has no CUDA", kNoDevice);
  }
}

#endif

}  // namespace
}  // namespace scanlab::cli
