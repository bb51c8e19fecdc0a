// scanlab distributed: what it lists, and what is said of bad words and of what is not here.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/distributed/algorithm.hpp"
#include "harness/distributed/communicator.hpp"
#include "harness/distributed/nccl.hpp"
#include "tests/needs_gpu.hpp"
#include "tests/program.hpp"
#include "tests/test_folder.hpp"

namespace scanlab::cli {
namespace {

TEST(DistributedCommand, ListsAlgorithmsWithWhatTheyMove) {
  const Result result = run_program({"distributed", "list"});
  EXPECT_EQ(result.status, kOk) << result.err;
  if (distributed::has_mpi()) {
    EXPECT_NE(result.out.find("mpi_exscan"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find(" yes "), std::string::npos) << result.out;
  }
#ifdef SCANLAB_WITH_CUDA
  for (const char* id : {"peer_look_ahead", "reduce_exchange_scan", "scan_exchange_add", "blocked_peer", "nccl_cub",
                         "nccl_thrust", "one_gpu", "read_all"}) {
    EXPECT_NE(result.out.find(id), std::string::npos) << result.out;
  }
#endif
}

TEST(DistributedCommand, BadWordsAreSaid) {
  const auto expect = [](std::vector<std::string> words, const std::string& said) {
    words.insert(words.begin(), {"distributed", "bench"});
    const Result result = run_program(words);
    EXPECT_EQ(result.status, kBadInput) << result.err;
    EXPECT_NE(result.err.find(said), std::string::npos) << result.err;
  };
  expect({"-b", "4MiB", "-e", "1MiB"}, "--minbytes 4194304 is more than --maxbytes 1048576");
  expect({"-f", "1"}, "stepfactor");
  expect({"--minbytes", "0"}, "--minbytes is 1 at least");
  expect({"--algorithm", "mpi_exscam"}, "mpi_exscam");
  expect({"--type", "i33"}, "i33");
  expect({"--gpus", "0"}, "gpus");
  expect({"--benchmark_min_time=1s"},
         "distributed bench takes as many runs per sample as 20 ms hold, so it cannot honour --benchmark_min_time");
  expect({"--benchmark_min_warmup_time=1"}, "--benchmark_min_warmup_time would have no effect");
  expect({"--benchmark_filter=["}, "'[' is not a regular expression");
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
  EXPECT_EQ(result.status, kFailed) << "nothing was verified";
  EXPECT_NE(result.out.find("mpirun -n 4 scanlab distributed"), std::string::npos) << result.out;
}

TEST(DistributedCommand, ChecksAreWrittenAsVerifyWritesThem) {
  if (!distributed::has_mpi()) GTEST_SKIP() << "this build has no MPI";
  const TestFolder folder;
  const std::vector<std::string> words{"distributed", "verify", "--algorithm", "mpi_exscan",
                                       "--items",     "100",    "--json",      folder / "checks.jsonl"};
  EXPECT_EQ(run_program(words).status, kFailed) << "nothing was verified: a process alone is no rank of MPI";
  std::ifstream file(folder / "checks.jsonl");
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0]["schema"], "scanlab-verification/1");
  EXPECT_EQ(lines[0]["context"]["backend"], "host");
  EXPECT_EQ(lines[0]["context"]["ranks"], 1);
  EXPECT_EQ(lines[1]["check"], "verify");
  EXPECT_EQ(lines[1]["variant"], "mpi_exscan");
  EXPECT_EQ(lines[1]["items"], 100);
  EXPECT_EQ(lines[1]["outcome"], "skipped");
  EXPECT_NE(lines[1]["reason"].get<std::string>().find("mpirun"), std::string::npos);
  EXPECT_EQ(lines[2]["ended"]["skipped"], 1);
  const Result again = run_program(words);
  EXPECT_EQ(again.status, kBadInput);
  EXPECT_NE(again.err.find("--force"), std::string::npos) << again.err;
}

#ifdef SCANLAB_WITH_CUDA
TEST(DistributedCommand, WhatNeedsNcclSaysWhereThereIsNone) {
  const std::string why = distributed::why_no_nccl();
  if (why.empty()) GTEST_SKIP() << "this machine has NCCL";
  EXPECT_NE(why.find("install NCCL"), std::string::npos);
  const auto& algorithm = distributed::Algorithms::instance().all().at("nccl_cub");
  EXPECT_EQ(algorithm.plan({.items = 100}, 2).refusal, why);
}

TEST(DistributedCommand, GpusThatAreNotHereAreSaid) {
  const Result result =
      run_program({"distributed", "verify", "--gpus", "64", "--algorithm", "copy_all", "--items", "9"});
  EXPECT_EQ(result.status, kNoDevice);
  EXPECT_NE(result.err.find("64 ranks of a host need as many GPUs"), std::string::npos) << result.err;
}

class NeedsGpuDistributed : public NeedsGpu {};

TEST_F(NeedsGpuDistributed, EveryAlgorithmIsRightOnOneGpu) {
  const Result result = run_program({"distributed", "verify", "--algorithm", "peer_look_ahead,blocked_peer,copy_all",
                                     "--mode", "inclusive,exclusive", "--op", "plus,affine", "--repeat", "20"});
  EXPECT_EQ(result.status, kOk) << result.out << result.err;
}
#else

TEST(DistributedCommand, ABuildWithoutGpusSaysSo) {
  for (const char* const command : {"bench", "verify"}) {
    const Result result = run_program({"distributed", command, "--gpus", "4"});
    EXPECT_EQ(result.status, kNoDevice) << result.err;
    EXPECT_NE(result.err.find("--gpus 4: this build has no CUDA"), std::string::npos) << result.err;
  }
}

#endif

}  // namespace
}  // namespace scanlab::cli
