// Handles of CUDA that own themselves.
#pragma once

#include <memory>
#include <type_traits>

namespace scanlab::cuda {

template <auto kDestroy>
struct Destroyer {
  template <class T>
  void operator()(T* handle) const {
    kDestroy(handle);
  }
};
/// A handle that `kDestroy` destroys.
template <class Handle, auto kDestroy>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Destroyer<kDestroy>>;

}  // namespace scanlab::cuda
