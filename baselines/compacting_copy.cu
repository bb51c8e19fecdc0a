// The ceilings of select, reduce_by_key and run_length_encode: copies that read all that these must read, and write as
// many bytes.
#include "harness/cuda/launch.cuh"
#include "harness/cuda/registration.cuh"
#include "variants/runs/runs.hpp"
#include "variants/select/select.hpp"

namespace scanlab {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kVector = 16;

/// An array that is read, and the bytes of it that are written elsewhere.
struct Copied {
  const uint4* from;
  std::int64_t vectors;
  uint4* to;
  std::int64_t bytes;

  __device__ uint4 load(std::int64_t i) const { return i < vectors ? from[i] : uint4{}; }
  __device__ void store(std::int64_t i, const uint4& own) const {
    if ((i + 1) * kVector <= bytes) {
      to[i] = own;
    } else if (i * kVector < bytes) {  // the last one
      const auto* const own_bytes = reinterpret_cast<const unsigned char*>(&own);
      for (std::int64_t b = i * kVector; b < bytes; ++b) {
        reinterpret_cast<unsigned char*>(to)[b] = own_bytes[b - i * kVector];
      }
    }
  }
};

/// Both loads go before both stores: a thread waits once. never: 0, so that everything has to be read.
__global__ void copy_some(Copied items, Copied entries, std::uint32_t never) {
  cuda::wait_for_kernels_before();
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const uint4 item = items.load(i), entry = entries.load(i);
  items.store(i, item);
  entries.store(i, entry);
  const std::uint32_t seen = item.x | item.y | item.z | item.w | entry.x | entry.y | entry.z | entry.w;
  if ((seen & never) != 0) items.to[0] = {};
}

template <Primitive kPrimitive>
class CompactingCopy {
 public:
  template <class Op>
  static constexpr bool kTakes =
      kPrimitive == Primitive::select ? select::kSelected<Op> : runs::kFolded<kPrimitive, Op>;

  explicit CompactingCopy(const Problem& problem) : problem_(problem) {}

  static Description describe() {
    constexpr SegmentsBy kBy = segments_by(kPrimitive);
    constexpr bool kLengths = kBy == SegmentsBy::lengths;
    Description about;
    about.id = kLengths ? "lengths_copy" : kBy == SegmentsBy::runs ? "runs_copy" : "select_copy";
    about.title = "Copy that reads all, and writes as much as " + std::string(name(kPrimitive));
    about.source = "Scanlab";
    about.family = "copy";
    about.label = "copy";
    about.primitive = kPrimitive;
    about.kind = kLengths ? Kind::read : Kind::copy;  // what it writes is no input
    about.limits = "arrays of whole vectors of 16 bytes, at multiples of these";
    about.checked = {{{4096, 1, 1, {kBy, 16, Lengths::equal, kBy == SegmentsBy::flags ? 1 : 4}}}};
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
    const std::int64_t most = std::max({vectors, more, ceil_div(results, kVector)});
    if (most == 0) return;
    cuda::launch(copy_some,
                 {.blocks = static_cast<int>(ceil_div(most, kThreads)),
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
const Registration of_folds{cuda::cuda_scan<CompactingCopy<Primitive::reduce_by_key>>(Origin::baseline)};
const Registration of_lengths{cuda::cuda_scan<CompactingCopy<Primitive::run_length_encode>>(Origin::baseline)};

}  // namespace
}  // namespace scanlab
