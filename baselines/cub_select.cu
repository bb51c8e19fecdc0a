// CUB's selection and partition by flags, of the toolkit's CCCL.
#include "baselines/cub_select.cuh"

namespace scanlab {
namespace {

template <Primitive kPrimitive>
struct CubSelect : CubFlagged<CubSelect<kPrimitive>, kPrimitive> {
  using CubFlagged<CubSelect, kPrimitive>::CubFlagged;

  static Description describe() {
    Description about = CubSelect::describe_flagged("CCCL of the CUDA toolkit");
    about.id = "cub_" + std::string(name(kPrimitive));
    about.label = "CUB";
    return about;
  }
};

const Registration of_select{cuda::cuda_scan<CubSelect<Primitive::select>>(Origin::baseline)};
const Registration of_partition{cuda::cuda_scan<CubSelect<Primitive::partition>>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
