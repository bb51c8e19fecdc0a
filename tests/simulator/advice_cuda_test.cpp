// advise --emit cuda: of each kind of advice a program of a hundred lines, which issues what is advised in its order,
// says when a result is wrong, and is compiled where there is an nvcc; with a GPU it runs.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "harness/advice/advice_cuda.hpp"
#include "harness/cli/command.hpp"
#include "harness/host/status.hpp"
#include "tests/program.hpp"
#ifdef SCANLAB_WITH_CUDA
#include "tests/needs_gpu.hpp"
#endif

namespace scanlab::simulator {
namespace {

constexpr CopiedBytes kBytes{.in = 4 * 1003, .out = 4 * 501};  // of which no number of chunks is a divisor

/// Advice whose answer is this schedule.
Advice advice_of(const streams::Schedule& schedule, int chunks) {
  const streams::Job job{.workload = streams::WorkloadRegistry::instance().find("scale"), .items = 1003};
  Advice advice =
      advise(job, device_profile("didactic"), {}, {.schedules = {&schedule}, .chunks = {chunks}, .streams = {3}});
  advice.whole.seconds = 2 * advice.best().seconds;  // worth it, whatever is predicted
  return advice;
}

/// Each kind of advice: every schedule that is chosen from, and one piece.
std::map<std::string, Advice> every_kind() {
  std::map<std::string, Advice> all;
  for (const streams::Schedule* schedule : usual_choices().schedules) {
    all.emplace(schedule->about.id, advice_of(*schedule, 5));
  }
  Advice whole = advice_of(*streams::ScheduleRegistry::instance().find("depth_first"), 5);
  whole.whole = whole.serial;
  whole.whole.seconds = whole.best().seconds;
  EXPECT_FALSE(whole.worth_it());
  all.emplace("whole", whole);
  return all;
}

std::string program_of(const Advice& advice, CopiedBytes bytes = kBytes) {
  return cuda_program(advice, device_profile("didactic"), bytes, "pipeline.cu");
}

/// What a shell command prints, and its exit status.
std::pair<int, std::string> shell(const std::string& command) {
  std::FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("no shell");
  std::string said;
  char part[4096];
  while (const std::size_t size = std::fread(part, 1, sizeof part, pipe)) said.append(part, size);
  return {WEXITSTATUS(pclose(pipe)), said};
}

class EmittedProgram : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// Compiles a program as C++, with a stand-in for CUDA, and runs it.
  std::pair<int, std::string> run_without_cuda(std::string program) const {
    boost::replace_all(program, "kernel<<<unsigned(blocks), 256, 0, stream>>>(", "launch(stream, kernel, ");
    std::ofstream(path("program.cpp")) << "#include \"" SCANLAB_SOURCE "/tests/simulator/cuda_stand_in.hpp\"\n"
                                       << program;
    const std::string compile = std::string(SCANLAB_CXX " -std=c++17 -Wall -Wextra -Werror -o ");
    const auto [status, said] = shell(compile + path("program") + " " + path("program.cpp"));
    if (status != 0) return {status, said};
    return shell(path("program"));
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("scanlab_emitted_program_test_" + std::to_string(::getpid()));
};

/// A line a call. Events and device buffers have numbers in the order in which they come.
class Calls {
 public:
  void copy(const std::string& way, std::int64_t first, std::int64_t buffer, int stream) {
    text_ << fmt::format("{} {} buffer {} stream {}\n", way, first, number(way, buffer), stream);
  }
  void kernel(std::int64_t in, std::int64_t out, int stream) {
    text_ << fmt::format("kernel {} to {} stream {}\n", number("in", in), number("out", out), stream);
  }
  void event(const std::string& what, std::int64_t event, int stream) {
    text_ << fmt::format("{} {} stream {}\n", what, number("event", event), stream);
  }
  std::string text() const { return text_.str(); }

 private:
  std::size_t number(const std::string& of, std::int64_t which) {
    auto& known = numbers_[of];
    return known.try_emplace(which, known.size()).first->second;
  }

  std::ostringstream text_;
  std::map<std::string, std::map<std::int64_t, std::size_t>> numbers_;
};

std::string calls_of(const streams::Recording& recording, std::int64_t items_in, std::int64_t items_out) {
  Calls calls;
  for (const streams::Operation& operation : recording.operations) {
    const streams::Chunk& chunk = operation.chunk;
    const int stream = operation.stream.created() ? operation.stream.index : -1;
    switch (operation.kind) {
      case streams::OperationKind::copy_in:
        calls.copy("in", items_in * chunk.index / recording.job.chunks, chunk.buffer, stream);
        break;
      case streams::OperationKind::copy_out:
        calls.copy("out", items_out * chunk.index / recording.job.chunks, chunk.buffer, stream);
        break;
      case streams::OperationKind::kernel:
        calls.kernel(chunk.buffer, chunk.buffer, stream);
        break;
      default:
        calls.event(operation.kind == streams::OperationKind::record_event ? "record" : "wait", operation.event.index,
                    stream);
    }
  }
  return calls.text();
}

/// The calls of the last run that a program printed: between its last two waits for the device.
std::string calls_of_last_run(const std::string& printed) {
  const std::string mark = "synchronize\n";
  const auto end = printed.rfind(mark);
  const auto begin = printed.rfind(mark, end - 1) + mark.size();
  std::istringstream lines(printed.substr(begin, end - begin));
  Calls calls;
  std::string what, word;
  std::int64_t first = 0, second = 0;
  int stream = 0;
  while (lines >> what >> first >> word) {
    const bool is_event = what == "record" || what == "wait";
    if (!is_event) lines >> second >> word;
    lines >> stream;
    if (is_event) calls.event(what, first, stream);
    if (what == "kernel") calls.kernel(first, second, stream);
    if (what == "in" || what == "out") calls.copy(what, first, second, stream);
  }
  return calls.text();
}

TEST_F(EmittedProgram, IssuesWhatIsAdvisedInItsOrder) {
  for (const auto& [name, advice] : every_kind()) {
    const auto [status, said] = run_without_cuda(program_of(advice));
    ASSERT_EQ(status, 0) << name << ": " << said;
    EXPECT_NE(said.find("ms, right"), std::string::npos) << name << ": " << said;
    const ScheduleChoice& advised = advice.advised();
    const streams::Job job{.workload = streams::WorkloadRegistry::instance().find("scale"),
                           .items = 1003,
                           .chunks = advised.chunks,
                           .streams = advised.streams};
    EXPECT_EQ(calls_of_last_run(said), calls_of(record(*advised.schedule, job), 1003, 501)) << name;
  }
}

/// Data of any size: none to copy in, fewer items than chunks, more out than in.
TEST_F(EmittedProgram, IsRightForAnySizes) {
  const Advice advice = every_kind().at("double_buffered");
  for (const CopiedBytes bytes : {CopiedBytes{0, 400}, {8, 4}, {4, 4001}, {1 << 16, 1 << 16}}) {
    const auto [status, said] = run_without_cuda(program_of(advice, bytes));
    EXPECT_EQ(status, 0) << bytes.in << ", " << bytes.out << ": " << said;
  }
}

TEST_F(EmittedProgram, SaysWhenAResultIsWrong) {
  std::string program = program_of(every_kind().at("depth_first"));
  boost::replace_all(program, "    copy_in(chunk, stream);\n    compute(chunk, stream);\n",
                     "    compute(chunk, stream);\n    copy_in(chunk, stream);\n");
  // What the run before left in the device's memory does not make this one right.
  const auto [status, said] = run_without_cuda(program);
  EXPECT_EQ(status, 1) << said;
  EXPECT_NE(said.find("depth_first: WRONG at output item "), std::string::npos) << said;
}

TEST(Emitted, IsShortAndSaysWhatWasAdvised) {
  for (const auto& [name, advice] : every_kind()) {
    const std::string program = program_of(advice);
    const auto lines = std::ranges::count(program, '\n');
    EXPECT_TRUE(lines >= 60 && lines <= 120) << name << ": " << lines;
    EXPECT_EQ(program.find('@'), std::string::npos) << name;
    std::istringstream text(program);
    for (std::string line; std::getline(text, line);) EXPECT_LE(line.size(), 125u) << line;
    EXPECT_NE(program.find(describe(advice.advised())), std::string::npos) << name;
    EXPECT_EQ(program.find("are not worth it") != std::string::npos, name == "whole") << name;
  }
}

/// The name of a schedule that only its author knows has no form.
TEST(Emitted, RefusesAScheduleThatItHasNoFormOf) {
  const streams::Schedule mine{.about = {.id = "mine"},
                               .issue = streams::ScheduleRegistry::instance().find("skewed")->issue};
  try {
    program_of(advice_of(mine, 5));
    FAIL() << "it was written";
  } catch (const CommandError& error) {
    EXPECT_EQ(error.status, kBadInput);
    EXPECT_NE(std::string(error.what()).find("mine is advised, which has no form in CUDA"), std::string::npos);
  }
}

std::pair<int, std::string> scanlab(std::vector<std::string> words) {
  words.insert(words.begin(), {"advise", "--profile", "h200"});
  const cli::Result result = cli::run_program(words);
  return {result.status, result.out + result.err};
}

TEST_F(EmittedProgram, IsWrittenByAdvise) {
  const std::string out = path("mine.cu");
  const std::vector<std::string> problem{"--bytes-in", "2^26", "--bytes-out", "2^25", "--kernel-us", "500"};
  const auto advise = [&](std::vector<std::string> words) {
    words.insert(words.end(), problem.begin(), problem.end());
    return scanlab(words);
  };
  const auto [status, said] = advise({"--emit", "cuda", "--out", out});
  ASSERT_EQ(status, kOk) << said;
  std::ostringstream text;
  text << std::ifstream(out).rdbuf();
  EXPECT_NE(text.str().find("kIn = 16777216, kOut = 8388608;"), std::string::npos) << text.str();
  EXPECT_NE(text.str().find("-O3 mine.cu -o pipeline"), std::string::npos);
  EXPECT_NE(said.find("streams in " + out), std::string::npos) << said;

  using Words = std::vector<std::string>;
  for (const auto& [words, why] : {std::pair<Words, const char*>{{"--emit", "cuda", "--out", out}, "exists"},
                                   {{"--emit", "cuda"}, "--emit and --out go together"},
                                   {{"--out", path("a.cu")}, "--emit and --out go together"},
                                   {{"--emit", "hip", "--out", path("a.cu")}, "there is no form to emit 'hip'"},
                                   {{"--emit", "cuda", "--out", path("a.txt")}, "FILE.cu"}}) {
    const auto [refused, sentence] = advise(words);
    EXPECT_EQ(refused, kBadInput) << why;
    EXPECT_NE(sentence.find(why), std::string::npos) << sentence;
  }
  const auto [ordered, carry] =
      scanlab({"--workload", "scan", "--items", "2^20", "--emit", "cuda", "--out", path("a.cu")});
  EXPECT_EQ(ordered, kBadInput);
  EXPECT_NE(carry.find("no form of scan, which hands a carry"), std::string::npos) << carry;
  const auto [nothing, out_of_it] =
      scanlab({"--bytes-in", "2^20", "--kernel-us", "9", "--emit", "cuda", "--out", path("a.cu")});
  EXPECT_EQ(nothing, kBadInput);
  EXPECT_NE(out_of_it.find("of this problem nothing is copied out"), std::string::npos) << out_of_it;
  EXPECT_FALSE(std::filesystem::exists(path("a.cu")));
}

// ---- with nvcc, and with a GPU

TEST_F(EmittedProgram, Compiles) {
  if (std::string(SCANLAB_NVCC).empty()) GTEST_SKIP() << "no nvcc: the programs are compiled as C++ alone";
  for (const auto& [name, advice] : every_kind()) {
    std::ofstream(path(name + ".cu")) << program_of(advice);
    for (const char* standard : {"c++17", "c++20"}) {
      if (name != "graph" && std::string(standard) == "c++20") continue;
      const auto [status, said] = shell(std::string(SCANLAB_NVCC " --Werror=all-warnings -c -std=") + standard +
                                        " -o " + path("program.o") + " " + path(name + ".cu"));
      EXPECT_EQ(status, 0) << name << ": " << said;
    }
  }
}

#ifdef SCANLAB_WITH_CUDA
using NeedsGpuEmittedProgram = NeedsGpu;

TEST_F(NeedsGpuEmittedProgram, IsRight) {
  if (std::string(SCANLAB_NVCC).empty()) GTEST_SKIP() << "no nvcc: nothing can be compiled for the GPU";
  const auto folder =
      std::filesystem::temp_directory_path() / ("scanlab_emitted_program_on_device_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "pipeline").string();
  for (const auto& [name, advice] : every_kind()) {
    std::ofstream(file + ".cu") << program_of(advice, {.in = (1 << 26) + 12, .out = 1 << 25});
    const auto [compiled, why] = shell(SCANLAB_NVCC " -std=c++17 -arch=native -o " + file + " " + file + ".cu");
    ASSERT_EQ(compiled, 0) << name << ": " << why;
    const auto [status, said] = shell(file);
    EXPECT_EQ(status, 0) << name << ": " << said;
    EXPECT_NE(said.find("times as fast"), std::string::npos) << name << ": " << said;
  }
  std::filesystem::remove_all(folder);
}
#endif

}  // namespace
}  // namespace scanlab::simulator
