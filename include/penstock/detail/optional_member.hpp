#pragma once

#include <concepts>

namespace penstock::detail {

/// What `call(part, args...)` gives, where that compiles and is a `Result`; `fallback` where the part has no such
/// member.
template <class Result, class Call, class Part, class... Args>
constexpr Result call_or(Result fallback, Call call, Part& part, const Args&... args) {
  if constexpr (requires {
                  { call(part, args...) } -> std::convertible_to<Result>;
                })
    return call(part, args...);
  else
    return fallback;
}

/// Calls it, where the part has that member.
template <class Call, class Part, class... Args>
constexpr void call_if(Call call, Part& part, const Args&... args) {
  if constexpr (requires { call(part, args...); }) call(part, args...);
}

}  // namespace penstock::detail

/// A call of the member of that name, for `call_or` and `call_if`.
#define PENSTOCK_MEMBER(name) \
  [](auto& part, const auto&... args) -> decltype(part.name(args...)) { return part.name(args...); }
