// Stands in for libnccl.so.2, without a GPU: it makes communicators that do nothing, and fails on request.
#include <chrono>
#include <cstddef>
#include <cstring>
#include <thread>

#include "tests/distributed/nccl/stub.hpp"

namespace {

struct UniqueId {
  char bytes[128];
};
StubState state;

}  // namespace

extern "C" {

StubState* stub_state() { return &state; }

int ncclGetUniqueId(UniqueId* id) {
  std::memset(id, 7, sizeof(*id));
  return 0;
}
int ncclCommInitRank(void** communicator, int ranks, UniqueId, int rank) {
  while (state.never_comes) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (rank == state.fails_on) return 2;
  ++state.made;
  state.ranks = ranks;
  *communicator = &state;
  return 0;
}
int ncclCommDestroy(void*) {
  ++state.destroyed;
  return 0;
}
int ncclCommAbort(void*) {
  ++state.aborted;
  return 0;
}
int ncclCommGetAsyncError(void*, int* error) {
  *error = state.met;
  return 0;
}
int ncclAllGather(const void*, void*, std::size_t, int, void*, void*) { return 0; }
const char* ncclGetErrorString(int error) {
  return error == 2   ? "unhandled system error"
         : error == 6 ? "remote process exited or there was a network error"
                      : "?";
}

}  // extern "C"
