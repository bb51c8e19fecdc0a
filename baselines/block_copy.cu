// block_copy: the kernel of all block scans without a scan: what the others cannot be faster than.
#include "variants/block_scan/block_scan.cuh"

namespace scanlab::block_scan {
namespace {

struct NoScan {
  static constexpr bool kWarp = false;
  static constexpr int kThreads = 0;
  static NoScan for_problem(const Description&, const Problem&) { return {}; }
  template <class Item, int K, bool kStriped>
  SCANLAB_HD int shared_bytes(int) const {
    return 0;
  }
  int chain(int, int) const { return 0; }
  template <class Op, class F>
  void with(int, F f) const {
    f(*this);
  }
  template <int K, bool kStriped, class Group, class SharedItems, Monoid Op>
  SCANLAB_HD void scan(const Group&, SharedItems, typename Op::Item (&)[K], Op) const {}
};

struct BlockCopy {
  static Description describe() {
    return {.id = "block_copy",
            .title = "The kernel of the block scans, without a scan",
            .source = "variants/block_scan/block_scan.cuh",
            .family = "copy",
            .kind = Kind::copy};
  }
};

const Registration registration{simt::portable_scan<Variant<BlockCopy, NoScan>>(Origin::baseline)};

}  // namespace
}  // namespace scanlab::block_scan
