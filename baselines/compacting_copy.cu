// The ceilings of select, partition, reduce_by_key, run_length_encode and unique: copies that read all that these must
// read, and write as many bytes.
#include "harness/cuda/launch.cuh"
#include "harness/cuda/registration.cuh"
#include "variants/runs/runs.hpp"
#include "variants/select/select.hpp"

namespace scanlab {
namespace {

constexpr int kThreads = 256;

/// An array that is read, and where its first bytes are written. Vector: uint4, or a byte where arrays are not whole
/// vectors at multiples of 16 bytes.
template <class Vector>
struct Copied {
  const Vector* from;
  std::int64_t vectors;
  Vector* to;
  std::int64_t bytes;

  Copied(const void* in, std::size_t in_bytes, void* out, std::size_t out_bytes)
      : from(static_cast<const Vector*>(in)),
        vectors(static_cast<std::int64_t>(in_bytes / sizeof(Vector))),
        to(static_cast<Vector*>(out)),
        bytes(static_cast<std::int64_t>(out_bytes)) {}
  bool fits() const {
    const auto places = reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to);
    return places % sizeof(Vector) == 0;
  }

  /// Copies the block's share. Blocks take shares from both ends in turn, so that some write while others only read.
  /// Returns the bits of all that was read, so that it has to be.
  __device__ std::uint32_t run() const {
    constexpr int kEach = 8;
    const std::int64_t most = max(vectors, ceil_div(bytes, kBytes));
    const std::int64_t half = blockIdx.x / 2, share = blockIdx.x % 2 == 0 ? half : gridDim.x - 1 - half;
    const std::int64_t first = most * share / gridDim.x, end = most * (share + 1) / gridDim.x;
    std::uint32_t seen = 0;
    for (std::int64_t i = first + threadIdx.x; i < end; i += kEach * kThreads) {
      Vector own[kEach];
#pragma unroll
      for (int e = 0; e < kEach; ++e) {
        own[e] = i + e * kThreads < min(end, vectors) ? from[i + e * kThreads] : Vector{};
      }
#pragma unroll
      for (int e = 0; e < kEach; ++e) {
        seen |= bits(own[e]);
        if (i + e * kThreads < end) store(i + e * kThreads, own[e]);
      }
    }
    return seen;
  }

 private:
  static constexpr std::int64_t kBytes = sizeof(Vector);

  __device__ static std::uint32_t bits(const uint4& own) { return own.x | own.y | own.z | own.w; }
  __device__ static std::uint32_t bits(unsigned char own) { return own; }
  __device__ void store(std::int64_t i, const Vector& own) const {
    if ((i + 1) * kBytes <= bytes) {
      to[i] = own;
      return;
    }
    // The last one, read again: bytes of what is in registers would move all of it to memory.
    const auto* const from_bytes = reinterpret_cast<const unsigned char*>(from);
    for (std::int64_t b = i * kBytes; b < bytes; ++b) {
      reinterpret_cast<unsigned char*>(to)[b] = b < vectors * kBytes ? from_bytes[b] : 0;
    }
  }
};

/// never: 0.
template <class Vector>
__global__ void __launch_bounds__(kThreads)
    copy_some(Copied<Vector> items, Copied<Vector> entries, std::uint32_t never) {
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
    Description about;
    about.id = (fold_runs(kBy) ? runs::prefix(kPrimitive) : std::string(name(kPrimitive))) + "_copy";
    about.title = "Copy that reads all, and writes as much as " + std::string(name(kPrimitive));
    about.source = "Scanlab";
    about.family = "copy";
    about.label = "copy";
    about.primitive = kPrimitive;
    about.kind = read_items(kBy) ? Kind::copy : Kind::read;  // what it writes is no input
    const int width = have_flags(kBy) ? 1 : 4;
    about.checked = {{{1000, 1, 1, {kBy, 16, Lengths::equal, width}}},
                     {{4096, 1, 1, {kBy, 16, Lengths::equal, width}}},
                     {{(1 << 24) + 1024, 1, 1, {kBy, 13, Lengths::equal, width, 51}}}};
    about.cost = {.work = "0", .span = "1", .traffic = "that of the primitive"};
    return about;
  }

  Plan plan() const { return {}; }

  template <class Op>
  void run(cudaStream_t stream, Op, const void* entries, const typename Op::Item* in, typename Op::Item* out,
           std::uint64_t*, void* unique, void*, std::size_t) const {
    const auto results = static_cast<std::size_t>(problem_.results()) * sizeof(typename Op::Item);
    const std::size_t read = read_items(problem_.segments.by) ? problem_.array_bytes() : 0;
    const std::size_t more = problem_.segments.array_bytes(problem_.items);
    const auto copied = [&]<class Vector>(Vector) {
      return std::pair(Copied<Vector>(in, read, out, results),
                       Copied<Vector>(entries, more, unique, problem_.unique_bytes()));
    };
    const auto [items, beside] = copied(uint4{});
    const bool whole = read % sizeof(uint4) == 0 && more % sizeof(uint4) == 0;
    if (whole && items.fits() && beside.fits()) return enqueue(items, beside, stream);
    const auto [item_bytes, bytes_beside] = copied(static_cast<unsigned char>(0));
    enqueue(item_bytes, bytes_beside, stream);
  }

 private:
  template <class Vector>
  static void enqueue(const Copied<Vector>& items, const Copied<Vector>& beside, cudaStream_t stream) {
    const std::int64_t written = ceil_div(items.bytes, std::int64_t{sizeof(Vector)});
    const std::int64_t most = std::max(items.vectors + beside.vectors, written);
    if (most == 0) return;
    constexpr std::int64_t kLong = 4096, kShort = 1024;  // vectors of a block; short ones where there are few
    const bool few = most < 4 * kLong * cuda::multiprocessors();
    cuda::launch(copy_some<Vector>,
                 {.blocks = static_cast<int>(ceil_div(most, few ? kShort : kLong)),
                  .threads = kThreads,
                  .pdl = true,
                  .what = "launching a copy"},
                 stream, items, beside, std::uint32_t{0});
  }

  Problem problem_;
};

const Registration of_select{cuda::cuda_scan<CompactingCopy<Primitive::select>>(Origin::baseline)};
const Registration of_partition{cuda::cuda_scan<CompactingCopy<Primitive::partition>>(Origin::baseline)};
const Registration of_folds{cuda::cuda_scan<CompactingCopy<Primitive::reduce_by_key>>(Origin::baseline)};
const Registration of_lengths{cuda::cuda_scan<CompactingCopy<Primitive::run_length_encode>>(Origin::baseline)};
const Registration of_unique{cuda::cuda_scan<CompactingCopy<Primitive::unique>>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
