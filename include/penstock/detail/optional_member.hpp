// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <type_traits>

#include <penstock/detail/mistakes.hpp>

namespace penstock::detail {

/// A member that a user's part may have: code that calls it, and the compiler's error for a public function of that
/// name that can't be called.
template <class Call, class Explain>
struct OptionalMember {
  Call call;
  Explain explain;
};
template <class Call, class Explain>
OptionalMember(Call, Explain) -> OptionalMember<Call, Explain>;

/// Compiles if the part has no public function of that name. An overloaded function or a template can't be detected,
/// and is ignored.
template <class Part, class Member>
constexpr void require_absent(const Member& member) {
  if constexpr (requires(std::remove_const_t<Part> * part) { member.explain(part); })
    member.explain(static_cast<std::remove_const_t<Part>*>(nullptr));
}

/// Returns the result of `member` of `part`, if that compiles and converts to `Result`. Returns `fallback` if the part
/// has no such member.
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

/// Calls the member, if the part has it.
template <class Member, class Part, class... Args>
constexpr void call_if(Member member, Part& part, const Args&... args) {
  if constexpr (requires { member.call(part, args...); })
    member.call(part, args...);
  else
    require_absent<Part>(member);
}

}  // namespace penstock::detail

/// The member of that name, for `call_or` and `call_if`. `signature` is its signature in the documentation.
#define PENSTOCK_MEMBER(name, signature)                                                                              \
  ::penstock::detail::OptionalMember {                                                                                \
    [](auto& part, const auto&... args) -> decltype(part.name(args...)) { return part.name(args...); },               \
        []<class Part>(Part*) -> void requires std::is_member_function_pointer_v<decltype(&Part::name)> {             \
      static_assert(::penstock::detail::mistaken<Part>,                                                               \
                    "penstock: " #name "() would never be called, as it has another signature than `" signature "`"); \
    }                                                                                                                 \
  }
