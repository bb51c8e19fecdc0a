// scanlab distributed: its lists, and its messages for bad words and for what the machine lacks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/cli/command.hpp"
#include "harness/distributed/algorithm.hpp"
#include "harness/distributed/communicator.hpp"
#include "harness/distributed/nccl.hpp"
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
  const auto expect = [](std::vector<std::string> words, const std::string& error) {
    words.insert(words.begin(), {"distributed", "bench"});
    const Result result = run_program(words);
    EXPECT_EQ(result.status, kBadInput) << result.err;
    EXPECT_NE(result.err.find(error), std::string::npos) << result.err;
  };
  expect({"-b", "4MiB", "-e", "1MiB"}, "--minbytes 4194304 is more than --maxbytes 1048576");
  expect({"-f", "1"}, "stepfactor");
  expect({"--minbytes", "0"}, "--minbytes 0: give 1 byte or more, as in --minbytes 4MiB");
  expect({"--algorithm", "mpi_exscam"}, "mpi_exscam");
  expect({"--type", "i33"}, "i33");
  expect({"--gpus", "0"}, "gpus");
  expect({"--benchmark_min_time=1"}, "--benchmark_min_time would have no effect");
  expect({"--benchmark_min_warmup_time=1"}, "--benchmark_min_warmup_time would have no effect");
  expect({"--on-hosts", "--benchmark_filter=["}, "no case is left to time");
}

TEST(DistributedCommand, ATraceRefusesWhatItCannotBeOf) {
  const auto expect = [](std::vector<std::string> words, Status status, const std::string& error) {
    words.insert(words.begin(), {"distributed", "trace"});
    const Result result = run_program(words);
    EXPECT_EQ(result.status, status) << result.err;
    EXPECT_NE(result.err.find(error), std::string::npos) << result.err;
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
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
  EXPECT_NE(result.err.find("nothing was checked: every case was skipped"), std::string::npos) << result.err;
  EXPECT_NE(result.out.find("mpirun -n 4 scanlab distributed"), std::string::npos) << result.out;
  const Result timed = run_program({"distributed", "bench", "--algorithm", "mpi_exscan", "-e", "4MiB"});
  EXPECT_EQ(timed.status, kBadInput);
  EXPECT_NE(timed.err.find("nothing was timed: every case was skipped"), std::string::npos) << timed.err;
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
  EXPECT_EQ(lines[0]["schema"], "scanlab-verification/1");
  EXPECT_EQ(lines[0]["context"]["backend"], "host");
  EXPECT_EQ(lines[0]["context"]["ranks"], 1);
  EXPECT_EQ(lines[0]["context"]["launch"], "stream");
  EXPECT_EQ(lines[0]["context"]["beside_other_work"], false);
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

TEST(DistributedCommand, WaysToVerifyThatAreNotThereAreSaid) {
  const Result way = run_program({"distributed", "verify", "--launch", "tape"});
  EXPECT_EQ(way.status, kBadInput);
  EXPECT_NE(way.err.find("tape"), std::string::npos) << way.err;
  const Result none = run_program({"distributed", "cycles"});
  EXPECT_EQ(none.status, kBadInput);
  EXPECT_NE(none.err.find("--algorithm peer_look_ahead"), std::string::npos) << none.err;
  if (!distributed::has_mpi()) return;
  const std::vector<std::string> on_hosts{"distributed", "verify", "--algorithm", "mpi_exscan", "--items", "9"};
  std::vector<std::string> words = on_hosts;
  words.emplace_back("--beside");
  const Result result = run_program(words);
  EXPECT_EQ(result.status, kBadInput);
  EXPECT_NE(result.err.find("no chosen algorithm is on GPUs"), std::string::npos) << result.err;
}

#ifdef SCANLAB_WITH_CUDA
TEST(DistributedCommand, WhatNeedsNcclSaysWhereThereIsNone) {
  const std::string reason = distributed::why_no_nccl();
  if (reason.empty()) GTEST_SKIP() << "this machine has NCCL";
  EXPECT_NE(reason.find("install NCCL"), std::string::npos);
  const auto& algorithm = distributed::Algorithms::instance().all().at("nccl_cub");
  EXPECT_EQ(algorithm.plan({.items = 100}, 2).refusal, reason);
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

TEST_F(NeedsGpuDistributed, ScansAreRightBesideOtherWorkAndReplayedByAGraph) {
  const std::vector<std::string> words{"distributed", "verify",      "--algorithm", "peer_look_ahead,blocked_peer",
                                       "--op",        "plus,affine", "--repeat",    "20"};
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--beside"}, {"--launch", "graph"}}) {
    std::vector<std::string> all = words;
    all.insert(all.end(), more.begin(), more.end());
    const Result result = run_program(all);
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
  EXPECT_NE(lines[5].find(",tell,"), std::string::npos) << lines[5];
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
    const Result result = run_program({"distributed", command, "--gpus", "4"});
    EXPECT_EQ(result.status, kNoDevice) << result.err;
    EXPECT_NE(result.err.find("--gpus 4: this build has no CUDA"), std::string::npos) << result.err;
  }
}

#endif

}  // namespace
}  // namespace scanlab::cli
