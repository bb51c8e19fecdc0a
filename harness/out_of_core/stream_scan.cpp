#include "harness/out_of_core/stream_scan.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "harness/core/operators.hpp"
#include "harness/host/clock.hpp"
#include "harness/host/interrupt.hpp"
#include "harness/host/parallel.hpp"
#include "harness/host/progress.hpp"
#include "harness/host/status.hpp"
#include "harness/out_of_core/chunk_threads.hpp"
#include "harness/verify/input.hpp"
#ifdef SCANLAB_WITH_CUDA
#include "harness/cuda/device.hpp"
#include "harness/cuda/error.hpp"
#include "harness/cuda/nvml.hpp"
#include "harness/cuda/pinned_memory.hpp"
#endif

namespace scanlab::out_of_core {

std::string_view name(Way way) {
  constexpr std::array kNames{"duplex_copy", "naive", "files", "streamed"};
  return kNames.at(static_cast<std::size_t>(way));
}

std::string in_bytes(std::size_t bytes) {
  if (bytes >= std::size_t{10} << 30) return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1u << 30));
  if (bytes >= std::size_t{10} << 20) return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1u << 20));
  return fmt::format("{} bytes", bytes);
}

namespace {

// ------------------------------------------------------------------------------------------------- verification

/// Calls body(begin, end) on ranges that together are [0, count), on all cores; throws what a body threw.
void for_ranges(std::int64_t count, const std::function<void(std::int64_t, std::int64_t)>& body) {
  std::exception_ptr failure;
  std::mutex mutex;
  parallel_ranges(count, 1, [&](std::int64_t begin, std::int64_t end) {
    try {
      body(begin, end);
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
  });
  if (failure) std::rethrow_exception(failure);
}

/// Whether the output is the scan of the input: each output item combines the previous one and an input item.
bool is_scan(const Problem& problem, const ReadPiece& read_in, const ReadPiece& read_out) {
  constexpr std::int64_t kAtOnce = 1 << 18;
  std::atomic<bool> right = true;
  with_monoid(problem.type, problem.op, [&]<class Op>(Op op) {
    using Item = typename Op::Item;
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(Item));
    const bool inclusive = problem.mode == Mode::inclusive;
    for_ranges(ceil_div(problem.items, kAtOnce), [&](std::int64_t begin, std::int64_t end) {
      std::vector<Item> in(kAtOnce + 1);
      std::vector<Item> out(kAtOnce + 1);
      for (std::int64_t piece = begin; piece < end; ++piece) {
        const std::int64_t first = piece * kAtOnce;
        const std::int64_t before = first > 0 ? 1 : 0;  // include the previous item
        const std::int64_t items = std::min(kAtOnce, problem.items - first) + before;
        const auto bytes = static_cast<std::size_t>(items * kBytes);
        read_in((first - before) * kBytes, reinterpret_cast<std::byte*>(in.data()), bytes);
        read_out((first - before) * kBytes, reinterpret_cast<std::byte*>(out.data()), bytes);
        if (first == 0 && !(out[0] == (inclusive ? in[0] : Op::identity()))) right = false;
        for (std::size_t i = 1; i < static_cast<std::size_t>(items); ++i) {
          if (!(out[i] == op(out[i - 1], inclusive ? in[i] : in[i - 1]))) right = false;
        }
      }
    });
  });
  return right;
}

/// Throws CommandError if the output is wrong. Returns false if it was not verified.
bool verified(const StreamScan& asked, const ReadPiece& read_in, const ReadPiece& read_out) {
  if (!asked.verify || is_floating(asked.scan.problem.type)) return false;
  if (is_scan(asked.scan.problem, read_in, read_out)) return true;
  throw CommandError(kFailed, fmt::format("the output of {} is not the scan of its input", asked.scan.scan->about.id));
}

// ------------------------------------------------------------------------------------------------- what a pass needs

#ifdef SCANLAB_WITH_CUDA
HostArray fast_memory(const StreamScan& asked, std::size_t bytes) {
  return asked.cuda ? cuda::pinned_memory(bytes) : pageable_memory(bytes);
}
std::unique_ptr<ScanDevice> make_device(bool cuda, const ChunkedScan& scan, const Recording& recording) {
  return cuda ? cuda_scan_device(scan, recording) : host_scan_device(scan, recording);
}
std::function<double()> clock_of(const StreamScan& asked) {
  if (!asked.cuda) return [] { return 0.0; };
  const auto clock = std::make_shared<cuda::ClockReader>(cuda::probe_device().facts.value().pci_bus_id);
  return [clock] { return clock->sm_mhz(); };
}
using cuda::OutOfMemory;
#else
std::function<double()> clock_of(const StreamScan&) {
  return [] { return 0.0; };
}
HostArray fast_memory(const StreamScan&, std::size_t bytes) { return pageable_memory(bytes); }
std::unique_ptr<ScanDevice> make_device(bool, const ChunkedScan& scan, const Recording& recording) {
  return host_scan_device(scan, recording);
}
double duplex_copy_seconds(const std::byte*, std::byte*, std::size_t, std::size_t) {
  throw CommandError(kNoDevice, "this build has no CUDA: ./check and ./reproduce make one that has");
}
using OutOfMemory = measure::LacksMemory;
#endif

/// Returns a function that reads any part of the input, by its byte offset.
ReadPiece reader(const StreamScan& asked) {
  if (asked.input) {
    return
        [&input = *asked.input](std::int64_t place, std::byte* to, std::size_t bytes) { input.read(place, to, bytes); };
  }
  const Problem& problem = asked.scan.problem;
  return with_monoid(problem.type, problem.op, [&]<class Op>(Op) -> ReadPiece {
    return [seed = asked.seed, n = problem.items](std::int64_t place, std::byte* to, std::size_t bytes) {
      using Item = typename Op::Item;
      const std::int64_t first = place / static_cast<std::int64_t>(sizeof(Item));
      auto* const items = reinterpret_cast<Item*>(to);
      for (std::size_t i = 0; i < bytes / sizeof(Item); ++i) {
        items[i] = verify::input_item<Op>(InputKind::random, seed, first + static_cast<std::int64_t>(i), n);
      }
    };
  });
}

/// Called before each chunk: shows the progress, and returns whether to continue.
class Pace {
 public:
  /// `ahead`: the number of earlier chunks that may still be in flight.
  Pace(const ChunkedScan& scan, int ahead, Progress& progress) : scan_(scan), ahead_(ahead), progress_(progress) {}

  bool operator()(const Chunk& chunk) {
    constexpr double kSecondsToTell = 1;  // earlier, the buffers still fill and the rate is meaningless
    const double seconds = seconds_since(start_);
    const int done = chunk.index - ahead_;
    if (done > 0 && seconds >= kSecondsToTell) {
      const double bytes = static_cast<double>(done) * static_cast<double>(scan_.chunk_items()) *
                           static_cast<double>(scan_.item_bytes());
      const double left = seconds / done * (scan_.chunks - scan_.first_chunk - done);
      progress_.show(fmt::format("chunk {} of {}, {:.2f} GB/s in and out, {} left", scan_.first_chunk + done,
                                 scan_.chunks, 1e-9 * bytes / seconds, in_words(left)));
    }
    return !interrupted();
  }

 private:
  const ChunkedScan& scan_;
  int ahead_;
  Progress& progress_;
  Clock::time_point start_ = Clock::now();
};

// ------------------------------------------------------------------------------------------------- from file to file

/// Returns the facts that must agree for a later run to resume this one.
nlohmann::ordered_json identity(const StreamScan& asked) {
  using Json = nlohmann::ordered_json;
  const ChunkedScan& scan = asked.scan;
  const Json generated{{"generate", scan.problem.items}, {"seed", asked.seed}};
  return {{"input", asked.input ? asked.input->identity() : generated},
          {"type", name(scan.problem.type)},
          {"op", name(scan.problem.op)},
          {"mode", name(scan.problem.mode)},
          {"scan", scan.scan->about.id},
          {"chunks", scan.chunks}};
}

/// Calls `f`, and turns a lack of memory into an error message.
template <class F>
auto with_memory(F&& f) -> decltype(f()) try {
  return f();
} catch (const OutOfMemory& error) {
  throw CommandError(kBadInput, fmt::format("{}; give a smaller --budget", error.what()));
} catch (const std::bad_alloc&) {
  throw CommandError(kBadInput, "there is not enough host memory: give --out FILE, or a smaller --chunk");
}

ReadPiece reader(const HostArray& array) {
  return [items = array.get()](std::int64_t place, std::byte* to, std::size_t size) {
    std::copy_n(items + place, size, to);
  };
}

}  // namespace

StreamScanRuns::StreamScanRuns(const StreamScan& asked, std::ostream& err)
    : asked_(asked), err_(err), progress_(err), sm_clock_mhz_(clock_of(asked)) {
  if (asked.output) return;
  with_memory([&] {
    in_ = fast_memory(asked, asked.bytes());
    out_ = fast_memory(asked, asked.bytes());
  });
  const auto item = static_cast<std::int64_t>(asked.scan.item_bytes());
  for_ranges(asked.scan.problem.items, [&, read = reader(asked)](std::int64_t begin, std::int64_t end) {
    read(begin * item, in_.get() + begin * item, static_cast<std::size_t>((end - begin) * item));
  });
  if (asked.input) asked.input->check_unchanged();
}

std::optional<Repetition> StreamScanRuns::run(Way way) {
  // Remove the previous output, and so free its pages, before the next run is timed.
  if (std::exchange(has_output_, false)) std::filesystem::remove(*asked_.output);
  std::optional<Repetition> done = with_memory([&] { return asked_.output ? scan_to_file(way) : scan_in_memory(way); });
  has_output_ = done && asked_.output && way != Way::files;
  return done;
}

std::optional<Repetition> StreamScanRuns::scan_in_memory(Way way) {
  constexpr std::byte kPoison{0xA5};
  const ChunkedScan& scan = asked_.scan;
  for_ranges(static_cast<std::int64_t>(asked_.bytes()),
             [&](std::int64_t begin, std::int64_t end) { std::fill(out_.get() + begin, out_.get() + end, kPoison); });
  Repetition done{.way = way, .bytes = asked_.bytes()};
  if (way == Way::duplex_copy) {
    done.seconds = duplex_copy_seconds(in_.get(), out_.get(), done.bytes,
                                       static_cast<std::size_t>(scan.chunk_items()) * scan.item_bytes());
    done.sm_clock_mhz = sm_clock_mhz_();
    return done;
  }
  const Recording recording = record(scan);
  const std::unique_ptr<ScanDevice> device = make_device(asked_.cuda, scan, recording);
  const auto start = Clock::now();
  if (way == Way::naive) {
    const auto write = [&](std::int64_t place, const std::byte* from, std::size_t size) {
      std::copy_n(from, size, out_.get() + place);
    };
    scan_one_by_one(recording, *device, scan.item_bytes(), reader(in_), write, Pace(scan, 0, progress_));
  } else {
    ChunksInMemory host(*device, scan, in_.get(), out_.get());
    replay(recording, *device, host, Pace(scan, scan.host_buffers, progress_));
  }
  done.seconds = seconds_since(start);
  done.sm_clock_mhz = sm_clock_mhz_();
  progress_.clear();
  if (interrupted()) {
    fmt::print(err_, "scanlab: interrupted; every finished repetition is kept\n");
    return std::nullopt;
  }
  done.verified = verified(asked_, reader(in_), reader(out_));
  return done;
}

/// Scans the chunks left into `output`; `written` counts them. Returns the seconds.
double StreamScanRuns::pass_chunks(const ChunkedScan& scan, Way way, ResumableOutput& output, int& written) {
  const auto item = static_cast<std::int64_t>(scan.item_bytes());
  const std::int64_t base = scan.items_before(scan.first_chunk) * item;
  const ReadPiece read = [base, any = reader(asked_)](std::int64_t place, std::byte* to, std::size_t bytes) {
    any(base + place, to, bytes);
  };
  const WritePiece write = [&](std::int64_t place, const std::byte* from, std::size_t bytes) {
    output.write(base + place, from, bytes);
    if (way == Way::naive) ++written;
  };
  const Recording recording = record(scan);
  const std::unique_ptr<ScanDevice> device =
      way == Way::files ? no_scan_device(scan) : make_device(asked_.cuda, scan, recording);
  if (way == Way::naive) {
    const auto start = Clock::now();
    scan_one_by_one(recording, *device, scan.item_bytes(), read, write, Pace(scan, 0, progress_));
    return seconds_since(start);
  }
  ChunksInFiles host(
      *device, scan, [&](std::size_t bytes) { return fast_memory(asked_, bytes); }, asked_.io_threads, read, write,
      [&](int chunks, std::span<const std::byte> carry) {
        written = chunks;
        if (way == Way::files) return;  // no scan to resume
        const int all = scan.first_chunk + chunks;
        output.chunks_written(all, scan.items_before(all) * item, carry);
      });
  const auto start = Clock::now();  // pinned buffers are allocated, and nothing is read yet
  replay(recording, *device, host, Pace(scan, scan.host_buffers, progress_));
  return seconds_since(start);
}

/// Throws CommandError, which says what is kept.
std::optional<Repetition> StreamScanRuns::scan_to_file(Way way) {
  ChunkedScan scan = asked_.scan;
  const auto bytes_before = [&](int chunks) {
    return scan.items_before(chunks) * static_cast<std::int64_t>(scan.item_bytes());
  };
  ResumableOutput output(*asked_.output, bytes_before(scan.chunks), identity(asked_), asked_.output_options);
  if (!output.begun_anew().empty()) fmt::print(err_, "scanlab: starts over: {}\n", output.begun_anew());
  scan.first_chunk = std::clamp(output.chunks_done(), 0, scan.chunks);
  output.check_state(scan.first_chunk, bytes_before(scan.first_chunk), scan.first_chunk > 0 ? scan.item_bytes() : 0);
  scan.carry = output.carry();
  if (scan.first_chunk > 0) {
    fmt::print(err_, "scanlab: resumes after chunk {} of {}\n", scan.first_chunk, scan.chunks);
  }
  const auto kept = [&] {
    return fmt::format("{} of {} chunks are kept in '{}': the same command{} resumes from there", output.chunks_done(),
                       scan.chunks, output.partial().string(),
                       asked_.measures ? " without --compare, --repetitions and --json" : "");
  };
  Repetition done{.way = way};
  int written = 0;  // chunks, by this run
  try {
    if (scan.first_chunk < scan.chunks) done.seconds = pass_chunks(scan, way, output, written);
    done.sm_clock_mhz = sm_clock_mhz_();
    progress_.clear();
    if (asked_.input) asked_.input->check_unchanged();
    const int reached = scan.first_chunk + written;
    if (asked_.bytes() > 0 && reached < scan.chunks) {
      fmt::print(err_, "scanlab: interrupted; {}\n",
                 output.chunks_done() > 0 ? kept() : "nothing of this scan is kept");
      return std::nullopt;
    }
    done.bytes = static_cast<std::size_t>(bytes_before(reached) - bytes_before(scan.first_chunk));
    if (way == Way::files) {
      output.discard();  // nothing was scanned
      return done;
    }
    if (asked_.verify) {
      const InputFile result(output.partial(), scan.item_bytes());
      done.verified = verified(asked_, reader(asked_), [&](std::int64_t place, std::byte* to, std::size_t bytes) {
        result.read(place, to, bytes);
      });
    }
    output.finish();
  } catch (const InputChanged&) {
    progress_.clear();
    output.discard();
    throw;
  } catch (const FileError& error) {
    progress_.clear();
    if (output.chunks_done() == 0) throw;
    throw FileError(fmt::format("{}; {}", error.what(), kept()));
  } catch (const CommandError&) {  // the output is wrong
    output.discard();
    throw;
  }
  return done;
}

}  // namespace scanlab::out_of_core
