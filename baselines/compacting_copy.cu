// The ceilings of select, partition, reduce_by_key and run_length_encode: copies that read all that these must read,
// and write as many bytes.
#include "harness/cuda/launch.cuh"
#include "harness/cuda/registration.cuh"
#include "variants/runs/runs.hpp"
#include "variants/select/select.hpp"

namespace scanlab {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kVector = 16;

/// An array that is read, and where its first bytes are written.
struct Copied {
  const uint4* from;
  std::int64_t vectors;
  uint4* to;
  std::int64_t bytes;

  /// Copies the block's share. Blocks take shares from both ends in turn, so that some write while others only read.
  /// Returns the bits of all that was read, so that it has to be.
  __device__ std::uint32_t run() const {
    constexpr int kEach = 8;
    const std::int64_t most = max(vectors, ceil_div(bytes, kVector));
    const std::int64_t half = blockIdx.x / 2, share = blockIdx.x % 2 == 0 ? half : gridDim.x - 1 - half;
    const std::int64_t first = most * share / gridDim.x, end = most * (share + 1) / gridDim.x;
    std::uint32_t seen = 0;
    for (std::int64_t i = first + threadIdx.x; i < end; i += kEach * kThreads) {
      uint4 own[kEach];
#pragma unroll
      for (int e = 0; e < kEach; ++e) own[e] = i + e * kThreads < min(end, vectors) ? from[i + e * kThreads] : uint4{};
#pragma unroll
      for (int e = 0; e < kEach; ++e) {
        seen |= own[e].x | own[e].y | own[e].z | own[e].w;
        if (i + e * kThreads < end) store(i + e * kThreads, own[e]);
      }
    }
    return seen;
  }

 private:
  __device__ void store(std::int64_t i, const uint4& own) const {
    if ((i + 1) * kVector <= bytes) {
      to[i] = own;
      return;
    }
    // The last one, read again: bytes of what is in registers would move all of it to memory.
    const auto* const from_bytes = reinterpret_cast<const unsigned char*>(from);
    for (std::int64_t b = i * kVector; b < bytes; ++b) {
      reinterpret_cast<unsigned char*>(to)[b] = b < vectors * kVector ? from_bytes[b] : 0;
    }
  }
};

/// never: 0.
__global__ void __launch_bounds__(kThreads) copy_some(Copied items, Copied entries, std::uint32_t never) {
  cuda::wait_for_kernels_before();
  const std::uint32_t seen = items.run() | entries.run();
  if ((seen & never) != 0) items.to[0] = {};
}

template <Primitive kPrimitive>
class CompactingCopy {
 public:
  template <class Op>
  static constexpr bool kTakes = have_flags(segments_by(kPrimitive)) ? select::kSelected<Op>
                                                                     : runs::kFolded<kPrimitive, Op>;

  explicit CompactingCopy(const Problem& problem) : problem_(problem) {}

  static Description describe() {
    constexpr SegmentsBy kBy = segments_by(kPrimitive);
    constexpr bool kLengths = kBy == SegmentsBy::lengths;
    Description about;
    about.id = (kLengths ? "lengths" : kBy == SegmentsBy::runs ? "runs" : std::string(name(kPrimitive))) + "_copy";
    about.title = "Copy that reads all, and writes as much as " + std::string(name(kPrimitive));
    about.source = "Scanlab";
    about.family = "copy";
    about.label = "copy";
    about.primitive = kPrimitive;
    about.kind = kLengths ? Kind::read : Kind::copy;  // what it writes is no input
    about.limits = "arrays of whole vectors of 16 bytes, at multiples of these";
    const int width = have_flags(kBy) ? 1 : 4;
    about.checked = {{{4096, 1, 1, {kBy, 16, Lengths::equal, width}}},
                     {{(1 << 24) + 1024, 1, 1, {kBy, 13, Lengths::equal, width, 51}}}};
    about.cost = {.work = "0", .span = "1", .traffic = "that of the primitive"};
    return about;
  }

  Plan plan() const {
    if (problem_.array_bytes() % kVector != 0 || problem_.segments.array_bytes(problem_.items) % kVector != 0)
      return Plan::refuse(describe().id + " copies vectors of 16 bytes: give --items 2^20 or another multiple of 16");
    return {};
  }

  template <class Op>
  void run(cudaStream_t stream, Op, const void* entries, const typename Op::Item* in, typename Op::Item* out,
           std::uint64_t*, void* unique, void*, std::size_t) const {
    const auto results = problem_.results() * static_cast<std::int64_t>(sizeof(typename Op::Item));
    const bool reads = problem_.segments.by != SegmentsBy::lengths;
    const auto vectors = reads ? static_cast<std::int64_t>(problem_.array_bytes()) / kVector : 0;
    const auto more = static_cast<std::int64_t>(problem_.segments.array_bytes(problem_.items)) / kVector;
    const std::int64_t most = std::max(vectors + more, ceil_div(results, kVector));
    if (most == 0) return;
    constexpr std::int64_t kLong = 4096, kShort = 1024;  // vectors of a block; short ones where there are few
    const bool few = most < 4 * kLong * cuda::multiprocessors();
    cuda::launch(copy_some,
                 {.blocks = static_cast<int>(ceil_div(most, few ? kShort : kLong)),
                  .threads = kThreads,
                  .pdl = true,
                  .what = "launching a copy"},
                 stream, Copied{reinterpret_cast<const uint4*>(in), vectors, reinterpret_cast<uint4*>(out), results},
                 Copied{static_cast<const uint4*>(entries), more, static_cast<uint4*>(unique),
                        static_cast<std::int64_t>(problem_.unique_bytes())},
                 std::uint32_t{0});
  }

 private:
  Problem problem_;
};

const Registration of_select{cuda::cuda_scan<CompactingCopy<Primitive::select>>(Origin::baseline)};
const Registration of_partition{cuda::cuda_scan<CompactingCopy<Primitive::partition>>(Origin::baseline)};
const Registration of_folds{cuda::cuda_scan<CompactingCopy<Primitive::reduce_by_key>>(Origin::baseline)};
const Registration of_lengths{cuda::cuda_scan<CompactingCopy<Primitive::run_length_encode>>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
