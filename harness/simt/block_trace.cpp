#include "harness/simt/block_trace.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace scanlab::simt {

namespace {
constexpr std::int64_t kMaxShadowedItems = 1 << 23;  // 192 bytes each; races in larger global arrays are not looked for
}  // namespace

BlockTrace::BlockTrace(EmulatorCore& core, const std::byte* shared, std::size_t shared_bytes)
    : core_(core), shared_(shared) {
  if (core.options.trace) shared_shadow_.reset(shared_bytes);
}

void BlockTrace::access(const Array& array, std::int64_t index, int items, bool write,
                        const std::source_location& where, const Shadow::Accessor& by) {
  const bool shared = array.space == Space::shared;
  const std::uint64_t base = shared ? static_cast<std::uint64_t>(static_cast<std::byte*>(array.data) - shared_)
                                    : reinterpret_cast<std::uintptr_t>(array.data);
  const std::uint64_t address = base + static_cast<std::uint64_t>(index) * array.item_bytes;
  const std::uint64_t stamp = interval_ << 16 | static_cast<std::uint64_t>(by.thread);
  accesses_.push_back({address, by.site, core_.running_worker->occurrences.next(by.site, stamp),
                       static_cast<std::uint16_t>(by.thread / kWarpLanes),
                       static_cast<std::uint8_t>(by.thread % kWarpLanes),
                       static_cast<std::uint8_t>(items * array.item_bytes), array.space, write});
  if (current_thread.accesses == 1) ++core_.counts().active_threads;
  if (shared) {
    look_for_shared_races(address, array, index, items, write, where, by);
  } else {
    look_for_global_races(array, index, items, write, where, by);
  }
}

void BlockTrace::atomic(const Array& array, std::int64_t index, bool write, const std::source_location& where,
                        const Shadow::Accessor& by) {
  if (current_thread.accesses == 1) ++core_.counts().active_threads;
  if (array.count > kMaxShadowedItems) return;
  const auto cell = static_cast<std::size_t>(index);
  auto& [plain, atomic] = core_.global_shadows[array.data];
  plain.resize(static_cast<std::size_t>(array.count));
  atomic.resize(static_cast<std::size_t>(array.count));
  const auto conflict = plain.conflict(cell, write, by);
  if (conflict.what == Shadow::Conflict::What::race) report_race(conflict, array, index, write, where, by);
  atomic.record(cell, write, by);
}

/// Words of 4 bytes are told apart, and items that are smaller; what one thread does to a word and another to the
/// second half of it, as a smaller item, is not compared.
void BlockTrace::look_for_shared_races(std::uint64_t offset, const Array& array, std::int64_t index, int items,
                                       bool write, const std::source_location& where, const Shadow::Accessor& by) {
  using What = Shadow::Conflict::What;
  const std::uint32_t step = std::min<std::uint32_t>(array.item_bytes, 4);
  const std::uint64_t end = offset + static_cast<std::uint64_t>(items) * array.item_bytes;
  for (std::uint64_t byte = offset; byte < end; byte += step) {
    const std::int64_t item = index + static_cast<std::int64_t>((byte - offset) / array.item_bytes);
    const auto conflict = shared_shadow_.conflict(byte, write, by);
    shared_shadow_.record(byte, write, by);
    if (conflict.what == What::race) {
      report_race(conflict, array, item, write, where, by);
    } else if (conflict.what == What::never_written) {
      if (shared_shadow_.conflict(byte / 4 * 4, false, by).what != What::never_written) continue;  // as part of a word
      core_.fault(FaultKind::never_written, where,
                  fmt::format("thread {} of block {} reads {}[{}], which no thread of the block has written", by.thread,
                              by.block, array.name, item));
    }
  }
}

void BlockTrace::look_for_global_races(const Array& array, std::int64_t index, int items, bool write,
                                       const std::source_location& where, const Shadow::Accessor& by) {
  if (array.count > kMaxShadowedItems) return;
  auto& [plain, atomic] = core_.global_shadows[array.data];
  plain.resize(static_cast<std::size_t>(array.count));
  for (std::int64_t item = index; item < index + items; ++item) {
    const auto cell = static_cast<std::size_t>(item);
    auto conflict = plain.conflict(cell, write, by);
    if (conflict.what != Shadow::Conflict::What::race && atomic.used()) conflict = atomic.conflict(cell, write, by);
    if (conflict.what == Shadow::Conflict::What::race) report_race(conflict, array, item, write, where, by);
    plain.record(cell, write, by);
  }
}

void BlockTrace::report_race(const Shadow::Conflict& conflict, const Array& array, std::int64_t index, bool write,
                             const std::source_location& where, const Shadow::Accessor& by) {
  const bool other_block = conflict.other.block != by.block;
  core_.fault(FaultKind::race, where,
              fmt::format("thread {} of block {} {} {}[{}], which thread {} of block {} {} at {} with no {} between",
                          by.thread, by.block, write ? "writes" : "reads", array.name, index, conflict.other.thread,
                          conflict.other.block, conflict.other_wrote ? "writes" : "reads",
                          core_.sites.text(conflict.other.site), other_block ? "end of a launch" : "barrier"));
}

}  // namespace scanlab::simt
