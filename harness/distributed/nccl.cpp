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
 private:
  /// A function of the library, whatever its type.
  struct Symbol {
    void* address;
    template <class Function>
    operator Function*() const {  // NOLINT(google-explicit-constructor): a pointer is initialised with it
      return reinterpret_cast<Function*>(address);
    }
  };
  Symbol load(const char* name) {
    if (library_ == nullptr) library_ = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr)
      throw std::runtime_error("libnccl.so.2 cannot be loaded: install NCCL, or choose --algorithm '*peer*'");
    const Symbol symbol{dlsym(library_, name)};
    if (symbol.address == nullptr) throw std::runtime_error(std::string("libnccl.so.2 has no ") + name);
    return symbol;
  }
  void* library_ = nullptr;

 public:
  int (*get_unique_id)(UniqueId*) = load("ncclGetUniqueId");
  int (*init_rank)(Handle*, int, UniqueId, int) = load("ncclCommInitRank");
  int (*destroy)(Handle) = load("ncclCommDestroy");
  int (*all_gather)(const void*, void*, std::size_t, int, Handle, StreamHandle) = load("ncclAllGather");
  const char* (*error_string)(int) = load("ncclGetErrorString");
  int (*async_error)(Handle, int*) = load("ncclCommGetAsyncError");
  int (*abort)(Handle) = load("ncclCommAbort");

  void check(int result, const char* doing) const {
    if (result != kSuccess) throw std::runtime_error(std::string(doing) + ": NCCL: " + error_string(result));
  }
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
