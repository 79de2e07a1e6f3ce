// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace penstock::detail {

/// A struct of counters: each member is a std::uint64_t, or an array or a struct of such counters. The functions below
/// treat the struct as one array of counters, so they can't miss a member.
template <class T>
concept Counts = std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T> &&
                 alignof(T) == alignof(std::uint64_t);

template <Counts T>
void combine_counts(T& to, const T& with, auto combine) noexcept {
  using Values = std::array<std::uint64_t, sizeof(T) / sizeof(std::uint64_t)>;
  auto values = std::bit_cast<Values>(to);
  const auto others = std::bit_cast<Values>(with);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = combine(values[i], others[i]);
  to = std::bit_cast<T>(values);
}

template <Counts T>
void add_counts(T& to, const T& more) noexcept {
  combine_counts(to, more, [](std::uint64_t a, std::uint64_t b) { return a + b; });
}
template <Counts T>
void subtract_counts(T& from, const T& before) noexcept {
  combine_counts(from, before, [](std::uint64_t a, std::uint64_t b) { return a - b; });
}

}  // namespace penstock::detail
