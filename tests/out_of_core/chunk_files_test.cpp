// The files of stream-scan, as the system sees them: what is on the disk when a state counts it, and what is made of
// calls that fail, are interrupted, or do a part. The calls are watched: this program's own stand before the C
// library's.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "harness/out_of_core/chunk_files.hpp"
#include "tests/program.hpp"
#include "tests/test_folder.hpp"

namespace scanlab::out_of_core {
namespace {

namespace fs = std::filesystem;

/// Which file a descriptor or a path names; none if there is no such file.
using FileId = std::pair<dev_t, ino_t>;
FileId id_of(const struct stat& status) { return {status.st_dev, status.st_ino}; }
std::optional<FileId> id_of(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 ? std::optional(id_of(status)) : std::nullopt;
}
std::optional<FileId> id_of(const fs::path& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? std::optional(id_of(status)) : std::nullopt;
}

/// While there is one, all writing of files by this process goes through it.
class Watch {
 public:
  /// A file that was written whole under another name, and then given this one.
  struct Renamed {
    fs::path to;
    bool synced = true;           ///< all that was written to it was on the disk
    std::int64_t partial_to = 0;  ///< bytes from the start of OUT.partial that were
    std::int64_t counted = 0;     ///< of a state: the bytes that it counts
    bool beside_a_state = false;  ///< there was one
  };

  explicit Watch(fs::path output) : partial_(output.string() + ".partial") { current() = this; }
  ~Watch() { current() = nullptr; }
  static Watch*& current() {
    static Watch* watch = nullptr;
    return watch;
  }

  std::optional<int> fail_sync;        ///< so many more calls that make data durable go well, and the next fails,
  bool recovers = false;               ///< but not those behind it
  std::optional<std::size_t> at_most;  ///< so many bytes a read or a write, and every second call is interrupted
  std::vector<Renamed> renamed;
  int syncs = 0;

  void wrote(int descriptor, std::int64_t place, std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (const auto file = id_of(descriptor)) dirty_[*file].push_back({place, bytes});
  }

  template <class Real>
  int sync(int descriptor, Real real) {
    const auto file = id_of(descriptor);
    std::size_t before = 0;  // what is written while this goes on may miss it
    {
      const std::lock_guard lock(mutex_);
      ++syncs;
      if (fail_sync && (*fail_sync)-- == 0) {
        fail_sync = recovers ? std::nullopt : std::optional(0);
        errno = EIO;
        return -1;
      }
      if (file) before = dirty_[*file].size();
    }
    const int result = real(descriptor);
    const std::lock_guard lock(mutex_);
    if (result == 0 && file) {
      auto& ranges = dirty_[*file];
      ranges.erase(ranges.begin(), ranges.begin() + static_cast<std::ptrdiff_t>(std::min(before, ranges.size())));
    }
    return result;
  }

  void renames(const fs::path& from, const fs::path& to) {
    const std::lock_guard lock(mutex_);
    Renamed entry{.to = to, .beside_a_state = fs::exists(partial_.string() + ".json")};
    if (const auto file = id_of(from)) entry.synced = dirty_[*file].empty();
    entry.partial_to = std::numeric_limits<std::int64_t>::max();
    if (const auto file = id_of(partial_)) {
      for (const auto& [place, bytes] : dirty_[*file]) entry.partial_to = std::min(entry.partial_to, place);
    }
    std::ifstream text(from);
    const auto state = nlohmann::json::parse(text, nullptr, false);
    if (state.is_object()) entry.counted = state.value("bytes_done", std::int64_t{0});
    renamed.push_back(entry);
  }

  /// Whether this call is to be interrupted; else how much of it is done.
  std::optional<std::size_t> allowed(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (!at_most) return bytes;
    interrupt_ = !interrupt_;
    return interrupt_ ? std::nullopt : std::optional(std::min(bytes, *at_most));
  }

 private:
  fs::path partial_;
  std::mutex mutex_;
  std::map<FileId, std::vector<std::pair<std::int64_t, std::int64_t>>> dirty_;  ///< place and bytes, not on the disk
  bool interrupt_ = false;
};

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace
}  // namespace scanlab::out_of_core

using scanlab::out_of_core::real;
using scanlab::out_of_core::Watch;

extern "C" {

ssize_t pwrite(int file, const void* from, size_t bytes, off_t place) {
  static auto* const call = real<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  Watch* const watch = Watch::current();
  if (watch == nullptr) return call(file, from, bytes, place);
  const auto allowed = watch->allowed(bytes);
  if (!allowed) {
    errno = EINTR;
    return -1;
  }
  const ssize_t written = call(file, from, *allowed, place);
  if (written > 0) watch->wrote(file, place, written);
  return written;
}

ssize_t pread(int file, void* to, size_t bytes, off_t place) {
  static auto* const call = real<ssize_t(int, void*, size_t, off_t)>("pread");
  Watch* const watch = Watch::current();
  const auto allowed = watch == nullptr ? std::optional(bytes) : watch->allowed(bytes);
  if (!allowed) {
    errno = EINTR;
    return -1;
  }
  return call(file, to, *allowed, place);
}

ssize_t write(int file, const void* from, size_t bytes) {
  static auto* const call = real<ssize_t(int, const void*, size_t)>("write");
  const ssize_t written = call(file, from, bytes);
  if (Watch* const watch = Watch::current(); watch != nullptr && written > 0) watch->wrote(file, 0, written);
  return written;
}

/// Requested space is written through a mapping, without visible effect.
int posix_fallocate(int file, off_t place, off_t bytes) {
  static auto* const call = real<int(int, off_t, off_t)>("posix_fallocate");
  const int error = call(file, place, bytes);
  if (Watch* const watch = Watch::current(); watch != nullptr && error == 0) watch->wrote(file, place, bytes);
  return error;
}

int fdatasync(int file) {
  static auto* const call = real<int(int)>("fdatasync");
  Watch* const watch = Watch::current();
  return watch == nullptr ? call(file) : watch->sync(file, call);
}

int fsync(int file) {
  static auto* const call = real<int(int)>("fsync");
  Watch* const watch = Watch::current();
  return watch == nullptr ? call(file) : watch->sync(file, call);
}

int rename(const char* from, const char* to) noexcept {
  static auto* const call = real<int(const char*, const char*)>("rename");
  if (Watch* const watch = Watch::current()) watch->renames(from, to);
  return call(from, to);
}

}  // extern "C"

namespace scanlab::out_of_core {
namespace {

using Json = nlohmann::ordered_json;

class ChunkFiles : public testing::Test {
 protected:
  static constexpr int kChunks = 40;
  static constexpr std::int64_t kChunkBytes = 4096;

  ChunkFiles() {
    items_.resize(kChunks * kChunkBytes / sizeof(std::int32_t));
    std::iota(items_.begin(), items_.end(), 1);
    std::ofstream(in(), std::ios::binary).write(reinterpret_cast<const char*>(items_.data()), kChunks * kChunkBytes);
  }

  fs::path in() const { return folder_ / "in"; }
  fs::path out() const { return folder_ / "out"; }
  fs::path partial() const { return folder_ / "out.partial"; }
  fs::path state() const { return folder_ / "out.partial.json"; }

  std::vector<std::int32_t> written() const {
    std::vector<std::int32_t> items(items_.size());
    std::ifstream file(out(), std::ios::binary);
    file.read(reinterpret_cast<char*>(items.data()), kChunks * kChunkBytes);
    return file.gcount() == kChunks * kChunkBytes ? items : std::vector<std::int32_t>{};
  }
  std::vector<std::int32_t> sums() const {
    std::vector<std::int32_t> all = items_;
    std::partial_sum(items_.begin(), items_.end(), all.begin());
    return all;
  }

  cli::Result scan(const std::vector<std::string>& more) const {
    return cli::run_program(cli::with({"stream-scan", "--in", in(), "--out", out(), "--device", "host", "--io-threads",
                                       "3", "--chunk", std::to_string(kChunkBytes)},
                                      more));
  }

  static std::vector<std::byte> chunk(int index) { return std::vector<std::byte>(kChunkBytes, std::byte(index)); }
  static void write_chunk(ResumableOutput& output, int index) {
    output.write(index * kChunkBytes, chunk(index).data(), kChunkBytes);
    output.chunks_written(index + 1, (index + 1) * kChunkBytes, std::vector<std::byte>(4, std::byte(index)));
  }
  ResumableOutput open_output(const OutputOptions& options) const {
    return {out(), 3 * kChunkBytes, Json{{"asked", "the same"}}, options};
  }

  TestFolder folder_;
  std::vector<std::int32_t> items_;
};

TEST_F(ChunkFiles, OfADurableRunNothingCountsThatIsNotOnTheDisk) {
  for (const std::string by : {"pwrite", "mapping"}) {
    Watch watch(out());
    const cli::Result result = scan({"--durable", "--write", by});
    ASSERT_EQ(result.status, scanlab::kOk) << result.err;
    ASSERT_GE(watch.renamed.size(), 2u) << "no state was written, or the output has not its name";
    for (const Watch::Renamed& each : watch.renamed) {
      EXPECT_TRUE(each.synced) << by << ": " << each.to << " has its name before its text is on the disk";
      EXPECT_GE(each.partial_to, each.counted) << by << ": a state counts what is not on the disk";
    }
    EXPECT_EQ(watch.renamed.back().to, out());
    EXPECT_FALSE(watch.renamed.back().beside_a_state) << "a state outlives what it counts";
    EXPECT_GT(watch.renamed[watch.renamed.size() - 2].counted, 0);
    EXPECT_EQ(written(), sums());
    fs::remove(out());
  }
}

TEST_F(ChunkFiles, TheWatchSeesARunThatIsNotDurable) {
  Watch watch(out());
  ASSERT_EQ(scan({}).status, scanlab::kOk);
  EXPECT_EQ(watch.syncs, 0);
  const auto early = [](const Watch::Renamed& each) { return !each.synced || each.partial_to < each.counted; };
  EXPECT_EQ(std::ranges::count_if(watch.renamed, early), static_cast<std::ptrdiff_t>(watch.renamed.size()));
}

TEST_F(ChunkFiles, ADiskThatCannotKeepDataIsSaidAndNothingCountsThatItLost) {
  for (const int well : {0, 1, 2, 3, 6, 7}) {
    std::int64_t counted = 0;
    {
      Watch watch(out());
      watch.fail_sync = well;
      const cli::Result result = scan({"--durable"});
      EXPECT_EQ(result.status, scanlab::kBadInput) << well;
      EXPECT_TRUE(has(result.err, "cannot write '" + partial().string()));
      EXPECT_TRUE(has(result.err, "Input/output error"));
      for (const Watch::Renamed& each : watch.renamed) counted = std::max(counted, each.counted);
      EXPECT_EQ(watch.renamed.size(), static_cast<std::size_t>(well / 2))
          << "a state needs two: the data's and its own";
    }
    EXPECT_FALSE(fs::exists(out()));
    EXPECT_EQ(fs::exists(state()), well >= 2);
    EXPECT_FALSE(fs::exists(state().string() + ".next"));
    if (well >= 2) {
      std::ifstream text(state());
      EXPECT_EQ(Json::parse(text).at("bytes_done"), counted);
    }
    EXPECT_EQ(scan({"--durable"}).status, scanlab::kOk);
    EXPECT_EQ(written(), sums()) << well;
    fs::remove(out());
  }
}

TEST_F(ChunkFiles, WhatTheDiskLostOnceCountsNoMoreWhateverItSaysLater) {
  Watch watch(out());
  ResumableOutput output = open_output({.durable = true});
  write_chunk(output, 0);
  watch.fail_sync = 0;
  watch.recovers = true;  // the system reports an error once
  EXPECT_THROW(write_chunk(output, 1), FileError);
  EXPECT_THROW(write_chunk(output, 2), FileError);
  EXPECT_THROW(output.finish(), FileError);
  EXPECT_EQ(output.chunks_done(), 1);
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(ChunkFiles, AStateThatCouldNotBeWrittenChangesNothing) {
  Watch watch(out());
  ResumableOutput output = open_output({.durable = true});
  write_chunk(output, 0);
  watch.fail_sync = 1;  // the data's goes well
  EXPECT_THROW(write_chunk(output, 1), FileError);
  EXPECT_EQ(output.chunks_done(), 1);
  EXPECT_EQ(output.carry(), std::vector<std::byte>(4, std::byte{0}));
  watch.fail_sync.reset();
  write_chunk(output, 2);
  EXPECT_EQ(output.chunks_done(), 3);
}

TEST_F(ChunkFiles, OnlyADurableStateOutlivesTheMachine) {
  for (const bool durable : {true, false}) {
    {
      ResumableOutput output = open_output({.durable = durable});
      write_chunk(output, 0);
      write_chunk(output, 1);
    }
    Json changed = Json::parse(std::ifstream(state()));
    EXPECT_EQ(changed.at("durable"), durable);
    EXPECT_FALSE(changed.at("boot").get<std::string>().empty());
    changed["boot"] = "of another day";
    std::ofstream(state()) << changed;
    ResumableOutput again = open_output({});
    EXPECT_EQ(again.chunks_done(), durable ? 2 : 0);
    EXPECT_EQ(again.carry(), durable ? std::vector<std::byte>(4, std::byte{1}) : std::vector<std::byte>{});
    EXPECT_EQ(again.begun_anew().empty(), durable) << again.begun_anew();
    again.discard();
    EXPECT_FALSE(fs::exists(partial()) || fs::exists(state()));
  }
}

TEST_F(ChunkFiles, CallsThatAreInterruptedOrDoAPartAreGoneOnWith) {
  Watch watch(out());
  watch.at_most = 1000;
  const cli::Result result = scan({"--verify"});
  EXPECT_EQ(result.status, scanlab::kOk) << result.err;
  EXPECT_EQ(written(), sums());
}

}  // namespace
}  // namespace scanlab::out_of_core
