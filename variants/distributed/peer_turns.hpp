// Which run a rank is at, as ranks tell each other, and which copy of what they write to each other a run uses. Apart
// from the kernels, so that a test on the host runs it with threads.
//
// Runs    Each rank numbers its runs, in step with the others. Copies are twofold and used by turns. A rank that is
//         ahead may write the copy of a run only when nobody reads that of two runs before any more: when every rank
//         has begun the run before, and so ended the one before that. Every rank tells all which run it begins. So no
//         rank is ever more than one run ahead of what another still reads, and nothing is reset.
// Order   Who begins run r has behind it all that it read in run r - 1; the announcement is a release, the look at it
//         an acquire. So a write to the copy of run r + 1, behind such a look, comes after those reads. This holds for
//         each pair of ranks alone: it does not matter in which order, or by which threads, a rank tells the others,
//         if each such thread began the run. One look per run is enough, since announcements only grow; who looked
//         once may write as often as the run asks. A look before others write is as good as one after.
// Ends    A rank waits for the beginning of the last run alone. It comes if every rank gets to it: nobody tells of a
//         run behind a wait of the same run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/portable.hpp"

namespace scanlab::distributed {

/// Memory: how a rank writes a word that another reads, and reads one of its own that another writes:
///   using Word = …;  // of 32 bits
///   static void release(Word* word, std::uint32_t value);
///   static std::uint32_t acquire(Word* word);
template <class Memory>
struct PeerTurns {
  using Word = typename Memory::Word;

  static constexpr std::uint32_t kCopies = 2;
  SCANLAB_HD static constexpr std::uint32_t copy_of(std::uint32_t run) { return run % kCopies; }

  /// word: of another rank, for this one. Before the run waits for anything.
  SCANLAB_HD static void announce(Word* word, std::uint32_t run) { Memory::release(word, run); }

  /// word: of this rank, for another. Before the run writes its copy there, once.
  SCANLAB_HD static void wait_until_free(Word* word, std::uint32_t run) {
    while (before(Memory::acquire(word), run - 1)) {
    }
  }

  /// Numbers wrap.
  SCANLAB_HD static constexpr bool before(std::uint32_t a, std::uint32_t b) {
    return static_cast<std::int32_t>(a - b) < 0;
  }
};

/// In a clause: which ranks have not begun the latest run that any has. begun: what each has announced. Runs count from
/// 1; `first_run` is the number of the first.
inline std::string who_has_not_begun(const std::vector<std::uint32_t>& begun, std::uint32_t first_run) {
  std::uint32_t latest = 0;  // runs
  for (const std::uint32_t each : begun) latest = std::max(latest, each - first_run + 1);
  if (latest == 0) return "no rank has begun a run";
  std::vector<std::string> missing;
  for (std::size_t rank = 0; rank < begun.size(); ++rank) {
    if (begun[rank] - first_run + 1 != latest) missing.push_back(std::to_string(rank));
  }
  const std::string run = " begun run " + std::to_string(latest);
  if (missing.empty()) return "all ranks have" + run;
  std::string who = missing.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (i > 0) who += i + 1 == missing.size() ? " and " : ", ";
    who += missing[i];
  }
  return who + (missing.size() == 1 ? " has not" : " have not") + run;
}

}  // namespace scanlab::distributed
