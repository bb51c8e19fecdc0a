// The heads of segments, a bit an item: by comparing neighbouring keys, or from the offsets of segments.
#pragma once

#include <cstdint>

#include "harness/core/ceil.hpp"
#include "harness/cuda/launch.cuh"

namespace scanlab::segmented {

struct Equal {
  template <class Key>
  __device__ bool operator()(const Key& a, const Key& b) const {
    return a == b;
  }
};

inline constexpr int kLanes = 32;
inline constexpr int kMarkThreads = 256;

/// Bit i of the result: whether a run of keys begins at keys[i]. before: the key before these. first: the place of the
/// first in the array, which has n.
template <int kKeys, class Key, class Equal>
__device__ std::uint32_t find_heads(const Key (&keys)[kKeys], const Key& before, std::int64_t first, std::int64_t n,
                                    const Equal& equal) {
  std::uint32_t heads = 0;
#pragma unroll
  for (int i = 0; i < kKeys; ++i) {
    const bool head = first + i == 0 || !equal(i == 0 ? before : keys[i > 0 ? i - 1 : 0], keys[i]);
    if (head && first + i < n) heads |= 1u << i;
  }
  return heads;
}

/// Marks the items whose key differs from the one before, and the first item. A warp compares kVectors vectors of 16
/// bytes a lane: as many keys as `kKeys` words of bits.
template <class Key, class Equal>
struct KeyMarker {
  static constexpr int kVector = 16 / static_cast<int>(sizeof(Key));  ///< keys of a vector
  static constexpr int kVectors = 4;                                  ///< of a lane
  static constexpr int kLanesPerWord = 32 / kVector;
  static constexpr std::int64_t kKeysPerWarp = std::int64_t{kLanes} * kVectors * kVector;
  struct alignas(16) Vector {
    Key keys[kVector];
  };

  const Key* keys;
  std::int64_t n;
  bool in_vectors;  ///< keys begin at a multiple of 16 bytes
  std::uint32_t* bits;
  std::int64_t words;  ///< of bits, ceil(n / 32) or more; those past n become 0
  Equal equal;

  __device__ void run() const {
    const int lane = threadIdx.x % kLanes;
    const std::int64_t warp = (std::int64_t{blockIdx.x} * kMarkThreads + threadIdx.x) / kLanes;
    const std::int64_t first = warp * kKeysPerWarp + lane * kVector;
    Vector vectors[kVectors];
#pragma unroll
    for (int v = 0; v < kVectors; ++v) vectors[v] = load(first + v * (kLanes * kVector));
    Key before_warp{};
    if (lane == 0 && first > 0 && first <= n) before_warp = keys[first - 1];
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const std::int64_t place = first + v * (kLanes * kVector);
      const Key last = vectors[v].keys[kVector - 1];
      Key before = shuffle(last, lane == 0 ? 0 : lane - 1);
      if (lane == 0) before = before_warp;
      before_warp = shuffle(last, kLanes - 1);
      std::uint32_t heads = find_heads(vectors[v].keys, before, place, n, equal) << lane % kLanesPerWord * kVector;
#pragma unroll
      for (int distance = 1; distance < kLanesPerWord; distance *= 2) {
        heads |= __shfl_xor_sync(0xFFFFFFFFu, heads, distance);
      }
      if (lane % kLanesPerWord == 0 && place / 32 < words) bits[place / 32] = heads;
    }
  }

 private:
  __device__ Vector load(std::int64_t place) const {
    Vector vector{};
    if (in_vectors && place + kVector <= n) return *reinterpret_cast<const Vector*>(keys + place);
    for (int i = 0; i < kVector; ++i) {
      if (place + i < n) vector.keys[i] = keys[place + i];
    }
    return vector;
  }
  __device__ static Key shuffle(const Key& key, int lane) {
    return simt::change_words(key, [&](std::uint32_t word) { return __shfl_sync(0xFFFFFFFFu, word, lane); });
  }
};

template <class Key, class Equal>
__global__ void __launch_bounds__(kMarkThreads) mark_keys(const __grid_constant__ KeyMarker<Key, Equal> marker) {
  cuda::wait_for_kernels_before();
  marker.run();
}

/// Enqueues a kernel that writes all `words` of bits.
template <class Key, class Equal>
cudaError_t try_mark_keys(const Key* keys, std::int64_t n, std::uint32_t* bits, std::int64_t words, Equal equal,
                          cudaStream_t stream) {
  using Marker = KeyMarker<Key, Equal>;
  constexpr std::int64_t kWordsPerBlock = Marker::kKeysPerWarp / 32 * (kMarkThreads / kLanes);
  if (words == 0) return cudaSuccess;
  const bool aligned = reinterpret_cast<std::uintptr_t>(keys) % 16 == 0;
  return cuda::try_launch(
      mark_keys<Key, Equal>,
      {.blocks = static_cast<int>(ceil_div(words, kWordsPerBlock)), .threads = kMarkThreads, .pdl = true}, stream,
      Marker{keys, n, aligned, bits, words, equal});
}

/// Sets the bits of the items at which segments begin; thread t, those of 4 neighbours. An empty segment at the end
/// begins at no item.
template <class Offset>
__global__ void __launch_bounds__(kMarkThreads)
    mark_offsets(const Offset* begins, std::int64_t segments, std::int64_t n, std::uint32_t* bits) {
  constexpr int kPerThread = 4;
  cuda::wait_for_kernels_before();
  const std::int64_t first = (std::int64_t{blockIdx.x} * kMarkThreads + threadIdx.x) * kPerThread;
  Offset own[kPerThread];
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) own[i] = first + i < segments ? begins[first + i] : static_cast<Offset>(n);
  std::int64_t word = -1;
  std::uint32_t set = 0;
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    const auto begin = static_cast<std::int64_t>(own[i]);
    if (begin < 0 || begin >= n) continue;
    if (begin / 32 != word) {
      if (set != 0) atomicOr(bits + word, set);
      word = begin / 32;
      set = 0;
    }
    set |= 1u << (begin % 32);
  }
  if (set != 0) atomicOr(bits + word, set);
}

/// Enqueues what sets the bits where segments begin, of bits that are clear.
template <class Offset>
cudaError_t try_mark_offsets(const Offset* begins, std::int64_t segments, std::int64_t n, std::uint32_t* bits,
                             cudaStream_t stream) {
  if (segments == 0) return cudaSuccess;
  const auto blocks = static_cast<int>(ceil_div(segments, std::int64_t{4} * kMarkThreads));
  return cuda::try_launch(mark_offsets<Offset>, {.blocks = blocks, .threads = kMarkThreads, .pdl = true}, stream,
                          begins, segments, n, bits);
}

template <class Offset>
__global__ void __launch_bounds__(kMarkThreads)
    find_wrong_offset(const Offset* begins, std::int64_t segments, std::int64_t n, int* found) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kMarkThreads + threadIdx.x;
  if (i >= segments) return;
  const auto begin = static_cast<std::int64_t>(begins[i]);
  if (begin < (i == 0 ? 0 : static_cast<std::int64_t>(begins[i - 1])) || begin > n) *found = 1;
}

/// Waits for a kernel that looks at the offsets; cudaErrorInvalidValue if one falls, is negative or exceeds n.
template <class Offset>
cudaError_t check_offsets(const Offset* begins, std::int64_t segments, std::int64_t n, cudaStream_t stream) {
  if (segments == 0) return cudaSuccess;
  int* found = nullptr;
  if (const cudaError_t error = cudaMalloc(&found, sizeof *found)) return error;
  int wrong = 0;
  cudaError_t error = cudaMemsetAsync(found, 0, sizeof *found, stream);
  if (!error) {
    error = cuda::try_launch(
        find_wrong_offset<Offset>,
        {.blocks = static_cast<int>(ceil_div(segments, std::int64_t{kMarkThreads})), .threads = kMarkThreads}, stream,
        begins, segments, n, found);
  }
  if (!error) error = cudaMemcpyAsync(&wrong, found, sizeof wrong, cudaMemcpyDeviceToHost, stream);
  if (!error) error = cudaStreamSynchronize(stream);
  cudaFree(found);
  return error == cudaSuccess && wrong != 0 ? cudaErrorInvalidValue : error;
}

}  // namespace scanlab::segmented
