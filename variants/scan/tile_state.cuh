// The state of a tile that a block tells other blocks, through global memory: a value beside a tag, in words that are
// read and written whole. A reader knows by the tag that the value is of this run; nothing is reset between runs, and
// no fence is needed, since nothing but the word itself is handed over.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "harness/core/ceil.hpp"
#include "harness/simt/thread_block.hpp"

namespace scanlab::scan {

/// A tag and up to 4 bytes of a value, in a word of 8; or a tag and 8 bytes, in a word of 16.
struct alignas(8) ShortWord {
  std::uint32_t tag;
  std::uint32_t value;
};
struct alignas(16) LongWord {
  std::uint64_t tag;
  std::uint64_t value;
};

/// The state of a tile: `Item` in one word, or, if it has more bytes than that, in several, each with the tag.
template <class Item, class WordType = std::conditional_t<sizeof(Item) <= 4, ShortWord, LongWord>>
struct TileState {
  using Word = WordType;
  using Tag = decltype(Word::tag);
  using Value = decltype(Word::value);
  static constexpr int kWords = (sizeof(Item) + sizeof(Value) - 1) / sizeof(Value);

  Word words[kWords];

  SCANLAB_HD bool is(Tag tag) const {
    bool all = true;
    for (const Word& word : words) all = all && word.tag == tag;
    return all;
  }
  SCANLAB_HD Item item() const {
    struct Parts {
      Value value[kWords];
    } parts;
    for (int i = 0; i < kWords; ++i) parts.value[i] = words[i].value;
    return first_bytes<Item>(parts);
  }
  SCANLAB_HD static TileState tagged(const Item& item, Tag tag) {
    struct Parts {
      Value value[kWords];
    };
    const Parts parts = first_bytes<Parts>(item);
    TileState state;
    for (int i = 0; i < kWords; ++i) state.words[i] = {tag, parts.value[i]};
    return state;
  }

 private:
  /// The bytes of `from`, as many as `To` has; those that `from` lacks are zero.
  template <class To, class From>
  SCANLAB_HD static To first_bytes(const From& from) {
    To to{};
    __builtin_memcpy(&to, &from, sizeof(To) < sizeof(From) ? sizeof(To) : sizeof(From));
    return to;
  }
};

/// States of tiles in global memory: tile t has the words from t * kWords on.
template <simt::ThreadBlock Block, class Item, class Word = typename TileState<Item>::Word>
using TileStates = simt::Global<Block, Word>;

template <class Item, class Word = typename TileState<Item>::Word, simt::ThreadBlock Block>
SCANLAB_HD TileState<Item, Word> load_state(Block& block, const TileStates<Block, Item, Word>& states,
                                            std::int64_t tile) {
  TileState<Item, Word> state;
  for (int i = 0; i < state.kWords; ++i) state.words[i] = block.load_atomic(states, tile * state.kWords + i);
  return state;
}

template <class Item, class Word = typename TileState<Item>::Word, simt::ThreadBlock Block>
SCANLAB_HD void store_state(Block& block, const TileStates<Block, Item, Word>& states, std::int64_t tile,
                            const Item& item, typename TileState<Item, Word>::Tag tag) {
  const auto state = TileState<Item, Word>::tagged(item, tag);
  for (int i = 0; i < state.kWords; ++i) block.store_atomic(states, tile * state.kWords + i, state.words[i]);
}

/// Numbers the runs on one workspace, and a run's tickets, by one counter in global memory: its upper half is the
/// number of the run, its lower half how many tickets of it are drawn. Every run draws the same number of them, and
/// whoever draws the last turns the counter to the next run. So a captured run can be replayed: nothing about it is an
/// argument of the launch.
struct TileCounter {
  /// Runs are distinguished by their numbers, or the low 31 bits of those where a run has two tags. The first number is
  /// a few before 2^32, where they wrap, so that it happens to every user in the first minute and not to one of them
  /// after a month.
  static constexpr std::uint32_t kFirstRun = 0xFFFFFFFC;
  static constexpr std::uint64_t kARun = std::uint64_t{1} << 32;
  std::uint32_t draws_per_run = 1;

  /// The value of the counter before the first run.
  static constexpr std::uint64_t first() { return kFirstRun * kARun; }

  /// The ticket that a thread drew by adding 1 to the counter.
  struct Drawn {
    std::uint64_t number = 0;
    SCANLAB_HD std::uint32_t run() const { return static_cast<std::uint32_t>(number / kARun); }
    SCANLAB_HD std::uint32_t tile() const { return static_cast<std::uint32_t>(number); }  ///< from 0 on
  };

  /// counter: one number.
  template <simt::ThreadBlock Block>
  SCANLAB_HD static Drawn draw(Block& block, const simt::Global<Block, std::uint64_t>& counter) {
    return {block.fetch_add(counter, 0, 1)};
  }
  /// With each ticket that may be the last; apart from draw, so that no block waits for a ticket before it is needed.
  template <simt::ThreadBlock Block>
  SCANLAB_HD void reset_if_last(Block& block, const simt::Global<Block, std::uint64_t>& counter, Drawn drawn) const {
    if (drawn.tile() == draws_per_run - 1) block.fetch_add(counter, 0, kARun - draws_per_run);
  }
};

/// Sets a counter, and states to such as no run will take for its own.
struct PrepareTilesKernel {
  static constexpr const char* kName = "prepare_tiles";
  static constexpr int kMaxThreads = 256;

  /// counter: one number. words: `count` words of states.
  template <simt::ThreadBlock Block, class Counters, class Number, class Words, class Word>
  SCANLAB_HD void operator()(Block& block, Counters counter, Number first, Words words, std::int64_t count,
                             Word none) const {
    const std::int64_t i = block.group_index() * block.num_threads() + block.thread_rank();
    if (i == 0) counter[0] = first;
    if (i < count) words[i] = none;
  }
};

/// Enqueues the preparation of a workspace: `words` are `count` words of states.
template <class Word, class Machine, class Counters, class Number, class Words>
void prepare_tiles(Machine& machine, Counters counter, Number first, Words words, std::int64_t count) {
  machine.launch({.blocks = ceil_div(std::max<std::int64_t>(count, 1), PrepareTilesKernel::kMaxThreads),
                  .threads = PrepareTilesKernel::kMaxThreads},
                 PrepareTilesKernel{}, counter, first, words, count, Word{});
}

}  // namespace scanlab::scan
