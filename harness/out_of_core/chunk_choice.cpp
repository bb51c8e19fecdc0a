// The chunks and buffers of a scan, by the device memory that it may take.
#include <fmt/format.h>

#include <algorithm>

#include "harness/out_of_core/stream_scan.hpp"

namespace scanlab::out_of_core {

namespace {

constexpr std::size_t kUsualChunk = std::size_t{32} << 20;  // bytes: long beside the gap between two copies
constexpr std::size_t kMinChunk = std::size_t{4} << 10;
constexpr int kMaxBuffers = 4;  // with two, a late host stops the device; four are never all waited for
constexpr std::int64_t kMaxChunks = 1 << 18;

void refuse_impossible(const ChunkedScan& scan) {
  for (const std::int64_t items : {scan.chunk_items(), scan.chunk_items() - 1}) {
    if (items < 1) continue;
    const Plan plan = scan.bind(items).plan;
    if (!plan.possible()) {
      throw CommandError(
          kBadInput, fmt::format("{} cannot scan a chunk of {} items: {}", scan.scan->about.id, items, plan.refusal));
    }
  }
}

void cut(ChunkedScan& scan, std::size_t chunk_bytes) {
  const auto items = static_cast<std::int64_t>(chunk_bytes / scan.item_bytes());
  if (items < 1) {
    throw CommandError(kBadInput, fmt::format("--chunk {}: an item has {} bytes", chunk_bytes, scan.item_bytes()));
  }
  const std::int64_t chunks = std::max<std::int64_t>(1, ceil_div(scan.problem.items, items));
  if (chunks > kMaxChunks) {
    throw CommandError(kBadInput, fmt::format("{} chunks of {} are more than {}: choose a larger --chunk", chunks,
                                              in_bytes(chunk_bytes), kMaxChunks));
  }
  scan.chunks = static_cast<int>(chunks);
  refuse_impossible(scan);
}

}  // namespace

void choose_chunks(ChunkedScan& scan, std::size_t budget, std::optional<std::size_t> chunk_bytes) {
  std::size_t chunk = chunk_bytes.value_or(kUsualChunk);
  while (true) {
    cut(scan, chunk);
    scan.buffers = buffers_within(scan, budget, kMaxBuffers);
    const auto half = static_cast<std::int64_t>(chunk / 2 / scan.item_bytes());
    const bool is_least = chunk <= kMinChunk || ceil_div(scan.problem.items, half) > kMaxChunks;
    if (chunk_bytes || scan.buffers == kMaxBuffers || is_least) break;
    chunk /= 2;
  }
  if (scan.buffers >= 2) return;
  scan.buffers = 2;
  throw CommandError(
      kBadInput,
      fmt::format("--budget {}: two chunks of {}, each with an input and an output, and what {} needs are {} "
                  "bytes; give at least that{}",
                  budget, in_bytes(static_cast<std::size_t>(scan.chunk_items()) * scan.item_bytes()),
                  scan.scan->about.id, scan.device_bytes(), chunk_bytes ? ", or a smaller --chunk" : ""));
}

}  // namespace scanlab::out_of_core
