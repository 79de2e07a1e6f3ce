// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>

#include <penstock/extend/sample.hpp>

namespace penstock {
class Context;
template <class T, std::size_t R>
class Output;
}  // namespace penstock

namespace penstock::detail {

template <class V>
struct ViewTraits : std::false_type {};
template <class T, std::size_t R>
struct ViewTraits<View<T, R>> : std::true_type {
  using element = T;
  static constexpr std::size_t rank = R;
};

/// Describes the parameter that a callable of `map` writes its result to: a View or an Output.
template <class V>
struct ResultTraits : ViewTraits<V> {
  static constexpr bool decides_shape = false;
};
template <class T, std::size_t R>
struct ResultTraits<Output<T, R>> : ViewTraits<View<T, R>> {
  static constexpr bool decides_shape = true;
};

/// Describes the parameters and the result of a callable, which is a function pointer or an object with a call
/// operator. Empty if the object has no call operator, several call operators, or a template as its call operator.
template <class F>
struct CallOf {};
template <class F>
  requires requires { &F::operator(); }
struct CallOf<F> : CallOf<decltype(&F::operator())> {};
template <class R, class... A>
struct CallOf<R (*)(A...)> {
  using returns = R;
  using args = std::tuple<std::remove_cvref_t<A>...>;
  static constexpr bool is_const = true;
};
template <class R, class... A>
struct CallOf<R (*)(A...) noexcept> : CallOf<R (*)(A...)> {};
template <class R, class C, class... A>
struct CallOf<R (C::*)(A...) const> : CallOf<R (*)(A...)> {};
template <class R, class C, class... A>
struct CallOf<R (C::*)(A...) const noexcept> : CallOf<R (*)(A...)> {};
template <class R, class C, class... A>
struct CallOf<R (C::*)(A...)> : CallOf<R (*)(A...)> {
  static constexpr bool is_const = false;
};
template <class R, class C, class... A>
struct CallOf<R (C::*)(A...) noexcept> : CallOf<R (C::*)(A...)> {};

/// A callable for `map` and `filter` that returns `Returns`. It is a function pointer, or an object with a const call
/// operator.
template <class F, class Returns>
concept ConstCall = requires {
  typename CallOf<std::decay_t<F>>::args;
}
&&CallOf<std::decay_t<F>>::is_const&& std::same_as<typename CallOf<std::decay_t<F>>::returns, Returns>;

template <class A>
struct FieldMapArgs {
  static constexpr bool usable = false;
};
template <class In>
struct FieldMapArgs<std::tuple<In>> {
  static constexpr bool usable = ViewTraits<In>::value;
  using in = In;
  using out = In;
  static constexpr bool in_place = true, context = false;
};
template <class In>
struct FieldMapArgs<std::tuple<In, Context>> : FieldMapArgs<std::tuple<In>> {
  static constexpr bool context = true;
};
template <class In, class Out>
  requires(ResultTraits<Out>::value)
struct FieldMapArgs<std::tuple<In, Out>> {
  static constexpr bool usable = ViewTraits<In>::value;
  using in = In;
  using out = Out;
  static constexpr bool in_place = false, context = false;
};
template <class In, class Out>
  requires(ResultTraits<Out>::value)
struct FieldMapArgs<std::tuple<In, Out, Context>> : FieldMapArgs<std::tuple<In, Out>> {
  static constexpr bool context = true;
};

}  // namespace penstock::detail
