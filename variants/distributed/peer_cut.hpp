// How peer_look_ahead cuts up an array: the tiles of a block, and the chunks of tiles that are dealt out to the GPUs.
// On the host, and the same on every rank.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "harness/core/ceil.hpp"
#include "harness/distributed/distribution.hpp"

namespace scanlab::distributed {

/// A tile, by its size in KiB, and how a block of look_ahead is cut up for it (scan::Shape).
struct TileForm {
  std::string_view kib;
  int warps;    ///< that reduce
  int vectors;  ///< of 16 bytes, a thread
  int loading;  ///< stages in flight

  constexpr std::int64_t bytes() const { return std::int64_t{32} * 16 * warps * vectors; }
};

/// The tiles of look_ahead, in ascending order. The last are for operators that compute more than they move.
inline constexpr TileForm kTileForms[] = {{"10", 4, 5, 4},  {"12", 8, 3, 3},  {"18", 4, 9, 3},  {"22", 4, 11, 3},
                                          {"26", 4, 13, 2}, {"28", 8, 7, 2},  {"30", 4, 15, 2}, {"36", 8, 9, 2},
                                          {"40", 8, 10, 2}, {"35", 14, 5, 2}, {"49", 14, 7, 2}, {"63", 14, 9, 2}};
inline constexpr std::size_t kLightForms = 9;

inline std::span<const TileForm> tile_forms(bool heavy) {
  return std::span(kTileForms)
      .subspan(heavy ? kLightForms : 0, heavy ? std::size(kTileForms) - kLightForms : kLightForms);
}

inline const TileForm& form_of(std::string_view kib) { return *std::ranges::find(kTileForms, kib, &TileForm::kib); }

/// The tile for large arrays: the fastest on two or four H200s, whichever number is nearer. The more tiles there are in
/// a round of all GPUs, the larger they must be, so that a look-ahead warp, which folds each of them, keeps up. Warps
/// that fold chunks want many stages; but 1-byte items, of which a tile has most to compute, are fastest in large
/// tiles.
inline std::string_view large_tile(bool heavy, std::int64_t item_bytes, bool by_tile, int ranks) {
  if (heavy) return "49";
  if (item_bytes == 1) return "36";
  if (!by_tile) return "26";
  if (item_bytes > 4) return "40";
  return ranks <= 2 ? "26" : "36";
}

/// The part of the array that runs on each GPU.
struct Share {
  bool heavy;  ///< the operator
  std::int64_t item_bytes;
  std::int64_t bytes;
  int multiprocessors;

  /// Tiles of the busiest multiprocessor.
  std::int64_t waves(const TileForm& form) const {
    return ceil_div(ceil_div(std::max<std::int64_t>(bytes, 1), form.bytes()), std::max(multiprocessors, 1));
  }
  /// Whether the array is large for such tiles.
  bool is_large(const TileForm& form) const { return waves(form) > 4; }
};

/// Whether GPUs tell each other of tiles, if the array is large: as long as a look-ahead warp keeps up with the tiles
/// of all of them. Items of more than 4 bytes have states twice as large.
inline bool may_tell_of_tiles(bool heavy, std::int64_t item_bytes, int ranks) {
  return !heavy && ranks <= (item_bytes <= 4 ? 4 : 2);
}

/// The tile for a share; none has more than `most` bytes, of which two fit a multiprocessor. Where multiprocessors get
/// a few tiles each, the last wave of them may be nearly empty, and cost as much as a whole one. So the smallest tile
/// that gives each multiprocessor one; or the one whose busiest multiprocessor has the fewest bytes; or of large arrays
/// that of large_tile.
inline TileForm tile_that_fits(const Share& share, bool by_tile, int ranks, std::int64_t most) {
  const std::span<const TileForm> all = tile_forms(share.heavy);
  const auto waves = [&](const TileForm& form) { return share.waves(form); };
  const TileForm& large = form_of(large_tile(share.heavy, share.item_bytes, by_tile, ranks));
  if (large.bytes() <= most && share.is_large(large)) return large;
  const TileForm* best = &all.front();
  for (const TileForm& form : all) {
    if (form.bytes() > most) break;
    if (waves(form) == 1) return form;
    if (waves(form) * form.bytes() <= waves(*best) * best->bytes()) best = &form;  // of such, the fewest tiles
  }
  return *best;
}

/// Whether GPUs that may do so tell each other of tiles of this form: of large arrays, in tiles no smaller than theirs.
/// Small arrays, which a look-ahead warp has few rounds of, are faster by chunks.
inline bool by_tile_is_faster(const Share& share, int ranks, const TileForm& form) {
  const TileForm& large = form_of(large_tile(share.heavy, share.item_bytes, true, ranks));
  return share.is_large(form) && form.bytes() >= large.bytes();
}

/// Tiles of a chunk, of `tiles` per GPU and `asked` at most: such that each GPU has as many chunks, and they are as
/// even as they can be. Chunks of `asked` would leave one GPU with up to a chunk more than the others.
inline std::int64_t tiles_of_a_chunk(std::int64_t tiles, std::int64_t asked) {
  return ceil_div(tiles, ceil_div(tiles, asked));
}

struct PeerCut {
  TileForm form{};
  std::int64_t tile_items = 1;
  int chunk_tiles = 1;
  bool by_tile = false;  ///< GPUs tell each other of tiles, else of chunks

  Distribution distribution(std::int64_t items, int ranks) const { return {items, ranks, chunk_tiles * tile_items}; }
};

/// asked: tiles of a chunk, at most.
inline PeerCut cut_in_chunks(std::int64_t items, int ranks, std::int64_t item_bytes, const TileForm& form,
                             std::int64_t asked) {
  const std::int64_t tile_items = form.bytes() / item_bytes;
  const std::int64_t tiles = std::max<std::int64_t>(1, ceil_div(ceil_div(items, ranks), tile_items));
  return {form, tile_items, static_cast<int>(tiles_of_a_chunk(tiles, asked))};
}

}  // namespace scanlab::distributed
