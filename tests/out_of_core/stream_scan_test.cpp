// scanlab stream-scan: chunks and carries, threads that read and write, files that are whole or resumable; all without
// a device.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <thread>

#include "harness/cli/command.hpp"
#include "harness/core/scan_variant.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/out_of_core/carried_scan.hpp"
#include "harness/out_of_core/chunk_files.hpp"
#include "harness/out_of_core/chunk_threads.hpp"
#include "harness/out_of_core/out_of_core_scan.hpp"
#include "harness/results/results_file.hpp"
#include "harness/verify/input.hpp"
#include "tests/program.hpp"
#include "tests/test_folder.hpp"
#ifdef SCANLAB_WITH_CUDA
#include "tests/needs_gpu.hpp"
#endif

namespace scanlab::cli {
namespace {

namespace fs = std::filesystem;
using out_of_core::ChunkedScan;
using streams::Chunk;
using Bytes = std::vector<std::byte>;

Description planted(const char* id, const char* title) {
  Description about;
  about.id = id;
  about.title = title;
  about.source = "a test";
  return about;
}

/// Right but for one item: what verification is there to catch.
struct PlantedScan {
  explicit PlantedScan(const Problem& problem) : items(problem.items) {}
  static Description describe() { return planted("planted_wrong_host_scan", "A scan with one wrong item"); }
  Plan plan() const { return {.chain = items}; }
  template <class Op>
  void run(Op op, const typename Op::Item* in, typename Op::Item* out) const {
    typename Op::Item sum = Op::identity();
    for (std::int64_t i = 0; i < items; ++i) out[i] = sum = op(sum, in[i]);
    if (items > 10) out[items / 2] = in[0];
  }
  std::int64_t items;
};
const Registration kPlanted{host_scan<PlantedScan>()};

/// Time enough for what takes a moment, on a machine that does much else.
constexpr std::chrono::minutes kPatience{5};

/// Asks for a workspace, of which the budget must know. Computes nothing.
struct RoomyScan {
  explicit RoomyScan(const Problem& problem) : items(problem.items) {}
  static Description describe() { return planted("planted_roomy_host_scan", "A large workspace, and no scan"); }
  Plan plan() const { return {.workspace_bytes = static_cast<std::size_t>(1000 * items), .chain = items}; }
  template <class Op>
  void run(Op, const typename Op::Item*, typename Op::Item*) const {}
  std::int64_t items;
};
const Registration kRoomy{host_scan<RoomyScan>()};

// ------------------------------------------------------------------------------------------------ without files

Bytes random_items(const Problem& problem, std::uint64_t seed) {
  Bytes bytes(static_cast<std::size_t>(problem.items) * item_bytes(problem.type, problem.op));
  with_monoid(problem.type, problem.op, [&]<class Op>(Op) {
    for (std::int64_t i = 0; i < problem.items; ++i) {
      const auto item = verify::input_item<Op>(InputKind::random, seed, i, problem.items);
      std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof(item), &item, sizeof(item));
    }
  });
  return bytes;
}

/// The scan, item after item.
Bytes scanned(const Problem& problem, const Bytes& in) {
  Bytes bytes(in.size());
  with_monoid(problem.type, problem.op, [&]<class Op>(Op op) {
    auto sum = Op::identity();
    for (std::size_t place = 0; place < in.size(); place += sizeof(sum)) {
      auto item = sum;
      std::memcpy(&item, in.data() + place, sizeof(item));
      const auto before = sum;
      sum = place == 0 ? item : op(sum, item);
      std::memcpy(bytes.data() + place, problem.mode == Mode::inclusive ? &sum : &before, sizeof(sum));
    }
  });
  return bytes;
}

bool go_on(const Chunk&) { return true; }

/// Sums of i32 on the host.
ChunkedScan sequential(std::int64_t items, int chunks, int host_buffers = 2) {
  return {.scan = Registry::instance().find("cpu_sequential"),
          .problem = {.items = items},
          .chunks = chunks,
          .host_buffers = host_buffers};
}

out_of_core::ReadPiece read_from(const Bytes& in, std::size_t base = 0) {
  return [&in, base](std::int64_t place, std::byte* to, std::size_t bytes) {
    std::copy_n(in.data() + base + static_cast<std::size_t>(place), bytes, to);
  };
}

out_of_core::WritePiece write_to(Bytes& out, std::size_t base = 0) {
  return [&out, base](std::int64_t place, const std::byte* from, std::size_t bytes) {
    std::copy_n(from, bytes, out.data() + base + static_cast<std::size_t>(place));
  };
}

/// From memory to memory through reader and writer threads, as from file to file.
void run_through_threads(const ChunkedScan& scan, out_of_core::ScanDevice& device, const streams::Recording& recording,
                         const Bytes& in, Bytes& out, int threads) {
  std::vector<int> counted;
  {
    out_of_core::ChunksInFiles host(device, scan, pageable_memory, threads, read_from(in), write_to(out),
                                    [&](int chunks, std::span<const std::byte>) { counted.push_back(chunks); });
    out_of_core::replay(recording, device, host, go_on);
  }
  EXPECT_TRUE(std::ranges::is_sorted(counted));
  EXPECT_EQ(counted.empty() ? 0 : counted.back(), scan.problem.items == 0 ? 0 : scan.chunks);
}

TEST(OutOfCore, IsTheScanOfTheWholeWhateverTheChunks) {
  std::mt19937 random(1);
  const auto up_to = [&](int most) { return std::uniform_int_distribution(1, most)(random); };
  for (const auto& [type, op] : compiled_monoids()) {
    for (const auto& [mode, mode_name] : named_values<Mode>()) {
      for (const int most : {3, 5000}) {
        ChunkedScan scan{.scan = Registry::instance().find("cpu_sequential"),
                         .problem = {.type = type, .op = op, .mode = mode, .items = up_to(most)},
                         .buffers = 1 + up_to(3),
                         .host_buffers = up_to(4)};
        scan.chunks = static_cast<int>(std::min<std::int64_t>(scan.problem.items, up_to(20)));
        const Bytes in = random_items(scan.problem, 7);
        Bytes out(in.size());
        const streams::Recording recording = record(scan);
        const auto device = out_of_core::host_scan_device(scan, recording);
        const bool in_memory = up_to(2) == 1;
        if (in_memory) {
          out_of_core::ChunksInMemory host(*device, scan, in.data(), out.data());
          out_of_core::replay(recording, *device, host, go_on);
        } else {
          run_through_threads(scan, *device, recording, in, out, up_to(4));
        }
        EXPECT_EQ(out, scanned(scan.problem, in))
            << name(type) << " " << name(op) << " " << mode_name << " items " << scan.problem.items << " chunks "
            << scan.chunks << " buffers " << scan.buffers << " " << scan.host_buffers << (in_memory ? " memory" : "");
      }
    }
  }
}

using MakeDevice = std::unique_ptr<out_of_core::ScanDevice> (*)(const ChunkedScan&, const streams::Recording&);

/// Stops before chunk `stop`, and goes on with new devices and what the threads were told.
Bytes in_two_runs(ChunkedScan scan, const Bytes& in, int stop, MakeDevice make) {
  Bytes out(in.size());
  for (const bool first : {true, false}) {
    const streams::Recording recording = record(scan);
    const auto device = make(scan, recording);
    const auto base = static_cast<std::size_t>(scan.items_before(scan.first_chunk)) * scan.item_bytes();
    int done = 0;
    Bytes carry;
    {
      out_of_core::ChunksInFiles host(*device, scan, pageable_memory, 2, read_from(in, base), write_to(out, base),
                                      [&](int chunks, std::span<const std::byte> left) {
                                        done = chunks;
                                        carry.assign(left.begin(), left.end());
                                      });
      out_of_core::replay(recording, *device, host, [&](const Chunk& chunk) { return !first || chunk.index < stop; });
    }
    if (!first) break;
    EXPECT_EQ(done, stop);
    scan.first_chunk = done;
    scan.carry = carry;
  }
  return out;
}

TEST(OutOfCore, GoesOnWhereItStopped) {
  std::mt19937 random(4);
  for (const auto& [mode, mode_name] : named_values<Mode>()) {
    for (int trial = 0; trial < 20; ++trial) {
      ChunkedScan scan{.scan = Registry::instance().find("cpu_sequential"),
                       .problem = {.type = ElementType::f32, .op = Operator::affine, .mode = mode}};
      scan.problem.items = 30 + static_cast<std::int64_t>(random() % 500);
      scan.chunks = 2 + static_cast<int>(random() % 28);
      const Bytes in = random_items(scan.problem, 9);
      const int stop = static_cast<int>(random() % static_cast<unsigned>(scan.chunks));
      EXPECT_EQ(in_two_runs(scan, in, stop, out_of_core::host_scan_device), scanned(scan.problem, in))
          << mode_name << " items " << scan.problem.items << " chunks " << scan.chunks << " stop " << stop;
    }
  }
}

#ifdef SCANLAB_WITH_CUDA

class OutOfCoreOnCuda : public NeedsGpu {};

TEST_F(OutOfCoreOnCuda, IsTheScanOfTheWholeByAnyScan) {
  std::mt19937 random(5);
  for (const char* const id : {"best", "cub_device_scan", "warp_shuffle"}) {
    for (const ElementType type : {ElementType::i8, ElementType::i32, ElementType::i64}) {
      for (const Operator op : {Operator::plus, Operator::max, Operator::affine}) {
        for (const auto& [mode, mode_name] : named_values<Mode>()) {
          for (const int most : {40, 300000}) {
            ChunkedScan scan{.scan = Registry::instance().find(id),
                             .problem = {.type = type, .op = op, .mode = mode},
                             .buffers = 2 + static_cast<int>(random() % 3)};
            scan.problem.items = 20 + static_cast<std::int64_t>(random() % static_cast<unsigned>(most));
            scan.chunks = 1 + static_cast<int>(random() % 20);
            if (!scan.bind(scan.chunk_items()).plan.possible()) continue;
            const Bytes in = random_items(scan.problem, 7);
            EXPECT_EQ(in_two_runs(scan, in, scan.chunks / 2, out_of_core::cuda_scan_device), scanned(scan.problem, in))
                << id << " " << name(type) << " " << name(op) << " " << mode_name << " items " << scan.problem.items
                << " chunks " << scan.chunks;
          }
        }
      }
    }
  }
}

TEST_F(OutOfCoreOnCuda, CopiesOverlapAndAreVerified) {
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(run({"stream-scan", "--generate", "2^26", "--budget", "64MiB", "--compare", "naive,duplex"}, out, err), kOk)
      << err.str();
  EXPECT_TRUE(has(out.str(), "streamed: 256.0 MiB"));
  EXPECT_TRUE(has(out.str(), "verified"));
}

TEST_F(OutOfCoreOnCuda, RecordsTheClockBesideTheTime) {
  const TestFolder folder;
  const std::string record = (folder / "record.json").string();
  ASSERT_EQ(run_program({"stream-scan", "--generate", "2^24", "--repetitions", "3", "--json", record}).status, kOk);
  const auto json = nlohmann::json::parse(std::ifstream(record));
  EXPECT_GT(json["benchmarks"][0].value("sm_clock_mhz", 0.0), 0) << "read first at the first sample";
}

#endif

/// A device as late as it may be: what is enqueued runs when somebody waits for it, and no sooner. Memory that is used
/// again without a wait then holds the wrong chunk, every time. Sums of i32.
class LateDevice final : public out_of_core::ScanDevice {
 public:
  explicit LateDevice(const streams::Recording& recording)
      : inputs_(static_cast<std::size_t>(recording.buffers)),
        outputs_(static_cast<std::size_t>(recording.buffers)),
        carries_(static_cast<std::size_t>(recording.job.chunks) + 1) {}

  void copy_in(const Chunk& chunk, streams::Stream, const void* from) override {
    enqueue([=, this] {
      const auto* const items = static_cast<const std::int32_t*>(from);
      inputs_[static_cast<std::size_t>(chunk.buffer)].assign(items, items + chunk.items);
      in_ = chunk.index;
    });
  }
  void scan(const Chunk& chunk, streams::Stream) override {
    enqueue([=, this] {
      auto& in = inputs_[static_cast<std::size_t>(chunk.buffer)];
      auto& out = outputs_[static_cast<std::size_t>(chunk.buffer)];
      out.clear();
      std::int32_t sum = carries_[static_cast<std::size_t>(chunk.index)];
      for (const std::int32_t item : in) out.push_back(sum = wrapping_add(sum, item));
      carries_[static_cast<std::size_t>(chunk.index) + 1] = sum;
    });
  }
  void copy_out(const Chunk& chunk, streams::Stream, void* to) override {
    enqueue([=, this] {
      std::ranges::copy(outputs_[static_cast<std::size_t>(chunk.buffer)], static_cast<std::int32_t*>(to));
      out_ = chunk.index;
    });
  }
  void record(streams::Event, streams::Stream) override {}  // all runs in the order of its issue
  void wait(streams::Stream, streams::Event) override {}
  void wait_copied_in(const Chunk& chunk) override {
    run_until([&] { return in_ >= chunk.index; });
  }
  void wait_copied_out(const Chunk& chunk) override {
    run_until([&] { return out_ >= chunk.index; });
  }
  void synchronize() override {
    run_until([] { return false; });
  }
  std::span<const std::byte> carry_after(const Chunk& chunk) const override {
    return std::as_bytes(std::span(&carries_[static_cast<std::size_t>(chunk.index) + 1], 1));
  }
  int copied_out() const { return out_ + 1; }

 private:
  void enqueue(std::function<void()> operation) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(operation));
  }
  template <class Ready>
  void run_until(Ready ready) {
    const std::lock_guard lock(mutex_);
    while (!queue_.empty() && !ready()) {
      queue_.front()();
      queue_.pop_front();
    }
  }

  std::mutex mutex_;
  std::deque<std::function<void()>> queue_;
  std::vector<std::vector<std::int32_t>> inputs_, outputs_;
  std::vector<std::int32_t> carries_;
  int in_ = -1;
  int out_ = -1;
};

TEST(OutOfCore, HostMemoryIsUsedAgainOnlyBehindItsCopy) {
  for (const int host_buffers : {1, 2, 5}) {
    for (const int threads : {1, 3}) {
      const ChunkedScan scan = sequential(40000, 40, host_buffers);
      const Bytes in = random_items(scan.problem, 3);
      Bytes out(in.size());
      const streams::Recording recording = record(scan);
      LateDevice device(recording);
      run_through_threads(scan, device, recording, in, out, threads);
      EXPECT_EQ(out, scanned(scan.problem, in)) << host_buffers << " buffers, " << threads << " threads";
    }
  }
}

TEST(OutOfCore, WhatFailsInAThreadIsThrownAndEndsTheRun) {
  const ChunkedScan scan = sequential(40000, 40);
  const streams::Recording recording = record(scan);
  for (const bool reading : {true, false}) {
    const auto device = out_of_core::host_scan_device(scan, recording);
    const auto fail_at = [](std::int64_t place) {
      if (place >= 80000) throw std::runtime_error("planted");
    };
    std::atomic<int> last_told = 0;
    out_of_core::ChunksInFiles host(
        *device, scan, pageable_memory, 3,
        [&](std::int64_t place, std::byte*, std::size_t) {
          if (reading) fail_at(place);
        },
        [&](std::int64_t place, const std::byte*, std::size_t) {
          if (!reading) fail_at(place);
        },
        [&](int chunks, std::span<const std::byte>) { last_told = chunks; });
    try {
      out_of_core::replay(recording, *device, host, go_on);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "planted");
    }
    EXPECT_LE(last_told, 20);  // no chunk counts that was not written
  }
}

TEST(OutOfCore, TheBudgetIsKept) {
  ChunkedScan scan = sequential(1000, 10);
  scan.buffers = 2;
  const std::size_t least = scan.device_bytes();
  EXPECT_GE(least, 4u * 100 * 4);  // two chunks, in and out
  EXPECT_EQ(buffers_within(scan, least, 9), 2);
  EXPECT_EQ(buffers_within(scan, least - 1, 9), 1);
  EXPECT_EQ(buffers_within(scan, 100 * least, 9), 9);
  // Every workspace counts, one for each size of a chunk: one of 101 items, nine of 100.
  scan.scan = Registry::instance().find("planted_roomy_host_scan");
  scan.problem.items = 1001;
  EXPECT_EQ(scan.device_bytes(), 4u * 101 * 4 + 2 * 4 + 1000 * (101 + 100));
}

TEST(OutOfCore, InMemoryNoMoreChunksAreOnTheirWayThanAsked) {
  const ChunkedScan scan = sequential(4000, 40, 3);
  const Bytes in = random_items(scan.problem, 3);
  Bytes out(in.size());
  const streams::Recording recording = record(scan);
  LateDevice device(recording);
  out_of_core::ChunksInMemory host(device, scan, in.data(), out.data());
  int most = 0;
  out_of_core::replay(recording, device, host, [&](const Chunk& chunk) {
    most = std::max(most, chunk.index - device.copied_out());
    return true;
  });
  EXPECT_EQ(most, scan.host_buffers);
  EXPECT_EQ(out, scanned(scan.problem, in));
}

TEST(OutOfCore, AChunkCountsWhenAllBeforeItAreWritten) {
  const ChunkedScan scan = sequential(4000, 4, 4);
  const Bytes in = random_items(scan.problem, 3);
  const streams::Recording recording = record(scan);
  const auto device = out_of_core::host_scan_device(scan, recording);
  std::atomic<int> others = 0;
  std::atomic<bool> first = false;
  std::vector<int> counted;
  out_of_core::ChunksInFiles host(
      *device, scan, pageable_memory, 4, read_from(in),
      [&](std::int64_t place, const std::byte*, std::size_t) {
        if (place > 0) {
          ++others;
          return;
        }
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (others < 3 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));  // for those to be told of, if they were
        first = true;
      },
      [&](int chunks, std::span<const std::byte>) {
        EXPECT_TRUE(first) << chunks << " chunks count, and the first is not written";
        counted.push_back(chunks);
      });
  out_of_core::replay(recording, *device, host, go_on);
  EXPECT_EQ(counted, (std::vector<int>{1, 2, 3, 4}));
}

// --------------------------------------------------------------------------------------------------- with files

class StreamScan : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_ / name; }
  std::string in() const { return path("in"); }
  std::string out() const { return path("out"); }
  fs::path partial() const { return path("out.partial"); }
  fs::path state() const { return path("out.partial.json"); }
  void expect_nothing_left() const {
    for (const fs::path& each : {fs::path(out()), partial(), state()}) EXPECT_FALSE(fs::exists(each)) << each;
  }

  /// Random items of the problem, which the input holds now.
  Bytes write_input(std::uint64_t seed) const {
    const Bytes bytes = random_items(problem_, seed);
    std::ofstream(in(), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return bytes;
  }
  static Bytes read(const fs::path& path) {
    const std::string text = text_of(path);
    const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
    return {bytes, bytes + text.size()};
  }

  /// --in and --out, on the host, in chunks of a page, and what more is asked for.
  std::vector<std::string> words(const std::vector<std::string>& more = {}) const {
    return with({"stream-scan", "--in", in(), "--out", out(), "--device", "host", "--chunk", "4096"}, more);
  }
  int chunks_done() const {
    std::ifstream file(state());
    const auto json = nlohmann::json::parse(file, nullptr, false);
    return json.is_discarded() ? 0 : json.value("chunks_done", 0);
  }
  void wait_for_chunks(int chunks) const {
    const auto limit = std::chrono::steady_clock::now() + kPatience;
    while (chunks_done() < chunks && !fs::exists(out()) && std::chrono::steady_clock::now() < limit) {
      std::this_thread::yield();
    }
  }

  /// A scan that ends a quarter through: the system refuses more, as a full disk would.
  void interrupt(const std::vector<std::string>& words) const {
    EXPECT_EQ(status_of(start(words, 1 << 20)), kBadInput);
    EXPECT_FALSE(fs::exists(out()));
    EXPECT_GT(chunks_done(), 0);
  }
  /// The scan goes well, and says this of how it begins.
  void expect_scanned(const std::vector<std::string>& words, const Bytes& items, const std::string& said = "") const {
    const Result result = run_program(words);
    EXPECT_EQ(result.status, kOk) << result.err;
    EXPECT_TRUE(has(result.err, said));
    EXPECT_EQ(read(out()), scanned(problem_, items));
  }

  /// The status of a scan that something befell while it ran; on a busy machine it may come too late, and is tried
  /// again.
  int until_in_time(const std::function<int()>& scan) const {
    int status = kOk;
    for (int trial = 0; trial < 100 && status == kOk; ++trial) {
      fs::remove(out());
      status = scan();
    }
    return status;
  }

  /// The command in a process of its own, `limit` bytes a file at most.
  static pid_t start(const std::vector<std::string>& words, rlim_t limit = RLIM_INFINITY) {
    const pid_t child = fork();
    if (child != 0) return child;
    const rlimit most{limit, limit};
    setrlimit(RLIMIT_FSIZE, &most);
    _exit(run_program(words).status);
  }
  static int status_of(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  Problem problem_{.items = 1 << 20};  // 1024 chunks: 4 MiB
  TestFolder folder_;
};

TEST_F(StreamScan, FileToFile) {
  const std::vector<std::vector<std::string>> ways{
      {}, {"--write", "mapping"}, {"--durable"}, {"--io-threads", "1", "--budget", "70000"}, {"--chunk", "1MiB"}};
  problem_.items = 100003;
  const Bytes items = write_input(5);
  for (const std::vector<std::string>& way : ways) {
    expect_scanned(with({"stream-scan", "--in", in(), "--out", out(), "--device", "host", "--force", "--verify"}, way),
                   items);
    EXPECT_FALSE(fs::exists(partial()) || fs::exists(state()));
  }
}

TEST_F(StreamScan, AnInputMayHaveAnyName) {
  const Bytes items = write_input(5);
  const std::string name = path("\xff.bin");  // no UTF-8, and the state is JSON
  fs::rename(in(), name);
  expect_scanned({"stream-scan", "--in", name, "--out", out(), "--device", "host"}, items);
}

TEST_F(StreamScan, AnEmptyFileHasAnEmptyScan) {
  problem_.items = 0;
  expect_scanned(words(), write_input(1));
  EXPECT_TRUE(fs::exists(out()));
}

TEST_F(StreamScan, GeneratesAndMeasuresInMemory) {
  const Result result =
      run_program({"stream-scan", "--generate", "100000", "--device", "host", "--mode", "exclusive", "--type", "i64",
                   "--op", "affine", "--compare", "naive", "--repetitions", "2", "--json", path("r.json")});
  EXPECT_EQ(result.status, kOk) << result.err;
  const auto json = nlohmann::json::parse(std::ifstream(path("r.json")));
  EXPECT_EQ(json["context"]["schema"], measure::kResultsSchema);
  EXPECT_EQ(json["context"]["kind"], "host");
  ASSERT_EQ(json["benchmarks"].size(), 4u);
  for (const auto& each : json["benchmarks"]) {
    EXPECT_EQ(each["bytes_each_way"], 1600000);
    EXPECT_EQ(each["verified"], true);
    EXPECT_EQ(each["kind"], "stream_scan");
    EXPECT_GT(each["real_time"].get<double>(), 0);
    EXPECT_FALSE(each.contains("sm_clock_mhz")) << "of a device that took no part";
  }
}

TEST_F(StreamScan, ReadsAndWritesAloneToBeComparedAndLeavesTheScan) {
  write_input(3);
  const Result result = run_program(words({"--compare", "files", "--verify", "--json", path("r.json")}));
  EXPECT_EQ(result.status, kOk) << result.err;
  const auto json = nlohmann::json::parse(std::ifstream(path("r.json")));
  ASSERT_EQ(json["benchmarks"].size(), 2u);
  const int first = json["benchmarks"][0]["way"] == "files" ? 0 : 1;
  const auto& files = json["benchmarks"][first];
  const auto& streamed = json["benchmarks"][1 - first];
  EXPECT_EQ(files["way"], "files");
  EXPECT_EQ(files["verified"], false) << "nothing was scanned";
  EXPECT_EQ(files["bytes_each_way"], streamed["bytes_each_way"]);
  EXPECT_EQ(streamed["verified"], true);
  EXPECT_EQ(run_program({"stream-scan", "--generate", "1000", "--device", "host", "--compare", "files"}).status,
            kBadInput);
}

TEST_F(StreamScan, AWrongScanIsFound) {
  for (const std::string mode : {"inclusive", "exclusive"}) {
    const Result result = run_program({"stream-scan", "--generate", "100000", "--device", "host", "--scan",
                                       "planted_wrong_host_scan", "--mode", mode});
    EXPECT_EQ(result.status, kFailed) << result.out;
  }
}

TEST_F(StreamScan, AWrongFileNeverHasItsName) {
  write_input(18);
  const std::vector<std::string> wrong{"--scan", "planted_wrong_host_scan", "--verify", "--force"};
  const Result result = run_program(words(wrong));
  EXPECT_EQ(result.status, kFailed) << result.out;
  EXPECT_TRUE(has(result.err, "is not the scan of its input"));
  expect_nothing_left();
  std::ofstream(out()) << "mine";
  EXPECT_EQ(run_program(words(wrong)).status, kFailed);
  EXPECT_EQ(fs::file_size(out()), 4u) << "a file that was right gave way to a wrong one";
}

TEST_F(StreamScan, TheTimeOfAPartIsNotKeptAsThatOfTheWhole) {
  const Bytes items = write_input(19);
  for (const std::vector<std::string>& measuring :
       {std::vector<std::string>{"--json", path("r.json"), "--compare", "naive"}, {"--repetitions", "1"}}) {
    interrupt(words());
    const Result result = run_program(words(measuring));
    EXPECT_EQ(result.status, kOk) << result.err;
    EXPECT_TRUE(has(result.err, "starts over: what an interrupted run left"));
    EXPECT_EQ(result.out.find("streamed: 4194304 bytes"), result.out.find("streamed:")) << result.out;
    EXPECT_EQ(read(out()), scanned(problem_, items));
    fs::remove(out());
  }
  const auto json = nlohmann::json::parse(std::ifstream(path("r.json")));
  ASSERT_EQ(json["benchmarks"].size(), 2u);
  for (const auto& each : json["benchmarks"]) EXPECT_EQ(each["bytes_each_way"], 4 * problem_.items) << each["name"];
}

TEST_F(StreamScan, GoesOnAfterBeingKilled) {
  const Bytes items = write_input(11);
  std::mt19937 random(static_cast<unsigned>(getpid()));
  int killed = 0;
  for (int trial = 0; trial < 6; ++trial) {
    fs::remove(out());
    const std::vector<std::string> way = words({"--write", trial % 2 == 0 ? "pwrite" : "mapping"});
    for (const int chunks : {1 + static_cast<int>(random() % 300), 400 + static_cast<int>(random() % 300)}) {
      const pid_t child = start(way);
      wait_for_chunks(chunks);
      kill(child, SIGKILL);
      killed += status_of(child) == 128 + SIGKILL ? 1 : 0;
    }
    if (!fs::exists(out())) {
      const int before = chunks_done();
      EXPECT_GT(before, 0);
      expect_scanned(way, items, "resumes after chunk " + std::to_string(before));
    }
    EXPECT_EQ(read(out()), scanned(problem_, items)) << "trial " << trial;
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 2) << "more is left than input and output";
  }
  EXPECT_GE(killed, 6) << "too few were killed in the middle to tell anything";
}

TEST_F(StreamScan, GoesOnAfterCtrlC) {
  const Bytes items = write_input(12);
  const int status = until_in_time([&] {
    const pid_t child = start(words());
    wait_for_chunks(5);
    kill(child, SIGINT);
    return status_of(child);
  });
  EXPECT_EQ(status, kInterrupted);
  EXPECT_FALSE(fs::exists(out()));
  EXPECT_GE(chunks_done(), 5);
  expect_scanned(words(), items);
}

TEST_F(StreamScan, AFullDiskIsOneSentenceAndResumable) {
  const Bytes items = write_input(13);
  for (const std::string by : {"pwrite", "mapping"}) {
    fs::remove(out());
    interrupt(words({"--write", by}));
    expect_scanned(words({"--write", by}), items);
  }
}

TEST_F(StreamScan, AFileThatChangesLeavesNothing) {
  const auto touch = [&] { fs::last_write_time(in(), fs::last_write_time(in()) + std::chrono::seconds(1)); };
  const auto shrink = [&] { fs::resize_file(in(), 400000); };
  for (const bool shrinks : {true, false}) {
    Result result{};
    until_in_time([&] {
      write_input(14);
      std::thread change([&] {
        wait_for_chunks(20);
        shrinks ? shrink() : touch();
      });
      result = run_program(words());
      change.join();
      return result.status;
    });
    EXPECT_EQ(result.status, kBadInput);
    const char* const hint = shrinks ? "shrank while it was read" : "was changed while it was read";
    EXPECT_TRUE(has(result.err, hint));
    expect_nothing_left();
  }
}

TEST_F(StreamScan, GoesOnFromTheSameScanAlone) {
  const Bytes items = write_input(15);
  interrupt(words());
  expect_error(words({"--mode", "exclusive"}), "mode was \"inclusive\" and is \"exclusive\"");
  expect_error(words({"--op", "max"}), "op was \"plus\" and is \"max\"");
#ifdef SCANLAB_WITH_TBB  // without it the other scan of the host is refused for that
  expect_error(words({"--scan", "cpu_parallel"}), "scan was \"cpu_sequential\" and is \"cpu_parallel\"");
#endif
  expect_error(words({"--type", "i64"}), "--fresh");
  const auto written = fs::last_write_time(in());
  fs::last_write_time(in(), written + std::chrono::seconds(1));
  expect_error(words(), "modified_ns");
  fs::last_write_time(in(), written);

  {  // another process is at it
    const OpenFile other(open(partial().c_str(), O_RDWR));
    ASSERT_EQ(flock(other.get(), LOCK_EX), 0);
    expect_error(words(), "another process");
  }
  EXPECT_GT(chunks_done(), 0);  // none of these harmed it
  problem_.mode = Mode::exclusive;
  expect_scanned(words({"--fresh", "--mode", "exclusive"}), items);
}

TEST_F(StreamScan, AStateThatMayLieIsNotBelieved) {
  const Bytes items = write_input(16);
  interrupt(words());
  auto json = nlohmann::ordered_json::parse(std::ifstream(state()));
  json["boot"] = "of another day";
  std::ofstream(state()) << json;
  expect_scanned(words(), items, "restarted");
  fs::remove(out());
  interrupt(words());
  fs::remove(partial());
  expect_scanned(words(), items, "lacks");
  fs::remove(out());
  interrupt(words());
  const auto written = nlohmann::ordered_json::parse(std::ifstream(state()));
  std::vector<std::string> texts{"{", "[]"};
  for (const auto& [key, value] : std::vector<std::pair<std::string, nlohmann::ordered_json>>{
           {"chunks_done", "many"},
           {"chunks_done", 0},
           {"chunks_done", written.at("chunks_done").get<int>() - 1},
           {"chunks_done", 1000},
           {"bytes_done", 5},
           {"carry", "00"},
           {"carry", "zzzzzzzz"},
           {"carry", "0000000000000000"},
       }) {
    auto changed = written;
    changed[key] = value;
    texts.push_back(changed.dump());
  }
  for (const std::string& text : texts) {
    std::ofstream(state()) << text;
    expect_error(words(), "its state cannot be read; give --fresh");
    EXPECT_TRUE(fs::exists(partial())) << text;
  }
  std::ofstream(state()) << written;
  expect_scanned(words(), items);
}

TEST_F(StreamScan, APartialFileOfAnotherProgramIsNotReplacedUnasked) {
  const Bytes items = write_input(21);
  std::ofstream(partial()) << "hers";
  for (const std::vector<std::string>& as : {std::vector<std::string>{}, {"--force"}, {"--json", path("r.json")}}) {
    expect_error(words(as), "give --fresh");
    EXPECT_EQ(read(partial().string()).size(), 4u);
  }
  expect_scanned(words({"--fresh"}), items);
}

TEST_F(StreamScan, BadInputIsOneSentence) {
  problem_.items = 1000;
  write_input(17);
  const auto host = [](const std::vector<std::string>& more) {
    return with({"stream-scan", "--device", "host"}, more);
  };
  expect_error(host({}), "either --in FILE or --generate N");
  expect_error(host({"--in", in(), "--generate", "5"}), "either --in FILE or --generate N");
  expect_error(host({"--in", path("none")}), "No such file");
  expect_error(host({"--in", folder_.path()}), "not a regular file");
  std::ofstream(path("odd")) << "seven b";
  expect_error(host({"--in", path("odd"), "--out", out()}), "no whole number of items of 4 bytes");
  expect_error(host({"--in", in(), "--out", in(), "--force"}), "the same file");
  fs::create_hard_link(in(), out());
  expect_error(words({"--force"}), "the same file");
  fs::remove(out());
  expect_error(words({"--json", out()}), "the same file");
  expect_error(host({"--in", in(), "--out", folder_.path()}), "not a regular file");
  expect_error(host({"--in", in(), "--out", path("new/")}), "names no file");
  expect_error(words({"--budget", "16000"}), "give at least that");
  expect_error(host({"--in", in(), "--chunk", "2"}), "an item has 4 bytes");
  expect_error(host({"--generate", "2^38", "--chunk", "1KiB"}), "larger --chunk");
  expect_error(words({"--io-threads", "0"}), "from 1 to 256");
  expect_error(words({"--scan", "cpu_sequentiel"}), "cpu_sequential");
  expect_error(words({"--scan", "best"}), "does not run on --device host");
  for (const std::string option : {"--write=mapping", "--durable", "--fresh"}) {
    expect_error({"stream-scan", "--generate", "1000", "--device", "host", option},
                 option.substr(0, option.find('=')) + " would have no effect: the result stays in memory");
  }
  expect_error(words({"--compare", "duplex"}), "leave out --device host");
  expect_nothing_left();
  std::ofstream(out()) << "mine";
  expect_error(words(), "--force");
  EXPECT_EQ(fs::file_size(out()), 4u);
}

}  // namespace
}  // namespace scanlab::cli
