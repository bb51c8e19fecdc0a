// The ceiling of scan_by_key: a copy of the same bytes.
#include "baselines/entries_copy.cuh"

namespace scanlab {
namespace {

struct KeyCopy : EntriesCopy {
  using EntriesCopy::EntriesCopy;
  static Description describe() {
    Description about = describe_copy(Primitive::scan_by_key);
    about.id = "key_copy";
    return about;
  }
};

const Registration registration{cuda::cuda_scan<KeyCopy>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
