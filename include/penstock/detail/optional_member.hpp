// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <type_traits>

#include <penstock/detail/mistakes.hpp>

namespace penstock::detail {

/// A member function that a user's type may have. `call` calls the function. `explain` fails to compile for a public
/// function of that name that can't be called.
template <class Call, class Explain>
struct OptionalMember {
  Call call;
  Explain explain;
};
template <class Call, class Explain>
OptionalMember(Call, Explain) -> OptionalMember<Call, Explain>;

/// Fails to compile if `Part` has a public function of the member's name. Overloaded functions and templates can't be
/// detected, and are ignored.
template <class Part, class Member>
constexpr void require_absent(const Member& member) {
  if constexpr (requires(std::remove_const_t<Part> * part) { member.explain(part); })
    member.explain(static_cast<std::remove_const_t<Part>*>(nullptr));
}

/// Calls `member` of `part` and returns the result, converted to `Result`. If `member` can't be called, returns
/// `fallback`, unless `require_absent` fails to compile.
template <class Result, class Member, class Part, class... Args>
constexpr Result call_or(Result fallback, Member member, Part& part, const Args&... args) {
  if constexpr (requires {
                  { member.call(part, args...) } -> std::convertible_to<Result>;
                }) {
    return member.call(part, args...);
  } else {
    require_absent<Part>(member);
    return fallback;
  }
}

/// Calls `member` of `part`. If `member` can't be called, does nothing, unless `require_absent` fails to compile.
template <class Member, class Part, class... Args>
constexpr void call_if(Member member, Part& part, const Args&... args) {
  if constexpr (requires { member.call(part, args...); })
    member.call(part, args...);
  else
    require_absent<Part>(member);
}

}  // namespace penstock::detail

/// Makes the OptionalMember of the function `name`, for `call_or` and `call_if`. `signature` is the member's signature
/// in the documentation.
#define PENSTOCK_MEMBER(name, signature)                                                                              \
  ::penstock::detail::OptionalMember {                                                                                \
    [](auto& part, const auto&... args) -> decltype(part.name(args...)) { return part.name(args...); },               \
        []<class Part>(Part*) -> void requires std::is_member_function_pointer_v<decltype(&Part::name)> {             \
      static_assert(::penstock::detail::mistaken<Part>,                                                               \
                    "penstock: " #name "() would never be called, as it has another signature than `" signature "`"); \
    }                                                                                                                 \
  }
