// torch.ops.scanlab.masked_select(x, mask) and sum_by_key(keys, values), by scanlab::DeviceSelect and
// scanlab::DeviceReduce. The results are the front of tensors as large as the input. applications.py builds it.
#include <ATen/ATen.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/library.h>
#include <scanlab/device_runs.cuh>
#include <scanlab/device_select.cuh>

namespace {

/// Calls run(storage, bytes, count) twice, for the bytes of the storage and with it. Returns what it counts, for which
/// the host waits.
template <class Run>
std::int64_t counted(const at::Tensor& x, Run run) {
  const at::Tensor count = at::empty({1}, x.options().dtype(at::kLong));
  std::size_t bytes = 0;
  C10_CUDA_CHECK(run(nullptr, bytes, count.mutable_data_ptr<std::int64_t>()));
  const at::Tensor storage = at::empty({static_cast<std::int64_t>(bytes)}, x.options().dtype(at::kByte));
  C10_CUDA_CHECK(run(storage.mutable_data_ptr(), bytes, count.mutable_data_ptr<std::int64_t>()));
  return count.item<std::int64_t>();
}

at::Tensor masked_select(const at::Tensor& given, const at::Tensor& given_mask) {
  const at::Tensor x = given.contiguous(), mask = given_mask.contiguous();
  TORCH_CHECK(mask.sizes() == x.sizes() && mask.device() == x.device(),
              "scanlab.masked_select takes a mask of the shape of its items, on their device");
  const c10::cuda::CUDAGuard guard(x.device());
  const auto stream = c10::cuda::getCurrentCUDAStream();
  const at::Tensor out = at::empty({x.numel()}, x.options());
  std::int64_t kept = 0;
  AT_DISPATCH_ALL_TYPES_AND(at::kHalf, x.scalar_type(), "scanlab_masked_select", [&] {
    kept = counted(x, [&](void* storage, std::size_t& bytes, std::int64_t* count) {
      return scanlab::DeviceSelect::Flagged(storage, bytes, x.const_data_ptr<scalar_t>(), mask.const_data_ptr<bool>(),
                                            out.mutable_data_ptr<scalar_t>(), count, x.numel(), stream);
    });
  });
  return out.narrow(0, 0, kept);
}

struct Sum {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return a + b;
  }
};

std::tuple<at::Tensor, at::Tensor> sum_by_key(const at::Tensor& given_keys, const at::Tensor& given) {
  const at::Tensor keys = given_keys.contiguous(), values = given.contiguous();
  TORCH_CHECK(keys.numel() == values.numel() && keys.device() == values.device(),
              "scanlab.sum_by_key takes a key for each value, on one device");
  const c10::cuda::CUDAGuard guard(keys.device());
  const auto stream = c10::cuda::getCurrentCUDAStream();
  const at::Tensor unique = at::empty_like(keys), sums = at::empty_like(values);
  std::int64_t runs = 0;
  AT_DISPATCH_FLOATING_TYPES(values.scalar_type(), "scanlab_sum_by_key", [&] {
    runs = counted(keys, [&](void* storage, std::size_t& bytes, std::int64_t* count) {
      return scanlab::DeviceReduce::ReduceByKey(
          storage, bytes, keys.const_data_ptr<std::int64_t>(), unique.mutable_data_ptr<std::int64_t>(),
          values.const_data_ptr<scalar_t>(), sums.mutable_data_ptr<scalar_t>(), count, Sum{}, keys.numel(), stream);
    });
  });
  return {unique.narrow(0, 0, runs), sums.narrow(0, 0, runs)};
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(scanlab, library) {
  library.def("masked_select(Tensor x, Tensor mask) -> Tensor");
  library.def("sum_by_key(Tensor keys, Tensor values) -> (Tensor, Tensor)");
}
TORCH_LIBRARY_IMPL(scanlab, CUDA, library) {
  library.impl("masked_select", masked_select);
  library.impl("sum_by_key", sum_by_key);
}
