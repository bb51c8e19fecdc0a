// Bulk copies between global and shared memory, and the barriers that count their bytes: Hopper's asynchronous copies
// behind names (compute capability 9.0 and later; barriers from 8.0 on). Only what has no name in CUDA C++ that
// compiles to one instruction.
//
// Source: PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy" and "mbarrier".
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace scanlab::cuda {

/// Bulk copies move whole vectors of 16 bytes between addresses that are multiples of 16.
inline constexpr int kBulkBytes = 16;

/// The address of shared memory as PTX takes it.
__device__ inline std::uint32_t shared_address(const void* shared) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
}

/// A barrier in shared memory. It opens, once a phase, when the arrivals it was made for have come and the bytes they
/// announced are there. Threads that waited see the writes of each thread before it arrived. Phases alternate in
/// parity, the first is 0; waiting for the parity of the phase before the current one returns at once.
class TransactionBarrier {
 public:
  /// One thread calls this before all others use it; make_barriers_visible() and a barrier of the block follow.
  __device__ void init(int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address()), "r"(arrivals));
  }
  __device__ void arrive() { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address()) : "memory"); }
  /// Arrives, and announces bytes that bulk loads will bring. Before 9.0 there are none.
  __device__ void arrive_expecting([[maybe_unused]] int bytes) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address()), "r"(bytes) : "memory");
#else
    arrive();
#endif
  }
  __device__ void wait(int parity) {
    asm volatile(
        "{\n"
        ".reg .pred opened;\n"
        "again:\n"
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
        "mbarrier.try_wait.parity.shared::cta.b64 opened, [%0], %1;\n"
#else
        "mbarrier.test_wait.parity.shared::cta.b64 opened, [%0], %1;\n"
#endif
        "@!opened bra again;\n"
        "}\n" ::"r"(address()),
        "r"(parity)
        : "memory");
  }
  __device__ std::uint32_t address() const { return shared_address(&word_); }

 private:
  std::uint64_t word_;
};

/// Barriers that this thread has made can be arrived at by bulk loads.
__device__ inline void make_barriers_visible() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

/// Starts a copy of `bytes` to shared memory; `full` counts them as they arrive.
__device__ inline void bulk_load(void* shared, const void* global, int bytes, TransactionBarrier& full) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(shared)),
               "l"(global), "r"(bytes), "r"(full.address())
               : "memory");
}

/// Starts a copy of a box of a matrix to shared memory at a multiple of 128 bytes. x, y: column and row of the box's
/// first element. All bytes of the box count; those outside the matrix become zero.
__device__ inline void load_box(void* shared, const CUtensorMap& matrix, int x, int y, TransactionBarrier& full) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
          "r"(shared_address(shared)),
      "l"(&matrix), "r"(x), "r"(y), "r"(full.address())
      : "memory");
#else
  __trap();
#endif
}

/// Starts a copy of `bytes` from shared memory, and closes the thread's group of copies, which it alone makes up.
__device__ inline void bulk_store(void* global, const void* shared, int bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global), "r"(shared_address(shared)),
               "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// Waits until at most `kPending` of the thread's latest stores still have to read their shared memory.
template <int kPending>
__device__ void wait_until_stores_have_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

/// Orders the thread's ordinary stores to shared memory before the bulk copies from and to it that follow.
__device__ inline void show_to_bulk_copies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

}  // namespace scanlab::cuda
