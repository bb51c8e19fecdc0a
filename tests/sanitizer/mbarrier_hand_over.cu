// Shows what compute-sanitizer's racecheck reports for shared memory that an mbarrier hands from warp to warp, as in
// look_ahead. One warp writes an array and arrives at the barrier; another waits and reads it, or waits and
// arrives at a second barrier, behind which a third warp reads it. All of these but `none` are ordered: PTX ISA,
// "mbarrier": an arrival releases, a wait that succeeds acquires, what is ordered before what is ordered before a read
// is ordered before it, and __syncwarp() orders the lanes of a warp before the one that arrives.
//
//   nvcc -std=c++17 -arch=sm_90 -o mbarrier_hand_over tests/sanitizer/mbarrier_hand_over.cu
//   for way in all one passed_on library none; do compute-sanitizer --tool racecheck ./mbarrier_hand_over $way; done
#include <cuda/barrier>

#include <cstdio>
#include <cstring>

enum class Way {
  all,        ///< every lane arrives, by PTX
  one_lane,   ///< `one`: lane 0 arrives for all, behind __syncwarp(), by PTX
  passed_on,  ///< every lane arrives, and a warp that has waited, every lane of it, arrives at the next barrier
  library,    ///< every lane arrives, by cuda::barrier
  none        ///< no warp arrives or waits: a race, which the tool must find
};

__device__ unsigned address(const void* shared) { return static_cast<unsigned>(__cvta_generic_to_shared(shared)); }

__device__ void arrive(unsigned long long& word) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address(&word)) : "memory");
}

__device__ void wait(unsigned long long& word) {
  asm volatile(
      "{\n.reg .pred opened;\nagain:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 opened, [%0], 0;\n"
      "@!opened bra again;\n}\n" ::"r"(address(&word))
      : "memory");
}

template <Way kWay>
__global__ void hand_over(int* sum) {
  using Library = cuda::barrier<cuda::thread_scope_block>;
  __shared__ int values[32];
  __shared__ unsigned long long words[2];
  __shared__ alignas(Library) unsigned char memory[sizeof(Library)];
  auto* const library = reinterpret_cast<Library*>(memory);
  const int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    init(library, 64);
    for (unsigned long long& word : words) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address(&word)),
                   "r"(kWay == Way::one_lane ? 1 : 32));
    }
  }
  __syncthreads();
  const int warp = threadIdx.x / 32;
  if (warp == 0) {
    values[lane] = lane;
    if (kWay == Way::one_lane) __syncwarp();
    if (kWay == Way::all || kWay == Way::passed_on || (kWay == Way::one_lane && lane == 0)) arrive(words[0]);
    if (kWay == Way::library) library->arrive_and_wait();
  } else if (warp == 1) {
    if (kWay == Way::library) library->arrive_and_wait();
    if (kWay == Way::all || kWay == Way::one_lane || kWay == Way::passed_on) wait(words[0]);
    if (kWay == Way::passed_on) {
      arrive(words[1]);
    } else {
      atomicAdd(sum, values[31 - lane]);
    }
  } else if (kWay == Way::passed_on) {
    wait(words[1]);
    atomicAdd(sum, values[31 - lane]);
  }
}

int main(int argc, char** argv) {
  const char* const way = argc == 2 ? argv[1] : "";
  int* sum = nullptr;
  if (cudaMalloc(&sum, sizeof(int)) != cudaSuccess || cudaMemset(sum, 0, sizeof(int)) != cudaSuccess) return 3;
  if (std::strcmp(way, "all") == 0) {
    hand_over<Way::all><<<1, 64>>>(sum);
  } else if (std::strcmp(way, "one") == 0) {
    hand_over<Way::one_lane><<<1, 64>>>(sum);
  } else if (std::strcmp(way, "passed_on") == 0) {
    hand_over<Way::passed_on><<<1, 96>>>(sum);
  } else if (std::strcmp(way, "library") == 0) {
    hand_over<Way::library><<<1, 64>>>(sum);
  } else if (std::strcmp(way, "none") == 0) {
    hand_over<Way::none><<<1, 64>>>(sum);
  } else {
    std::fprintf(stderr, "usage: mbarrier_hand_over all|one|passed_on|library|none\n");
    return 2;
  }
  int result = 0;
  if (cudaMemcpy(&result, sum, sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  std::printf("%s: %d\n", way, result);
  return 0;
}
