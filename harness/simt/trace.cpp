#include "harness/simt/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

namespace scanlab::simt {

const char* name(FaultKind kind) {
  constexpr std::array kNames{"race",       "out_of_bounds", "never_written", "barrier_divergence", "warp_divergence",
                              "misaligned", "no_progress"};
  return kNames[static_cast<std::size_t>(kind)];
}

void BankCounts::add(const BankCounts& other) {
  groups += other.groups;
  transactions += other.transactions;
  max_degree = std::max(max_degree, other.max_degree);
}

void Counts::add(const Counts& other) {
  active_threads += other.active_threads;
  operations += other.operations;
  swaps += other.swaps;
  shared_requests += other.shared_requests;
  banks16.add(other.banks16);
  banks32.add(other.banks32);
  global_bytes_read += other.global_bytes_read;
  global_bytes_written += other.global_bytes_written;
  global_sectors += other.global_sectors;
  global_ideal_sectors += other.global_ideal_sectors;
}

std::string Step::label() const { return number == 0 ? name : fmt::format("{} {}", name, number); }

Counts Report::totals() const {
  Counts sum;
  for (const Launch& launch : launches) {
    for (const Step& step : launch.steps) sum.add(step.counts);
  }
  return sum;
}

std::int64_t Report::barriers() const {
  std::int64_t sum = 0;
  for (const Launch& launch : launches) sum += launch.barriers;
  return sum;
}

int bank_conflict_degree(std::span<const Access> group, int banks) {
  // Words that several lanes share are served once (broadcast). A group asks for at most one row of words.
  std::array<std::uint64_t, 32> words{};
  std::array<int, 32> rows{};
  auto end = words.begin();
  int degree = 0;
  for (const Access& access : group) {
    for (std::uint64_t byte = access.address; byte < access.address + access.bytes; byte += 4) {
      if (std::find(words.begin(), end, byte / 4) != end) continue;
      *end++ = byte / 4;
      degree = std::max(degree, ++rows[byte / 4 % static_cast<std::uint64_t>(banks)]);
    }
  }
  return degree;
}

BankCounts count_banks(std::span<const Access> request, int banks) {
  const int lanes_per_group = std::min(32, banks * 4 / std::max<int>(request.front().bytes, 4));
  BankCounts counts;
  while (!request.empty()) {
    const int group = request.front().lane / lanes_per_group;
    const auto end = std::ranges::find_if(request, [&](const Access& a) { return a.lane / lanes_per_group != group; });
    const auto size = static_cast<std::size_t>(end - request.begin());
    const int degree = bank_conflict_degree(request.first(size), banks);
    counts.add({.groups = 1, .transactions = degree, .max_degree = degree});
    request = request.subspan(size);
  }
  return counts;
}

std::int64_t count_sectors(std::span<const Access> request) {
  std::array<std::uint64_t, 64> sectors{};
  auto end = sectors.begin();
  for (const Access& access : request) {
    *end++ = access.address / 32;
    *end++ = (access.address + access.bytes - 1) / 32;
  }
  std::sort(sectors.begin(), end);
  return std::unique(sectors.begin(), end) - sectors.begin();
}

std::uint32_t Sites::id(const std::source_location& where) {
  const Key key{where.file_name(), (std::uint64_t{where.line()} << 32) | where.column()};
  const auto [entry, added] = ids_.try_emplace(key, static_cast<std::uint32_t>(sites_.size()));
  if (added) sites_.push_back(where);
  return entry->second;
}

std::string Sites::text(const std::source_location& where) {
  std::string_view file = where.file_name();
  // The path below the source tree is what a reader can find.
  for (const std::string_view root : {"variants/", "baselines/", "harness/", "tests/"}) {
    if (const auto at = file.rfind(root); at != std::string_view::npos) {
      file = file.substr(at);
      break;
    }
  }
  return fmt::format("{}:{}", file, where.line());
}

void count_accesses(std::vector<Access>& accesses, Counts& counts) {
  const auto request = [](const Access& a) { return std::tuple(a.warp, a.site, a.occurrence, a.space, a.write); };
  std::ranges::sort(accesses, [&](const Access& a, const Access& b) {
    return std::tuple(request(a), a.lane) < std::tuple(request(b), b.lane);
  });
  for (auto begin = accesses.begin(); begin != accesses.end();) {
    const Access& first = *begin;
    const auto limit = begin + std::min<std::ptrdiff_t>(32, accesses.end() - begin);
    const auto end = std::find_if(begin, limit, [&](const Access& a) { return request(a) != request(first); });
    const std::span<const Access> all(begin, end);
    begin = end;
    if (first.space == Space::shared) {
      ++counts.shared_requests;
      counts.banks16.add(count_banks(all, 16));
      counts.banks32.add(count_banks(all, 32));
    } else {
      // Lanes that share an address ask for it once: the request is broadcast.
      std::array<std::uint64_t, 32> distinct{};
      const auto last = std::ranges::transform(all, distinct.begin(), &Access::address).out;
      std::sort(distinct.begin(), last);
      const std::int64_t bytes = (std::unique(distinct.begin(), last) - distinct.begin()) * std::int64_t{first.bytes};
      (first.write ? counts.global_bytes_written : counts.global_bytes_read) += bytes;
      counts.global_sectors += count_sectors(all);
      counts.global_ideal_sectors += (bytes + 31) / 32;
    }
  }
  accesses.clear();
}

namespace {

bool same_thread(const Shadow::Accessor& a, const Shadow::Accessor& b) {
  return a.launch == b.launch && a.block == b.block && a.thread == b.thread;
}

bool same_warp(const Shadow::Accessor& a, const Shadow::Accessor& b) {
  return a.block == b.block && a.thread / kWarpLanes == b.thread / kWarpLanes;
}

/// Whether nothing orders two accesses. Launch 0 marks a cell that has not been accessed.
bool unordered(const Shadow::Accessor& a, const Shadow::Accessor& b) {
  if (a.launch != b.launch || same_thread(a, b)) return false;
  if (a.block != b.block) return true;
  return a.interval == b.interval && (!same_warp(a, b) || a.warp_interval == b.warp_interval);
}

}  // namespace

void Shadow::Made::add(const Accessor& by) {
  if (unordered(last, by)) {
    (last.block != by.block ? other_block : same_warp(last, by) ? other_lane : other_warp) = last;
  }
  last = by;
}

const Shadow::Accessor* Shadow::Made::unordered_with(const Accessor& by) const {
  for (const Accessor* each : {&last, &other_lane, &other_warp, &other_block}) {
    if (unordered(*each, by)) return each;
  }
  return nullptr;
}

Shadow::Conflict Shadow::conflict(std::size_t index, bool write, const Accessor& by) const {
  using What = Conflict::What;
  const Cell& cell = cells_[index];
  if (const Accessor* writer = cell.writes.unordered_with(by)) return {What::race, *writer, true};
  const Accessor* reader = write ? cell.reads.unordered_with(by) : nullptr;
  if (reader != nullptr) return {What::race, *reader, false};
  if (!write && cell.writes.last.launch == 0) return {What::never_written, {}, false};
  return {};
}

void Shadow::record(std::size_t index, bool write, const Accessor& by) {
  Cell& cell = cells_[index];
  (write ? cell.writes : cell.reads).add(by);
}

}  // namespace scanlab::simt
