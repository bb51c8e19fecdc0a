// A copy with a grid-wide barrier between reading and writing: the reference of one_wave, which holds its items in
// registers while it waits for those before them. No ceiling: one_wave, which scans its rows where this pauses for a
// fixed time, is a little faster at some sizes.
//
// Each block reads its share into registers, tells the others so by a word, waits for those of the blocks before it,
// and writes its share. Nothing is added up: the time beyond that of copy_vector is the price of the barrier alone.
#include "harness/cuda/launch.cuh"
#include "harness/cuda/registration.cuh"
#include "harness/cuda/turns.cuh"
#include "harness/cuda/watch.cuh"
#include "harness/simt/gpu_block.cuh"
#include "harness/simt/registration.hpp"

namespace scanlab {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocksPerMultiprocessor = 4;
constexpr int kVectorBytes = 16;

/// in, out: 16-byte vectors. last_run: the number of the run before this one. met: the last run that each block knew.
template <int kRows, class Watch>
__global__ void __launch_bounds__(kThreads, kBlocksPerMultiprocessor)
    copy_one_wave(const uint4* in, uint4* out, std::int64_t vectors, int multiprocessors, std::uint32_t* last_run,
                  std::uint32_t* met, void* watched) {
  __shared__ std::uint32_t this_run;
  simt::GpuBlock block;
  const auto reached = [&](cuda::Point point) {
    if (threadIdx.x == 0) Watch().reached(watched, point, blockIdx.x);
  };
  cuda::wait_for_kernels_before();
  reached(cuda::Point::begun);
  const std::uint32_t run_before = threadIdx.x == 0 ? block.load_atomic(last_run, 0) : 0;
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x * kRows + threadIdx.x;
  cuda::stagger_load(multiprocessors, kThreads * kRows * kVectorBytes);
  uint4 rows[kRows]{};
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (first + r * blockDim.x < vectors) rows[r] = in[first + r * blockDim.x];
  }
  unsigned bits = 0;
#pragma unroll
  for (int r = 0; r < kRows; ++r) bits |= rows[r].x | rows[r].y | rows[r].z | rows[r].w;
  if (threadIdx.x == 0) this_run = run_before + 1;
  // This run's number is there, and all of the share: a mere barrier does not wait for what is read.
  __syncthreads_or(bits != 0);
  reached(cuda::Point::items);
  const std::uint32_t run = this_run;
  if (threadIdx.x == 0) block.store_atomic(met, blockIdx.x, run);
  reached(cuda::Point::told);
  // Unsuccessful polls delay the stores that publish; a scan has its rows to scan in the meantime. A few blocks
  // of one vector a thread are through sooner than a pause.
  if (kRows > 1) __nanosleep(40 * kRows);
  for (unsigned before = threadIdx.x; before < blockIdx.x; before += blockDim.x) {
    while (block.load_atomic(met, before) != run) {
    }
  }
  __syncthreads();  // all blocks before have been met
  reached(cuda::Point::prefix);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (first + r * blockDim.x < vectors) out[first + r * blockDim.x] = rows[r];
  }
  reached(cuda::Point::stored);
  // The last block has met every other, so each has read the number before it is changed.
  if (threadIdx.x == 0 && blockIdx.x == gridDim.x - 1) block.store_atomic(last_run, 0, run);
}

class CopyOneWave {
 public:
  static Description describe() {
    return {
        .id = "copy_one_wave",
        .title = "Copy kernel with a grid-wide barrier between reading and writing",
        .source = "as one_wave, without the scan",
        .family = "copy",
        .label = "copy, one wave",
        .overview = false,
        .kind = Kind::barrier_copy,
        .limits = "128 KiB a multiprocessor, whole vectors of 16 bytes",
        .cost = {.work = "0", .span = "1", .traffic = "2n"},
    };
  }

  explicit CopyOneWave(const Problem& problem)
      : bytes_(static_cast<std::int64_t>(problem.array_bytes())), multiprocessors_(cuda::multiprocessors()) {
    while (rows_ < kMaxRows && blocks() > (rows_ == 1 ? 8 : rows_ == 2 ? multiprocessors_ : 2 * multiprocessors_)) {
      rows_ *= 2;
    }
  }

  Plan plan() const {
    if (multiprocessors_ == 0) return Plan::refuse("copy_one_wave needs a GPU");
    if (bytes_ % kVectorBytes != 0) return Plan::refuse("copy_one_wave copies whole vectors of 16 bytes");
    if (blocks() > kBlocksPerMultiprocessor * multiprocessors_)
      return Plan::refuse("copy_one_wave holds 128 KiB a multiprocessor at most");
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
    launch<cuda::NoWatch>(stream, in, out, workspace, nullptr);
  }

  /// As `run`, of aligned arrays; see BoundScan.
  template <class Op>
  int timeline(cudaStream_t stream, Op, const typename Op::Item* in, typename Op::Item* out, void* workspace,
               void* ns) const {
    launch<cuda::PointWatch>(stream, in, out, workspace, ns);
    return static_cast<int>(blocks());
  }

 private:
  template <class Watch>
  void launch(cudaStream_t stream, const void* in, void* out, void* workspace, void* watched) const {
    auto* const last_run = static_cast<std::uint32_t*>(workspace);
    const auto kernel = rows_ == 1   ? copy_one_wave<1, Watch>
                        : rows_ == 2 ? copy_one_wave<2, Watch>
                        : rows_ == 4 ? copy_one_wave<4, Watch>
                                     : copy_one_wave<kMaxRows, Watch>;
    cuda::launch(kernel, {.blocks = static_cast<int>(blocks()), .threads = kThreads, .pdl = true}, stream,
                 static_cast<const uint4*>(in), static_cast<uint4*>(out), vectors(), multiprocessors_, last_run,
                 last_run + 1, watched);
  }
  std::int64_t vectors() const { return bytes_ / kVectorBytes; }
  std::int64_t blocks() const { return ceil_div(vectors(), rows_ * kThreads); }

  static constexpr int kMaxRows = 8;

  std::int64_t bytes_;
  int multiprocessors_;
  int rows_ = 1;  // vectors a thread: as one_wave's, where that is the fastest
};

const Registration registration{cuda::cuda_scan<CopyOneWave>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
