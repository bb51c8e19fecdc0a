// A caller's function object, as the kernels' operator: sums with their identity, anything else without one.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "harness/core/associative.hpp"
#include "harness/core/wrapping.hpp"

struct __half;  // defined in cuda_fp16.h and cuda_bf16.h, which callers include
struct __nv_bfloat16;

namespace scanlab {

/// Whether a function computes more than it moves, as a logarithm of a sum of exponentials does. look_ahead has a form
/// for such, which is slower for all others. Specialise it: `template <> inline constexpr bool
/// scanlab::kIsHeavy<MyFunction> = true;`
template <class Function>
inline constexpr bool kIsHeavy = false;

/// Whether T(0) is the identity of a type's sums. Specialise it for numbers of your own: sums without an identity are
/// slower.
template <class T>
inline constexpr bool kIsNumber =
    std::is_arithmetic_v<T> || std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>;

namespace scan {

/// The type that a pointer points to.
template <class Pointer>
using Pointed = std::remove_cv_t<std::remove_pointer_t<Pointer>>;

template <class T>
inline constexpr bool kIsPlain =
    std::is_trivially_copyable_v<T>&& std::is_default_constructible_v<T>&& std::is_copy_assignable_v<T>;

/// Whether arrays of such pointers can be scanned. If not, says so in one sentence, and the caller says no more.
template <class In, class Out>
constexpr bool taken() {
  constexpr bool kPointers = std::is_pointer_v<In> && std::is_pointer_v<Out> &&
                             !std::is_volatile_v<std::remove_pointer_t<In>> &&
                             !std::is_volatile_v<std::remove_pointer_t<Out>>;
  static_assert(kPointers,
                "scanlab::DeviceScan takes pointers to device memory that is not volatile; for other iterators use "
                "cub::DeviceScan");
  constexpr bool kWrites = !kPointers || !std::is_const_v<std::remove_pointer_t<Out>>;
  static_assert(kWrites, "scanlab::DeviceScan writes results: they are not const");
  constexpr bool kPlain = !kPointers || (kIsPlain<Pointed<In>> && kIsPlain<Pointed<Out>>);
  static_assert(kPlain,
                "scanlab::DeviceScan takes items that are trivially copyable, can be assigned and have a default "
                "constructor; for others "
                "use cub::DeviceScan");
  constexpr bool kOfDevice = !std::is_same_v<Pointed<In>, long double> && !std::is_same_v<Pointed<Out>, long double>;
  static_assert(kOfDevice, "a GPU has no long double: scan double");
  constexpr bool kSmall = !kPointers || (sizeof(Pointed<In>) <= 16 && sizeof(Pointed<Out>) <= 16);
  static_assert(kSmall, "scanlab::DeviceScan takes items of up to 16 bytes; for larger ones use cub::DeviceScan");
  return kPointers && kWrites && kPlain && kOfDevice && kSmall;
}

struct Add {
  template <class A, class B>
  SCANLAB_HD constexpr auto operator()(const A& a, const B& b) const requires requires {
    a + b;
  }
  { return a + b; }
};

struct NoValue {};

/// Whether nvcc knows on the host which type a function returns. It does not of a lambda that is __device__ alone.
#if defined(__CUDACC_EXTENDED_LAMBDA__) && !defined(__CUDA_ARCH__)
template <class Function>
inline constexpr bool kHasKnownResult = !__nv_is_extended_device_lambda_closure_type(Function) ||
                                        __nv_is_extended_host_device_lambda_closure_type(Function) ||
                                        __nv_is_extended_device_lambda_with_preserved_return_type(Function);
#else
template <class Function>
inline constexpr bool kHasKnownResult = true;
#endif

/// The type of the first left operand.
template <class In, class Initial>
using LeftOf = std::conditional_t<std::is_same_v<Initial, NoValue>, In, Initial>;

template <class From, class To>
inline constexpr bool kConverts = requires(From from) {
  static_cast<To>(from);
};

/// Whether a scan can call the function. If not, says so in one sentence, and the caller says no more.
template <class In, class Out, class Function, class Initial = NoValue>
constexpr bool callable() {
  if constexpr (!kHasKnownResult<Function>) {
    static_assert(kHasKnownResult<Function>,
                  "the result type of a __device__ lambda is not known on the host: make it __host__ __device__, or a "
                  "function object");
  } else if constexpr (!std::is_invocable_v<Function&, LeftOf<In, Initial>, In>) {
    constexpr bool kAdds = !std::is_same_v<Function, Add>;
    static_assert(kAdds, "a sum takes items with operator+; for others give a scan a function object");
    static_assert(!kAdds, "a function object is called with two items, or with the initial value and an item");
  } else {
    using Item = std::decay_t<std::invoke_result_t<Function&, LeftOf<In, Initial>, In>>;
    constexpr bool kTakesInitial = std::is_same_v<Initial, NoValue> || kConverts<Initial, Item>;
    static_assert(kTakesInitial, "an initial value converts to the type that the function returns");
    constexpr bool kHolds = kIsPlain<Item> && sizeof(Item) <= 16;
    static_assert(kHolds,
                  "scanlab::DeviceScan adds up values of up to 16 bytes that are trivially copyable and have a default "
                  "constructor; for others use cub::DeviceScan");
    constexpr bool kGoesOn = std::is_invocable_v<Function&, Item, Item> && kConverts<In, Item> && kConverts<Item, Out>;
    static_assert(kGoesOn,
                  "what a function object gives is added up: it takes two of these, items convert to it, and it "
                  "converts to results");
    return kTakesInitial && kHolds && kGoesOn;
  }
  return false;
}

/// `Function`, which is callable(), and before the first item an initial value of type Initial, unless that is NoValue.
template <class InT, class OutT, class Function, class Initial = NoValue>
class FunctionOf {
 public:
  using In = InT;
  using Out = OutT;
  using Item = std::decay_t<std::invoke_result_t<Function&, LeftOf<In, Initial>, In>>;
  static constexpr bool kCommutative = false;  // the function does not state that it is
  static constexpr bool kHeavy = kIsHeavy<Function>;

  explicit FunctionOf(const Function& function = {}, const Initial& initial = {})
      : function_(function), initial_(initial) {}

  SCANLAB_HD Item operator()(const Item& left, const Item& right) const { return call(left, right); }
  SCANLAB_HD Item operator()(const Maybe<Item>& left, const Item& right) const {
    // Without a branch, around which a kernel's instructions would be fetched from far: where there is no left operand,
    // the right one takes its place, and the result is not used. These are values: between two references the
    // compiler would choose by address, in local memory.
    const Item first = left.any ? Item(left.item) : Item(right);
    const Item combined = call(first, right);
    return left.any ? combined : right;
  }
  SCANLAB_HD Maybe<Item> operator()(const Maybe<Item>& left, const Maybe<Item>& right) const {
    if (!right.any) return left;
    if (!left.any) return right;
    return {call(left.item, right.item), true};
  }

  SCANLAB_HD Item initial_value() const requires(!std::is_same_v<Initial, NoValue>) {
    Initial initial = initial_;  // which may convert only if it is not const
    return static_cast<Item>(initial);
  }

 private:
  // A function may be for the device alone: the host's code is compiled, too, and never runs. In the device's code nvcc
  // refuses a function that is for the host alone.
#if defined(__CUDA_ARCH__)
  __device__ Item call(const Item& left, const Item& right) const { return static_cast<Item>(function_(left, right)); }
#else
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
  SCANLAB_HD Item call(const Item& left, const Item& right) const { return static_cast<Item>(function_(left, right)); }
#endif

  mutable Function function_;  // its call operator need not be const
  Initial initial_;            // not [[no_unique_address]], over which host and device differ (nvcc 13.0)
};

/// Whether scans along an axis take such items, and call the function. If not, each says so in one sentence, as above.
template <class T>
constexpr bool taken_along_axis() {
  constexpr bool kNumbers = std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8;
  static_assert(kNumbers,
                "scanlab::DeviceAxisScan takes numbers of up to 8 bytes, and no bool; for rows of other items give "
                "scanlab::DeviceScan an operator on pairs");
  return kNumbers;
}
template <class T, class Function>
constexpr bool callable_along_axis() {
  if constexpr (callable<T, T, Function>()) {
    constexpr bool kKeepsType = std::is_same_v<typename FunctionOf<T, T, Function>::Item, T>;
    static_assert(kKeepsType, "scanlab::DeviceAxisScan adds up in the type of the items: a function object returns it");
    return kKeepsType;
  } else {
    return false;
  }
}

/// The sum of numbers. Integers wrap, so that what is cut off in the end need not be added up: sums of small ones are
/// of the type of the results.
template <class InT, class OutT>
struct SumOfNumbers {
  using In = InT;
  using Out = OutT;
  using Promoted = std::decay_t<decltype(std::declval<In>() + std::declval<In>())>;
  using Item = std::conditional_t<std::is_integral_v<Promoted> && std::is_integral_v<Out> &&
                                      !std::is_same_v<Out, bool> && sizeof(Out) <= sizeof(Promoted),
                                  Out, Promoted>;
  static constexpr bool kCommutative = true;
  static constexpr bool kHeavy = false;
  static constexpr WarpReduction kWarpReduction = WarpReduction::add;
  SCANLAB_HD static constexpr Item identity() { return Item(0); }
  SCANLAB_HD constexpr Item operator()(Item left, Item right) const { return wrapping_add(left, right); }
};

}  // namespace scan
}  // namespace scanlab
