// Tells the address sanitizer when a fiber changes stacks, or it would report accesses that are right. Nothing in other
// builds: distributions build Boost.Context without its own support for this.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace scanlab::simt {

struct StackBounds {
  const void* bottom = nullptr;
  std::size_t bytes = 0;
};

/// Runs `change`, which leaves this stack for `target` and returns when somebody comes back.
template <class Change>
void switch_stack([[maybe_unused]] const StackBounds& target, Change change) {
#if defined(__SANITIZE_ADDRESS__)
  void* own = nullptr;
  __sanitizer_start_switch_fiber(&own, target.bottom, target.bytes);
  change();
  __sanitizer_finish_switch_fiber(own, nullptr, nullptr);
#else
  change();
#endif
}

/// First thing on a new stack; gives the bounds of the stack it was entered from.
inline void enter_stack([[maybe_unused]] StackBounds& previous) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &previous.bottom, &previous.bytes);
#endif
}

/// Last thing on a stack that is left for good.
inline void leave_stack([[maybe_unused]] const StackBounds& target) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(nullptr, target.bottom, target.bytes);
#endif
}

}  // namespace scanlab::simt
