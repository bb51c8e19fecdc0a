// A copy whose blocks meet in between: the ceiling of a scan that holds its items in registers while it waits for what
// comes before them, as one_wave does.
//
// Each block reads its share into registers, tells the others so by a word, waits for those of the blocks before it,
// and writes its share. Nothing is added up: what this takes beyond copy_vector is the price of the meeting alone.
#include "harness/cuda/launch.cuh"
#include "harness/cuda/registration.cuh"
#include "harness/simt/gpu_block.cuh"
#include "harness/simt/registration.hpp"

namespace scanlab {
namespace {

constexpr int kMostThreads = 1024;
constexpr int kVectorBytes = 16;

/// in, out: 16-byte vectors. last_run: the number of the run before this one. met: the last run that each block knew.
template <int kRows>
__global__ void __launch_bounds__(kMostThreads, 1)
    copy_one_wave(const uint4* in, uint4* out, std::int64_t vectors, std::uint32_t* last_run, std::uint32_t* met) {
  __shared__ std::uint32_t this_run;
  simt::GpuBlock block;
  const std::uint32_t run_before = threadIdx.x == 0 ? block.load_atomic(last_run, 0) : 0;
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x * kRows + threadIdx.x;
  uint4 rows[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (first + r * blockDim.x < vectors) rows[r] = in[first + r * blockDim.x];
  }
#pragma unroll
  for (uint4& row : rows) asm volatile("" : "+r"(row.x), "+r"(row.y), "+r"(row.z), "+r"(row.w));  // is here
  if (threadIdx.x == 0) this_run = run_before + 1;
  __syncthreads();  // all of the share is here, and this_run
  const std::uint32_t run = this_run;
  if (threadIdx.x == 0) block.store_atomic(met, blockIdx.x, run);
  for (unsigned before = threadIdx.x; before < blockIdx.x; before += blockDim.x) {
    while (block.load_atomic(met, before) != run) {
    }
  }
  __syncthreads();  // all blocks before have been met
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (first + r * blockDim.x < vectors) out[first + r * blockDim.x] = rows[r];
  }
  // The last block has met every other, so each has read the number before it is changed.
  if (threadIdx.x == 0 && blockIdx.x == gridDim.x - 1) block.store_atomic(last_run, 0, run);
}

class CopyOneWave {
 public:
  static Description describe() {
    return {
        .id = "copy_one_wave",
        .title = "Copy kernel whose blocks meet in between (a ceiling)",
        .source = "as one_wave, without the scan",
        .kind = Kind::ceiling,
        .limits = "128 KiB a multiprocessor, whole vectors of 16 bytes",
        .cost = {.work = "0", .span = "1", .traffic = "2n"},
    };
  }

  explicit CopyOneWave(const Problem& problem)
      : bytes_(static_cast<std::int64_t>(problem.ideal_bytes() / 2)), multiprocessors_(cuda::multiprocessors()) {
    for (const Shape& each : kShapes) {
      shape_ = each;
      if (blocks() <= std::min(each.most_blocks, multiprocessors_)) break;
    }
  }

  Plan plan() const {
    if (multiprocessors_ == 0) return Plan::refuse("copy_one_wave needs a GPU");
    if (bytes_ % kVectorBytes != 0) return Plan::refuse("copy_one_wave copies whole vectors of 16 bytes");
    if (blocks() > multiprocessors_) return Plan::refuse("copy_one_wave holds 128 KiB a multiprocessor at most");
    return {.workspace_bytes = (1 + static_cast<std::size_t>(blocks())) * sizeof(std::uint32_t)};
  }

  template <class Op>
  void prepare(cudaStream_t stream, Op, void* workspace, std::size_t bytes) const {
    cuda::check(cudaMemsetAsync(workspace, 0, bytes, stream), "clearing the words that blocks meet by");
  }

  template <class Op>
  void run(cudaStream_t stream, Op, const typename Op::Item* in, typename Op::Item* out, void* workspace,
           std::size_t) const {
    if (bytes_ == 0) return;
    if (!simt::CudaMachine::aligned(in, kVectorBytes) || !simt::CudaMachine::aligned(out, kVectorBytes)) {
      cuda::check(cudaMemcpyAsync(out, in, bytes_, cudaMemcpyDeviceToDevice, stream), "copying unaligned arrays");
      return;
    }
    auto* const last_run = static_cast<std::uint32_t*>(workspace);
    const auto kernel = shape_.rows == 1   ? copy_one_wave<1>
                        : shape_.rows == 2 ? copy_one_wave<2>
                        : shape_.rows == 4 ? copy_one_wave<4>
                                           : copy_one_wave<8>;
    cuda::launch(kernel, {.blocks = static_cast<int>(blocks()), .threads = shape_.threads}, stream,
                 reinterpret_cast<const uint4*>(in), reinterpret_cast<uint4*>(out), vectors(), last_run, last_run + 1);
  }

 private:
  /// The first that holds all is, or is nearly, the fastest.
  struct Shape {
    int rows;  ///< vectors a thread
    int threads;
    int most_blocks;
  };
  static constexpr int kAny = 1 << 30;
  static constexpr Shape kShapes[] = {{1, 256, 8}, {2, 512, 64}, {4, 512, kAny}, {4, 1024, kAny}, {8, 1024, kAny}};

  std::int64_t vectors() const { return bytes_ / kVectorBytes; }
  std::int64_t blocks() const { return ceil_div(vectors(), shape_.rows * shape_.threads); }

  std::int64_t bytes_;
  int multiprocessors_;
  Shape shape_{};
};

const Registration registration{cuda::cuda_scan<CopyOneWave>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
