// The expected outputs of a scan, computed on all cores of the host in the wider arithmetic of each operator
// (variants/operators/), exactly where the operator rounds nothing.
//
// Two passes, so that chunks are independent: the aggregate of every chunk, then, from the aggregate of all chunks
// before it, every output. Items are made twice rather than kept.
#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <new>
#include <vector>

#include "harness/host/memory.hpp"
#include "harness/host/parallel.hpp"
#include "harness/verify/comparison.hpp"
#include "harness/verify/guard.hpp"
#include "harness/verify/oracle_data.hpp"

namespace scanlab::verify {

namespace {

constexpr std::int64_t kChunk = 4096;
constexpr std::int64_t kChunksWorthAThread = 8;

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
  explicit OracleBuilder(Oracle::Data& data) : data_(data), n_(data.problem.items), chunks_(ceil_div(n_, kChunk)) {}

  void build() {
    allocate();
    const std::vector<Accumulator> prefixes = chunk_prefixes();
    parallel_ranges(chunks_, kChunksWorthAThread, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t chunk = from; chunk < to; ++chunk) write_outputs(chunk, prefixes[chunk]);
    });
  }

 private:
  using Item = typename Op::Item;
  using Accumulator = decltype(make_accumulator<Op>());

  void allocate() {  // without clearing: each page is then first touched by the thread that fills it
    const auto count = static_cast<std::size_t>(n_);
    data_.values = std::make_unique_for_overwrite<std::byte[]>(count * sizeof(Item));
    if (!Op::kRounds) return;
    data_.residuals = std::make_unique_for_overwrite<float[]>(count);
    data_.magnitudes = std::make_unique_for_overwrite<float[]>(count);
  }

  Item input(std::int64_t i) const { return input_item<Op>(data_.kind, data_.seed, i, n_); }
  std::int64_t end_of(std::int64_t chunk) const { return std::min(n_, (chunk + 1) * kChunk); }

  /// What comes before each chunk.
  std::vector<Accumulator> chunk_prefixes() const {
    std::vector<Accumulator> prefixes(static_cast<std::size_t>(chunks_));
    parallel_ranges(std::max<std::int64_t>(chunks_ - 1, 0), kChunksWorthAThread,
                    [&](std::int64_t from, std::int64_t to) {
                      for (std::int64_t chunk = from; chunk < to; ++chunk) prefixes[chunk + 1] = aggregate(chunk);
                    });
    for (std::int64_t chunk = 2; chunk < chunks_; ++chunk) {
      Accumulator before = prefixes[chunk - 1];
      before.append(prefixes[chunk]);
      prefixes[chunk] = before;
    }
    return prefixes;
  }

  Accumulator aggregate(std::int64_t chunk) const {
    Accumulator total;
    for (std::int64_t i = chunk * kChunk; i < end_of(chunk); ++i) total.push(input(i));
    total.normalise();
    return total;
  }

  void write_outputs(std::int64_t chunk, Accumulator prefix) {
    Item* const values = reinterpret_cast<Item*>(data_.values.get());
    const bool exclusive = data_.problem.mode == Mode::exclusive;
    for (std::int64_t i = chunk * kChunk; i < end_of(chunk); ++i) {
      if (exclusive) values[i] = stored(prefix, i);
      prefix.push(input(i));
      if (!exclusive) values[i] = stored(prefix, i);
    }
  }

  /// Output i, with what its rounding lost beside it.
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
  std::int64_t chunks_;
};

/// Counts what `verdict_of(i)` finds wrong among n items, on all cores.
template <class VerdictOf>
Tally tally_all(std::int64_t n, const VerdictOf& verdict_of) {
  std::mutex mutex;
  Tally all;
  parallel_ranges(n, kItemsWorthAThread, [&](std::int64_t from, std::int64_t to) {
    Tally tally;
    for (std::int64_t i = from; i < to; ++i) tally.count(verdict_of(i), i);
    const std::scoped_lock lock(mutex);
    all.add(tally);
  });
  return all;
}

template <class Op>
Outcome compare_with_input(const Oracle::Data& data, const typename Op::Item* out) {
  const std::int64_t n = data.problem.items;
  const auto input = [&](std::int64_t i) { return input_item<Op>(data.kind, data.seed, i, n); };
  const Tally tally = tally_all(n, [&](std::int64_t i) {
    return same_bits(out[i], input(i)) ? Verdict{} : Verdict{.right = false, .error_to_bound = 0};
  });
  if (tally.wrong == 0) return {};
  const typename Op::Item expected = input(tally.first);
  return outcome_of(data.problem, tally, {.got = out + tally.first, .expected = &expected}, 0);
}

template <class Op>
Outcome compare_with_values(const Oracle::Data& data, const typename Op::Item* out, std::int64_t chain) {
  const auto bound = gamma_of<Op>(chain);
  if (!bound) return no_bound(chain, data.problem.type);
  const auto* values = reinterpret_cast<const typename Op::Item*>(data.values.get());
  const Tally tally = tally_all(data.problem.items, [&](std::int64_t i) {
    return judge<Op>(out[i], values, data.residuals.get(), data.magnitudes.get(), i, *bound);
  });
  Mismatch first;
  if (tally.wrong != 0) {
    first = {.got = out + tally.first, .expected = values + tally.first};
    if (Op::kRounds) {
      first.residual = data.residuals[tally.first];
      first.magnitude = data.magnitudes[tally.first];
    }
  }
  return outcome_of(data.problem, tally, first, chain);
}

}  // namespace

Oracle::Oracle(const Problem& problem, InputKind kind, std::uint64_t seed) : data_(std::make_unique<Data>()) {
  if (!host_memory_holds(problem.ideal_bytes())) throw std::bad_alloc();  // the input, and what the output must be
  data_->problem = problem;
  data_->kind = kind;
  data_->seed = seed;
  with_monoid(problem.type, problem.op, [&]<class Op>(Op) { OracleBuilder<Op>(*data_).build(); });
}

Oracle::~Oracle() = default;
Oracle::Oracle(Oracle&&) noexcept = default;

const Problem& Oracle::problem() const { return data_->problem; }
InputKind Oracle::kind() const { return data_->kind; }
std::uint64_t Oracle::seed() const { return data_->seed; }

Outcome Oracle::compare(const void* out, std::int64_t chain, Kind kind) const {
  if (kind == Kind::empty_launch) return {};
  return with_monoid(data_->problem.type, data_->problem.op, [&]<class Op>(Op) {
    const auto* items = static_cast<const typename Op::Item*>(out);
    return copies(kind) ? compare_with_input<Op>(*data_, items) : compare_with_values<Op>(*data_, items, chain);
  });
}

}  // namespace scanlab::verify
