// CUB's selection and partition by flags, of the newest CCCL.
#include "baselines/cub_newest.cuh"
#include "baselines/cub_select.cuh"

namespace scanlab {
namespace {

template <Primitive kPrimitive>
struct CubNewestSelect : CubFlagged<CubNewestSelect<kPrimitive>, kPrimitive> {
  using CubFlagged<CubNewestSelect, kPrimitive>::CubFlagged;

  static Description describe() {
    Description about = CubNewestSelect::describe_flagged("CCCL " + newest_cccl());
    about.id = "cub_newest_" + std::string(name(kPrimitive));
    about.source += ", with its defaults";
    about.label = "CUB, newest";
    return about;
  }
};

const Registration of_select{cuda::cuda_scan<CubNewestSelect<Primitive::select>>(Origin::baseline)};
const Registration of_partition{cuda::cuda_scan<CubNewestSelect<Primitive::partition>>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
