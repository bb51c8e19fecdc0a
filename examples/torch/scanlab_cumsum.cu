// torch.ops.scanlab.cumsum(x, dim): sums along a dimension, by scanlab::DeviceAxisScan. scanlab_cumsum.py builds it.
#include <ATen/ATen.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/library.h>
#include <scanlab/device_axis_scan.cuh>

namespace {

at::Tensor cumsum(const at::Tensor& given, std::int64_t given_dim) {
  const at::Tensor x = given.contiguous();
  const std::int64_t dim = at::maybe_wrap_dim(given_dim, x.dim());  // negative ones count from the last
  std::int64_t rows = 1, axis = 1, inner = 1;
  for (std::int64_t d = 0; d < x.dim(); ++d) (d < dim ? rows : d == dim ? axis : inner) *= x.size(d);
  at::Tensor sums = at::empty_like(x);
  const c10::cuda::CUDAGuard guard(x.device());
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kInt, at::kLong, x.scalar_type(), "scanlab_cumsum", [&] {
    std::size_t bytes = 0;
    const auto scan = [&](void* storage) {
      return scanlab::DeviceAxisScan::InclusiveSum(storage, bytes, x.const_data_ptr<scalar_t>(),
                                                   sums.mutable_data_ptr<scalar_t>(), rows, axis, inner,
                                                   c10::cuda::getCurrentCUDAStream());
    };
    C10_CUDA_CHECK(scan(nullptr));
    const at::Tensor storage = at::empty({static_cast<std::int64_t>(bytes)}, x.options().dtype(at::kByte));
    C10_CUDA_CHECK(scan(storage.mutable_data_ptr()));  // freed in the order of the stream
  });
  return sums;
}

}  // namespace

TORCH_LIBRARY(scanlab, library) { library.def("cumsum(Tensor x, int dim) -> Tensor"); }
TORCH_LIBRARY_IMPL(scanlab, CUDA, library) { library.impl("cumsum", cumsum); }
