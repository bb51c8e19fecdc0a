// Faults that are planted in the shipped scans while they run: `verify` must see each of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "harness/verify/verification.hpp"
#include "tests/planted/faulty_machine.hpp"

namespace scanlab::planted {
namespace {

/// Each fault, and what `verify` says of it; a missing barrier is a race, or a read of what no thread has written yet.
struct Expected {
  Fault fault;
  const char* name;
  const char* words = "";
};
constexpr Expected kExpected[] = {
    {Fault::other_mode, "other mode", "items wrong"},
    {Fault::item_too_few, "item too few", "items wrong"},
    {Fault::item_too_many, "item too many", "out_of_bounds"},
    {Fault::shifted_input, "shifted input", "items wrong"},
    {Fault::shifted_output, "shifted output", "wrote past the end of the output"},
    {Fault::no_workspace, "no workspace", "no room for"},
    {Fault::no_preparation, "no preparation"},
    {Fault::no_launch, "no launch", "items wrong"},
    {Fault::no_last_block, "no last block", "items wrong"},
    {Fault::no_shared_memory, "no shared memory", "out_of_bounds"},
    {Fault::all_operands, "all operands swapped", "items wrong"},
    {Fault::wrong_identity, "wrong identity", "items wrong"},
    {Fault::no_barrier, "no barrier", " of block "},
    {Fault::wrong_vector_read, "wrong vector read"},
    {Fault::wrong_vector_write, "wrong vector write"},
    {Fault::no_vector_write, "no vector write", "items wrong"},
    {Fault::wrong_lane, "wrong lane"},
    {Fault::operands, "operands swapped once", "items wrong"},
    {Fault::no_counter, "no ticket"},
    {Fault::no_publication, "no publication", "no_progress"},
};
static_assert(std::size(kExpected) == kFaults - 1);

/// Whether the fault changes nothing at this place.
bool is_harmless(Fault fault, const Place& place, Primitive primitive) {
  if (fault == Fault::other_mode && !has_mode(segments_by(primitive))) return true;
  // Lengths are told by the keys, and of keys alone no item is written.
  if (fault == Fault::shifted_input && !read_items(segments_by(primitive))) return true;
  if (fault == Fault::shifted_output && primitive == Primitive::unique) return true;
  // There are fewer runs than items, for which the grid is.
  if (fault == Fault::no_last_block && place.kernel == "fold_run_by_run") return true;
  // More than 256 counts would need the rest.
  if (fault == Fault::no_shared_memory && place.kernel == "scan_counts") return true;
  // The last share's sum comes before no other share.
  if (fault == Fault::no_last_block && place.kernel == "reduce_shares") return true;
  // Few shares leave nearly all of the 1024 threads with identities; all_operands is caught there.
  if (fault == Fault::operands && place.kernel == "scan_aggregates") return true;
  // The thread that clears the root of 2048 items is the one that computed it.
  return fault == Fault::no_barrier && place == Place{"hso_tiles", 11};
}

/// The first message about each fault at each place of a scan.
using Messages = std::map<std::pair<Fault, Place>, std::string>;

/// Events are too many for each to be planted, and some change nothing: a few are tried until one is caught.
constexpr bool is_event(Fault fault) { return fault >= Fault::wrong_lane; }

void plant_all(const Variant& scan, const Problem& problem, Messages& messages) {
  plan = {};
  if (!scan.bind(problem).plan.possible()) return;
  const verify::Oracle oracle(problem, InputKind::random, 11);
  const auto verify = [&] { return verify::verify_on_cpu(scan, problem, oracle, {.max_pauses = 10'000}); };
  const verify::Outcome right = verify();
  ASSERT_TRUE(right.passed()) << scan.about.id << ": " << right.message;
  const Plan whole = plan;
  for (std::size_t f = 1; f < kFaults; ++f) {
    const auto fault = static_cast<Fault>(f);
    for (std::size_t launch = 0; launch < whole.events[f].size(); ++launch) {
      const std::int64_t events = whole.events[f][launch];
      const std::int64_t stride = is_event(fault) ? 1 + events / 8 : 1;
      for (std::int64_t event = 0; event < events; event += stride) {
        const Place place{fault < Fault::no_launch ? "" : whole.kernels[launch], is_event(fault) ? 0 : event};
        std::string& message = messages[{fault, place}];
        if (!message.empty()) continue;
        plan = {.fault = fault, .launch = launch, .event = event};
        message = verify().message;
      }
    }
  }
}

TEST(Planted, FaultsOfEveryScanAreCaught) {
  std::set<Fault> planted;
  for (const auto& [id, scan] : Registry::instance().all()) {
    Messages messages;
    const SegmentsBy by = segments_by(scan.about.primitive);
    const bool of_sums = id == "redundant_reduce" || have_flags(by) || !read_items(by);
    const Operator op = of_sums ? Operator::plus : Operator::affine;  // affine does not commute
    for (const std::int64_t items : {5003, 1000, 2048, 300, 20'011}) {
      for (const Mode mode : {Mode::inclusive, Mode::exclusive}) {
        for (const Settings& settings : std::set<Settings>{{}, small_settings(scan.about)}) {
          if (mode == Mode::exclusive && !has_mode(by)) continue;
          Problem problem{ElementType::i32, op, mode, items, settings};
          // An item that is left out is missed among keys alone if it is a run.
          const std::int64_t mean = by == SegmentsBy::unique ? 1 : 3;
          problem.segments = {.by = by, .mean = mean, .width = have_flags(by) ? 1 : 4};
          plant_all(scan, problem, messages);
        }
      }
    }
    EXPECT_FALSE(messages.empty()) << id;
    for (const auto& [fault_and_place, message] : messages) {
      const auto& [fault, place] = fault_and_place;
      planted.insert(fault);
      if (is_harmless(fault, place, scan.about.primitive)) continue;
      const Expected& expected = *std::ranges::find(kExpected, fault, &Expected::fault);
      EXPECT_FALSE(message.empty()) << id << ": " << expected.name << ", " << place.kernel << " " << place.event;
      if (!has_mode(by)) continue;  // a wrong count or key is said first
      EXPECT_NE(message.find(expected.words), std::string::npos)
          << id << ": " << expected.name << ", " << place.kernel << " " << place.event << ": " << message;
    }
  }
  EXPECT_EQ(planted.size(), kFaults - 1) << "each fault has a scan that it harms";
}

}  // namespace
}  // namespace scanlab::planted
