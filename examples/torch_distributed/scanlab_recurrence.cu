// torch.ops.scanlab.fold(x) and recur(x, before): the recurrence h[t] = a[t] h[t - 1] + b[t] along the second of three
// dimensions, (batch, time, channels), of maps a h + b, which are complex numbers a + ib. sharded_recurrence.py builds
// it.
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/library.h>

#include "variants/operators/affine.hpp"
#include "variants/scan_axis/fold_lines.cuh"

namespace {

using Map = scanlab::Affine<float>;
using scanlab::scan_axis::Extents;

void check(const at::Tensor& x) {
  TORCH_CHECK(
      x.is_cuda() && x.is_contiguous() && x.scalar_type() == at::kComplexFloat &&
          reinterpret_cast<std::uintptr_t>(x.const_data_ptr()) % 16 == 0,
      "scanlab: give contiguous complex64 tensors on a GPU that begin at a multiple of 16 bytes, as x.clone() does");
}
Extents extents(const at::Tensor& x) {
  check(x);
  TORCH_CHECK(x.dim() == 3, "scanlab: give a tensor (batch, time, channels), not of ", x.dim(), " dimensions");
  return {x.size(0), x.size(1), x.size(2)};
}
Map::Item* maps(const at::Tensor& x) { return static_cast<Map::Item*>(x.mutable_data_ptr()); }
at::Tensor storage(const at::Tensor& x, std::size_t bytes) {
  return at::empty({static_cast<std::int64_t>(bytes)}, x.options().dtype(at::kByte));
}

/// The composition of all maps along time: (batch, channels).
at::Tensor fold(const at::Tensor& x) {
  const c10::cuda::CUDAGuard guard(x.device());
  const Extents shape = extents(x);
  const scanlab::scan_axis::LineFold<Map> fold(shape, at::cuda::getCurrentDeviceProperties()->multiProcessorCount);
  const at::Tensor out = at::empty({shape.rows, shape.inner}, x.options()), work = storage(x, fold.workspace_bytes());
  C10_CUDA_CHECK(fold.try_run(work.mutable_data_ptr(), maps(x), maps(out), c10::cuda::getCurrentCUDAStream()));
  return out;
}

/// The compositions up to each time, behind those of `before`: (batch, channels).
at::Tensor recur(const at::Tensor& x, const std::optional<at::Tensor>& before) {
  using Scan = scanlab::scan_axis::ColumnScan<Map, scanlab::scan_axis::StartedColumns<Map::Item>>;
  const c10::cuda::CUDAGuard guard(x.device());
  const cudaDeviceProp& device = *at::cuda::getCurrentDeviceProperties();
  const Extents shape = extents(x);
  if (before) {
    check(*before);
    TORCH_CHECK(before->numel() == shape.rows * shape.inner && before->device() == x.device(),
                "scanlab: give a map for each row and channel, on the device of the others");
  }
  const Scan scan(shape, device.multiProcessorCount, device.sharedMemPerBlockOptin);
  C10_CUDA_CHECK(scan.try_allow(device.sharedMemPerBlockOptin));
  const at::Tensor out = at::empty_like(x), work = storage(x, scan.workspace_bytes());
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
  C10_CUDA_CHECK(scan.try_prepare(work.mutable_data_ptr(), stream));
  C10_CUDA_CHECK(scan.try_run(work.mutable_data_ptr(), maps(x), maps(out), scanlab::Mode::inclusive, Map{}, stream,
                              {before ? maps(*before) : nullptr}));
  return out;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(scanlab, library) {
  library.def("fold(Tensor x) -> Tensor");
  library.def("recur(Tensor x, Tensor? before) -> Tensor");
}
TORCH_LIBRARY_IMPL(scanlab, CUDA, library) {
  library.impl("fold", fold);
  library.impl("recur", recur);
}
