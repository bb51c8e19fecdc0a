#include "harness/distributed/nccl.hpp"

#include <dlfcn.h>

#include <stdexcept>

namespace scanlab::distributed {

namespace {

// From nccl.h, which not every toolkit installs; the library keeps these names, numbers and signatures stable.
struct UniqueId {
  char bytes[128];
};
using Handle = void*;
constexpr int kSuccess = 0;
constexpr int kInProgress = 7;
constexpr int kBytes = 0;  // ncclInt8

class Library {
 public:
  Library() : library_(dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr)
      throw std::runtime_error("libnccl.so.2 cannot be loaded: install NCCL, or choose --algorithm '*peer*'");
    load(get_unique_id, "ncclGetUniqueId");
    load(init_rank, "ncclCommInitRank");
    load(destroy, "ncclCommDestroy");
    load(all_gather, "ncclAllGather");
    load(error_string, "ncclGetErrorString");
    load(async_error, "ncclCommGetAsyncError");
    load(abort, "ncclCommAbort");
  }

  void check(int result, const char* doing) const {
    if (result != kSuccess) throw std::runtime_error(std::string(doing) + ": NCCL: " + error_string(result));
  }

  int (*get_unique_id)(UniqueId*) = nullptr;
  int (*init_rank)(Handle*, int, UniqueId, int) = nullptr;
  int (*destroy)(Handle) = nullptr;
  int (*all_gather)(const void*, void*, std::size_t, int, Handle, StreamHandle) = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*async_error)(Handle, int*) = nullptr;
  int (*abort)(Handle) = nullptr;

 private:
  template <class Function>
  void load(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (function == nullptr) throw std::runtime_error(std::string("libnccl.so.2 has no ") + name);
  }
  void* library_;
};

/// Made by the blocking call: of communicators that do not block, NCCL enqueues each operation from a thread of its
/// own, which would be timed.
class LoadedNccl : public Nccl {
 public:
  explicit LoadedNccl(Communicator& communicator) : communicator_(communicator) {
    std::string reason;
    UniqueId id{};
    try {
      library_ = std::make_unique<Library>();
      if (communicator.rank() == 0) library_->check(library_->get_unique_id(&id), "naming a communicator");
    } catch (const std::runtime_error& error) {
      reason = error.what();
    }
    if (reason = communicator.first_complaint(reason); !reason.empty()) throw std::runtime_error(reason);
    id = communicator.from_leader(id);
    try {
      with_patience(
          [&] {
            library_->check(library_->init_rank(&handle_, communicator.ranks(), id, communicator.rank()),
                            "making a communicator");
          },
          [&] {
            communicator.abandon("rank " + std::to_string(communicator.rank()) +
                                 ": making NCCL's communicator has taken more than " + in_words(patience()) +
                                 ", as when another rank never comes");
          });
    } catch (const std::runtime_error& error) {
      handle_ = nullptr;
      communicator.fail(error.what());  // the others wait within NCCL, and meet this rank nowhere else
    }
    communicator.barrier();  // one that has failed is known to all before anything runs
  }
  ~LoadedNccl() override {
    if (handle_ == nullptr) return;
    try {
      communicator_.check_others();
      library_->destroy(handle_);
    } catch (const RankFailed&) {
      library_->abort(handle_);  // to destroy it would wait for operations that another rank never joins
    }
  }

  void check() override {
    if (handle_ == nullptr) return;
    int state = kSuccess;
    library_->check(library_->async_error(handle_, &state), "asking for errors");
    if (state == kSuccess || state == kInProgress) return;
    library_->abort(handle_);  // its kernels end, and with them the stream
    handle_ = nullptr;
    library_->check(state, "in an operation that was enqueued");
  }

  void all_gather(const void* mine, void* all, std::size_t bytes, StreamHandle stream) override {
    library_->check(library_->all_gather(mine, all, bytes, kBytes, handle_, stream), "gathering");
  }

 private:
  Communicator& communicator_;
  std::unique_ptr<Library> library_;
  Handle handle_ = nullptr;
};

}  // namespace

std::string why_no_nccl() {
  try {
    Library();
    return {};
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

std::shared_ptr<Nccl> Nccl::join(Communicator& communicator) {
  if (communicator.nccl() == nullptr) communicator.nccl() = std::make_shared<LoadedNccl>(communicator);
  return communicator.nccl();
}

}  // namespace scanlab::distributed
