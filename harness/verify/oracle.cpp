// The expected outputs of a scan, computed on all cores of the host in the wider arithmetic of each operator
// (variants/operators/), exactly where the operator rounds nothing.
//
// Two passes, so that chunks are independent: the aggregate of every chunk, then, from the aggregate of all chunks
// before it, every output. Items are made twice rather than kept. They are taken in the order in which they are
// scanned, row by row: at the first item of a row or segment everything starts anew.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <new>
#include <span>
#include <vector>

#include "harness/core/operators.hpp"
#include "harness/host/host_array.hpp"
#include "harness/host/parallel.hpp"
#include "harness/verify/comparison.hpp"

namespace scanlab::verify {

namespace {

constexpr std::int64_t kChunk = 4096;
constexpr std::int64_t kMinChunksPerThread = 8;

// An accumulator of an operator: push(item) appends an item, append(right) a whole accumulator, normalise() is called
// at the end of a chunk. One that rounds has rounded(), what it holds rounded to the element, and, where an item has
// other parts, with(element), the item.

template <class Op>
struct Exact {
  typename Op::Item total = Op::identity();
  void push(const typename Op::Item& item) { total = Op{}(total, item); }
  void append(const Exact& right) { push(right.total); }
  void normalise() {}
};

template <class Op>
auto make_accumulator() {
  if constexpr (Op::kRounds) {
    return typename Op::Wide{};
  } else {
    return Exact<Op>{};
  }
}

template <class Op>
class OracleBuilder {
 public:
  explicit OracleBuilder(Oracle::Data& data)
      : data_(data),
        n_(data.problem.items),
        row_(data.problem.axis()),
        segments_(data.problem.segments),
        order_(data.problem),
        chunks_(ceil_div(n_, kChunk)) {}

  void build() {
    allocate();
    const std::vector<Accumulator> prefixes = chunk_prefixes();
    parallel_ranges(chunks_, kMinChunksPerThread, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t chunk = from; chunk < to; ++chunk) write_outputs(chunk, prefixes[chunk]);
    });
  }

 private:
  using Item = typename Op::Item;
  using Accumulator = decltype(make_accumulator<Op>());

  void allocate() {  // without clearing: each page is then first touched by the thread that fills it
    const auto count = static_cast<std::size_t>(n_ / data_.every);
    data_.values = std::make_unique_for_overwrite<std::byte[]>(count * sizeof(Item));
    if (!Op::kRounds) return;
    data_.residuals = std::make_unique_for_overwrite<float[]>(count);
    data_.magnitudes = std::make_unique_for_overwrite<float[]>(count);
  }

  Item input(std::int64_t i) const { return input_item<Op>(data_.kind, data_.seed, i, n_); }
  /// The first item from `i` on with which a row or segment begins.
  std::int64_t first_row_from(std::int64_t i) const {
    return segments_.by == SegmentsBy::none ? ceil_div(i, row_) * row_ : segments_.first_from(i);
  }
  std::int64_t end_of(std::int64_t chunk) const { return std::min(n_, (chunk + 1) * kChunk); }

  /// The prefix of each chunk.
  std::vector<Accumulator> chunk_prefixes() const {
    std::vector<Accumulator> prefixes(static_cast<std::size_t>(chunks_));
    parallel_ranges(std::max<std::int64_t>(chunks_ - 1, 0), kMinChunksPerThread,
                    [&](std::int64_t from, std::int64_t to) {
                      for (std::int64_t chunk = from; chunk < to; ++chunk) prefixes[chunk + 1] = aggregate(chunk);
                    });
    for (std::int64_t chunk = 2; chunk < chunks_; ++chunk) {
      if (first_row_from((chunk - 1) * kChunk) < chunk * kChunk) continue;  // a row begins in the chunk before
      Accumulator before = prefixes[chunk - 1];
      before.append(prefixes[chunk]);
      prefixes[chunk] = before;
    }
    return prefixes;
  }

  Accumulator aggregate(std::int64_t chunk) const {
    Accumulator total;
    std::int64_t next_row = first_row_from(chunk * kChunk);
    for (std::int64_t i = chunk * kChunk; i < end_of(chunk); ++i) {
      if (i == next_row) {
        total = {};
        next_row = first_row_from(i + 1);
      }
      total.push(input(i));
    }
    total.normalise();
    return total;
  }

  void write_outputs(std::int64_t chunk, Accumulator prefix) {
    Item* const values = reinterpret_cast<Item*>(data_.values.get());
    const bool exclusive = data_.problem.mode == Mode::exclusive;
    std::int64_t next_row = first_row_from(chunk * kChunk);
    for (std::int64_t i = chunk * kChunk; i < end_of(chunk); ++i) {
      if (i == next_row) {
        prefix = {};
        next_row = first_row_from(i + 1);
      }
      const std::int64_t place = order_.place(i);
      const bool kept = (place + 1) % data_.every == 0;
      if (kept && exclusive) values[place / data_.every] = stored(prefix, place / data_.every);
      prefix.push(input(i));
      if (kept && !exclusive) values[place / data_.every] = stored(prefix, place / data_.every);
    }
  }

  /// The kept output i, with what its rounding lost beside it.
  Item stored(const Accumulator& prefix, std::int64_t i) {
    if constexpr (Op::kRounds) {
      const auto rounded = prefix.rounded();
      data_.residuals[i] = rounded.residual;
      data_.magnitudes[i] = rounded.magnitude;
      if constexpr (requires { prefix.with(rounded.value); }) {
        return prefix.with(rounded.value);
      } else {
        return rounded.value;
      }
    } else {
      return prefix.total;
    }
  }

  Oracle::Data& data_;
  std::int64_t n_;
  std::int64_t row_;  ///< items of a row
  Segments segments_;
  ScanOrder order_;
  std::int64_t chunks_;
};

/// Judges the kept outputs [from, to) on all cores; `item(k)` is the k-th.
template <class Judge, class ItemOf>
Tally tally_all(std::int64_t from, std::int64_t to, const Judge& judge, const ItemOf& item) {
  std::mutex mutex;
  Tally all;
  parallel_ranges(to - from, kMinItemsPerThread, [&](std::int64_t begin, std::int64_t end) {
    Tally tally;
    for (std::int64_t k = from + begin; k < from + end; ++k) tally.count(judge(*item(k), k), k);
    const std::scoped_lock lock(mutex);
    all.add(tally);
  });
  return all;
}

/// Compares all results with what a judge expects, bit by bit.
template <class Judge>
Outcome compare_expected(const Problem& problem, const Judge& judge, const typename Judge::Item* out) {
  const Tally tally = tally_all(0, problem.results(), judge, [&](std::int64_t j) { return out + j; });
  if (tally.wrong == 0) return {};
  const typename Judge::Item expected = judge.expected(tally.first);
  return outcome_of(problem, tally, {.got = out + tally.first, .expected = &expected}, 0);
}

/// Compares the results that are not one an item.
template <class Op>
Outcome compare_counted(const Oracle::Data& data, const typename Op::Item* out, std::int64_t chain,
                        const Counted& counted) {
  const Problem& problem = data.problem;
  const Segments& segments = problem.segments;
  if (Outcome count = outcome_of_count(problem, *counted.count); !count.passed()) return count;
  if (have_flags(segments.by)) {
    return compare_expected(problem, JudgeByFlags<Op>{data.kind, data.seed, problem.items, segments}, out);
  }
  const auto* const keys = static_cast<const std::uint8_t*>(counted.unique);
  const Tally differences =
      tally_all(0, static_cast<std::int64_t>(problem.unique_bytes()), JudgeEntries{segments, problem.items, true},
                [&](std::int64_t i) { return keys + i; });
  if (Outcome unique = outcome_of_unique(problem, differences); !unique.passed()) return unique;
  if (!read_items(segments.by)) {
    return compare_expected(problem, JudgeLengths<Op>{segments, problem.items}, out);
  }
  const auto bound = gamma_of<Op>(chain, data.kind);
  if (!bound) return no_bound(chain, problem.type);
  const auto* values = reinterpret_cast<const typename Op::Item*>(data.values.get());
  const JudgeRuns<Op> judge{{values, data.residuals.get(), data.magnitudes.get(), *bound}, segments, problem.items};
  const Tally tally = tally_all(0, problem.results(), judge, [&](std::int64_t run) { return out + run; });
  Mismatch mismatch;
  if (tally.wrong != 0) {
    const std::int64_t place = judge.place(tally.first);
    mismatch = {.got = out + tally.first, .expected = values + place};
    if (Op::kRounds) {
      mismatch.residual = data.residuals[place];
      mismatch.magnitude = data.magnitudes[place];
      mismatch.exact = is_exact<Op>(data.kind);
    }
  }
  return outcome_of(problem, tally, mismatch, chain);
}

/// Compares the places from `first` on, whose outputs are `out`.
template <class Op>
Outcome compare_with_input(const Oracle::Data& data, std::span<const typename Op::Item> out, std::int64_t first) {
  const JudgeByInput<Op> judge{data.kind, data.seed, data.problem.items, ScanOrder(data.problem)};
  const auto got = [&](std::int64_t i) { return &out[i - first]; };
  const Tally tally = tally_all(first, first + std::ssize(out), judge, got);
  if (tally.wrong == 0) return {};
  const typename Op::Item expected = judge.expected(tally.first);
  return outcome_of(data.problem, tally, {.got = got(tally.first), .expected = &expected}, 0);
}

template <class Op>
Outcome compare_with_values(const Oracle::Data& data, std::span<const typename Op::Item> out, std::int64_t first,
                            std::int64_t chain) {
  const auto bound = gamma_of<Op>(chain, data.kind);
  if (!bound) return no_bound(chain, data.problem.type);
  const auto* values = reinterpret_cast<const typename Op::Item*>(data.values.get());
  const auto got = [&](std::int64_t k) { return &out[(k + 1) * data.every - 1 - first]; };
  const JudgeByValues<Op> judge{values, data.residuals.get(), data.magnitudes.get(), *bound};
  Tally tally = tally_all(first / data.every, (first + std::ssize(out)) / data.every, judge, got);
  Mismatch mismatch;
  if (tally.wrong != 0) {
    mismatch = {.got = got(tally.first), .expected = values + tally.first};
    if (Op::kRounds) {
      mismatch.residual = data.residuals[tally.first];
      mismatch.magnitude = data.magnitudes[tally.first];
      mismatch.exact = is_exact<Op>(data.kind);
    }
    tally.first = (tally.first + 1) * data.every - 1;
  }
  return outcome_of(data.problem, tally, mismatch, chain);
}

template <class Item>
std::string text(const Item& item) {
  if constexpr (requires { item.each_field([](const char*, const auto&) {}); }) {
    std::string fields;
    item.each_field([&](const char* field, const auto& value) {
      fields += fmt::format("{}{} {}", fields.empty() ? "" : ", ", field, text(value));
    });
    return "(" + fields + ")";
  } else if constexpr (std::is_same_v<Item, Half>) {
    return fmt::format("{}", static_cast<float>(item));
  } else {
    return fmt::format("{}", item);
  }
}

/// One sentence: how many items are wrong, the first of them, what it holds and what it should hold.
template <class Op>
std::string describe(const Tally& tally, std::int64_t items, const Mismatch& first, std::int64_t chain) {
  const auto got = *static_cast<const typename Op::Item*>(first.got);
  const auto expected = *static_cast<const typename Op::Item*>(first.expected);
  std::string sentence = fmt::format("{} of {} items wrong, the first at {}: got {}, expected {}", tally.wrong, items,
                                     tally.first, text(got), text(expected));
  if (is_poison(got)) return sentence + "; it was never written";
  if constexpr (Op::kRounds) {
    constexpr double u = kUnitRoundoff<typename Op::Element>;
    const double error =
        std::abs((static_cast<double>(rounded_part<Op>(got)) - rounded_part<Op>(expected)) - first.residual * u);
    sentence += fmt::format("; |error| {:.3g}, ", error);
    const double bound = gamma(chain, u).value_or(0) * first.magnitude;
    sentence += first.exact ? "where every sum is exact"
                            : fmt::format("bound {:.3g} for a chain of {} additions", bound, chain);
  }
  return sentence;
}

}  // namespace

bool rounds(const Problem& problem) {
  return with_monoid(problem.type, problem.op, []<class Op>(Op) { return Op::kRounds; });
}

std::vector<InputKind> distinct_inputs(std::vector<InputKind> kinds, const Problem& problem) {
  const bool has_exact = defined(problem.type, problem.op) &&
                         with_monoid(problem.type, problem.op, []<class Op>(Op) { return kHasExactInput<Op>; });
  if (has_exact) return kinds;
  if (std::ranges::find(kinds, InputKind::random) != kinds.end()) {
    std::erase(kinds, InputKind::exact);
  } else {
    std::ranges::replace(kinds, InputKind::exact, InputKind::random);
  }
  return kinds;
}

Outcome outcome_of(const Problem& problem, const Tally& tally, const Mismatch& first, std::int64_t chain) {
  Outcome outcome;
  if (rounds(problem)) outcome.error_to_bound = tally.worst;
  if (tally.wrong != 0) {
    outcome.status = Outcome::Status::failed;
    outcome.message = with_monoid(problem.type, problem.op,
                                  [&]<class Op>(Op) { return describe<Op>(tally, problem.results(), first, chain); });
  }
  return outcome;
}

Outcome outcome_of_count(const Problem& problem, std::uint64_t count) {
  const auto counted = static_cast<std::uint64_t>(problem.counted());
  return count == counted ? Outcome{} : Outcome::failed(fmt::format("counts {} instead of {}", count, counted));
}

Outcome outcome_of_unique(const Problem& problem, const Tally& differences) {
  if (differences.wrong == 0) return {};
  return Outcome::failed(
      fmt::format("gives wrong keys of runs, the first at {}", differences.first / problem.segments.width));
}

Outcome no_bound(std::int64_t chain, ElementType type) {
  return {.status = Outcome::Status::skipped,
          .message = fmt::format("a chain of {} additions in {} has no error bound (chain times unit roundoff >= 1/2)",
                                 chain, name(type))};
}

Oracle::Oracle(const Problem& problem, InputKind kind, std::uint64_t seed, std::int64_t every)
    : data_{.problem = problem, .kind = kind, .seed = seed, .every = every} {
  // The input, and what the output must be.
  if (!host_memory_holds(problem.ideal_bytes() / static_cast<std::size_t>(every))) throw std::bad_alloc();
  if (have_flags(problem.segments.by) || !read_items(problem.segments.by)) return;  // say all
  with_monoid(problem.type, problem.op, [&]<class Op>(Op) { OracleBuilder<Op>(data_).build(); });
}

Outcome Oracle::compare(const void* out, std::int64_t chain, Kind kind, const Counted& counted) const {
  if (has_mode(data_.problem.segments.by) || kind != Kind::scan)
    return compare_run(out, 0, data_.problem.items, chain, kind);
  return with_monoid(data_.problem.type, data_.problem.op, [&]<class Op>(Op) {
    return compare_counted<Op>(data_, static_cast<const typename Op::Item*>(out), chain, counted);
  });
}

Outcome Oracle::compare_run(const void* out, std::int64_t first, std::int64_t count, std::int64_t chain,
                            Kind kind) const {
  if (!writes(kind)) return {};
  return with_monoid(data_.problem.type, data_.problem.op, [&]<class Op>(Op) {
    const std::span items(static_cast<const typename Op::Item*>(out), static_cast<std::size_t>(count));
    return copies(kind) ? compare_with_input<Op>(data_, items, first)
                        : compare_with_values<Op>(data_, items, first, chain);
  });
}

}  // namespace scanlab::verify
