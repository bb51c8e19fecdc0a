// A copy by bulk copies through shared memory: the ceiling of scans that load and store in bulk, as look_ahead does.
//
// A few blocks stay on each multiprocessor. Each takes every so-many-th piece of the array and passes it through a ring
// of slots: one thread has some pieces loading, and stores each as it arrives. Small pieces, and no more of them
// loading than hide the memory's latency, are fastest: what is in flight beyond that only lengthens queues.
#include "baselines/vector_copy.cuh"
#include "harness/cuda/bulk_copy.cuh"
#include "harness/cuda/launch.cuh"
#include "harness/cuda/registration.cuh"

namespace scanlab {
namespace {

constexpr int kPieceBytes = 4096;
constexpr int kBlocksPerMultiprocessor = 2;
constexpr int kThreads = 32;

#if __CUDA_ARCH__ >= 900  // what the kernel alone uses, which has no body elsewhere
constexpr int kSlots = 8;
constexpr int kLoading = 4;  // the other slots are storing

/// The array that is copied in bulk: it begins at a multiple of 16 bytes, and is as many long.
class Pieces {
 public:
  __device__ Pieces(const VectorSplit& split) : start_(split.head), bytes_(split.vectors * cuda::kBulkBytes) {}
  __device__ std::int64_t mine() const { return (count() - blockIdx.x + gridDim.x - 1) / gridDim.x; }
  /// The offset of the block's k-th piece.
  __device__ std::int64_t offset(std::int64_t k) const { return start_ + (blockIdx.x + k * gridDim.x) * kPieceBytes; }
  __device__ int bytes(std::int64_t k) const {
    return static_cast<int>(min(std::int64_t{kPieceBytes}, start_ + bytes_ - offset(k)));
  }

 private:
  __device__ std::int64_t count() const { return (bytes_ + kPieceBytes - 1) / kPieceBytes; }
  std::int64_t start_;
  std::int64_t bytes_;
};
#endif

__global__ void __launch_bounds__(kThreads) bulk_copy_kernel(const char* in, char* out, VectorSplit split) {
#if __CUDA_ARCH__ >= 900
  cuda::wait_for_kernels_before();
  __shared__ alignas(128) char ring[kSlots][kPieceBytes];
  __shared__ cuda::TransactionBarrier full[kSlots];
  copy_ends(in, out, split, cuda::kBulkBytes, std::int64_t{blockIdx.x} * kThreads + threadIdx.x);
  if (threadIdx.x != 0) return;

  for (cuda::TransactionBarrier& barrier : full) barrier.init(1);
  cuda::make_barriers_visible();
  const Pieces pieces(split);
  const std::int64_t count = pieces.mine();
  const auto load = [&](std::int64_t k) {
    const int slot = static_cast<int>(k % kSlots);
    full[slot].arrive_expecting(pieces.bytes(k));
    cuda::bulk_load(ring[slot], in + pieces.offset(k), pieces.bytes(k), full[slot]);
  };
  for (std::int64_t k = 0; k < min(count, std::int64_t{kLoading}); ++k) load(k);
  for (std::int64_t k = 0; k < count; ++k) {
    const int slot = static_cast<int>(k % kSlots);
    full[slot].wait(static_cast<int>(k / kSlots % 2));
    cuda::bulk_store(out + pieces.offset(k), ring[slot], pieces.bytes(k));
    if (k + kLoading >= count) continue;
    cuda::wait_until_stores_have_read<kSlots - kLoading>();  // of the slot that is loaded next
    load(k + kLoading);
  }
  cuda::wait_until_stores_have_read<0>();  // before the block's shared memory goes to another
#endif
}

class CopyBulk {
 public:
  static Description describe() {
    return {
        .id = "copy_bulk",
        .title = "Copy kernel, a ring of bulk copies",
        .source = "PTX ISA, cp.async.bulk",
        .family = "copy",
        .label = "copy, bulk",
        .overview = false,
        .kind = Kind::copy,
        .limits = "any n; compute capability 9.0 and later",
        .cost = {.work = "0", .span = "1", .traffic = "2n"},
    };
  }

  explicit CopyBulk(const Problem& problem)
      : bytes_(static_cast<std::int64_t>(problem.array_bytes())),
        multiprocessors_(cuda::multiprocessors()),
        capability_(cuda::compute_capability()) {}

  Plan plan() const {
    if (capability_ >= 90) return {};
    return Plan::refuse("bulk copies came with compute capability 9.0, and this device has " +
                        std::to_string(capability_ / 10) + ".x");
  }

  /// Bulk copies cannot shift bytes: pointers whose alignments differ are copied by vectors.
  template <class Op>
  void run(cudaStream_t stream, Op, const typename Op::Item* in, typename Op::Item* out, void*, std::size_t) const {
    if (bytes_ == 0) return;
    if (!align_together(in, out, cuda::kBulkBytes)) return enqueue_vector_copy(in, out, bytes_, stream);
    const VectorSplit pieces = split(in, bytes_, cuda::kBulkBytes);
    const std::int64_t most = std::int64_t{kBlocksPerMultiprocessor} * multiprocessors_;
    const auto blocks =
        static_cast<int>(std::clamp<std::int64_t>(ceil_div(pieces.vectors * cuda::kBulkBytes, kPieceBytes), 1, most));
    cuda::launch(bulk_copy_kernel,
                 {.blocks = blocks, .threads = kThreads, .pdl = true, .what = "launching a copy in bulk"}, stream,
                 reinterpret_cast<const char*>(in), reinterpret_cast<char*>(out), pieces);
  }

 private:
  std::int64_t bytes_;
  int multiprocessors_;
  int capability_;
};

const Registration registration{cuda::cuda_scan<CopyBulk>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
