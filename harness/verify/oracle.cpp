// The expected outputs of a scan, computed on all cores of the host.
//
// Floating sums run in double-double: hi gathers the sum in double, lo the rounding error of every addition to hi
// (Knuth's TwoSum, which is exact) and is folded into hi at the end of each chunk of kChunk items. lo is at most
// kChunk * 2^-53 * magnitude, and each addition to it rounds by 2^-53 of that, so n items err by at most
// n * kChunk * 2^-106 * magnitude: 2^-64 of the magnitude for n = 2^30. The bound that it serves is no smaller than
// 2^-53 of the magnitude (gamma_1 in double), a factor of 2^11 above the worst case and far more above the usual one.
// Items convert to double exactly, and affine scales are powers of two, so that multiplying hi and lo is exact.
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

/// An unevaluated sum hi + lo.
struct DoubleDouble {
  double hi = 0;
  double lo = 0;

  void add(double x) {
    const double sum = hi + x;
    const double x_rounded = sum - hi;
    lo += (hi - (sum - x_rounded)) + (x - x_rounded);
    hi = sum;
  }
  void add(const DoubleDouble& other) {
    add(other.hi);
    lo += other.lo;
    normalise();
  }
  void normalise() {
    const double sum = hi + lo;
    lo = lo - (sum - hi);
    hi = sum;
  }
  void scale(double power_of_two) {
    hi *= power_of_two;
    lo *= power_of_two;
  }
};

/// Not below `magnitude`: rounding to the nearest float takes 2^-24 off at most, and 2^-22 was added before. What is
/// left covers the rounding of the residual too, so that no output within its bound is refused. (Magnitudes below
/// float's normal range are those of f32 subnormals, which float holds exactly.)
float rounded_up(double magnitude) { return static_cast<float>(magnitude * (1 + 0x1p-22)); }

/// Stores an exact sum as output i: rounded to T and what the rounding lost.
template <class T>
T store_rounded(const DoubleDouble& exact, double magnitude, std::int64_t i, Oracle::Data& data) {
  const auto value = static_cast<T>(exact.hi + exact.lo);
  const double residual = (exact.hi - static_cast<double>(value)) + exact.lo;
  data.residuals[i] = static_cast<float>(residual / kUnitRoundoff<T>);
  data.magnitudes[i] = rounded_up(magnitude);
  return value;
}

// An accumulator of an operator: push(item) appends an item, append(right) a whole accumulator, store(i, data) writes
// what it holds as expected output i, normalise() is called at the end of a chunk.

template <class Op>
struct ExactAccumulator {
  typename Op::Item total = Op::identity();
  void push(const typename Op::Item& item) { total = Op{}(total, item); }
  void append(const ExactAccumulator& right) { push(right.total); }
  void normalise() {}
  typename Op::Item store(std::int64_t, Oracle::Data&) const { return total; }
};

template <class T>
struct SumAccumulator {
  DoubleDouble sum;
  double magnitude = 0;
  void push(T item) {
    sum.add(static_cast<double>(item));
    magnitude += std::abs(static_cast<double>(item));
  }
  void append(const SumAccumulator& right) {
    sum.add(right.sum);
    magnitude += right.magnitude;
  }
  void normalise() { sum.normalise(); }
  T store(std::int64_t i, Oracle::Data& data) const { return store_rounded<T>(sum, magnitude, i, data); }
};

template <class T>
struct AffineAccumulator {
  double scale = 1;  // a power of two with a sign: exact
  DoubleDouble shift;
  double magnitude = 0;
  void multiply(double by) {
    scale *= by;
    shift.scale(by);
    magnitude *= std::abs(by);
  }
  void push(const AffineMap<T>& item) {
    multiply(static_cast<double>(item.scale));
    shift.add(static_cast<double>(item.shift));
    magnitude += std::abs(static_cast<double>(item.shift));
  }
  void append(const AffineAccumulator& right) {
    multiply(right.scale);
    shift.add(right.shift);
    magnitude += right.magnitude;
  }
  void normalise() { shift.normalise(); }
  AffineMap<T> store(std::int64_t i, Oracle::Data& data) const {
    return {static_cast<T>(scale), store_rounded<T>(shift, magnitude, i, data)};
  }
};

template <class Op>
auto make_accumulator() {
  using T = typename Op::Element;
  if constexpr (!kRounds<Op>) {
    return ExactAccumulator<Op>{};
  } else if constexpr (Op::kOperator == Operator::affine) {
    return AffineAccumulator<T>{};
  } else {
    return SumAccumulator<T>{};
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
    if (!kRounds<Op>) return;
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
      if (exclusive) values[i] = prefix.store(i, data_);
      prefix.push(input(i));
      if (!exclusive) values[i] = prefix.store(i, data_);
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
    if (kRounds<Op>) {
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
