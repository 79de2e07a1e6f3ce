// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <penstock/class_names.hpp>
#include <penstock/dtype.hpp>
#include <penstock/tensor.hpp>

namespace penstock::detail {

/// Joins several lists of classes. Returns the first list that has the names of all others, unchanged. If there is
/// none, returns all names in the order of their bytes. Lists without names are left out.
ClassNames joined_classes(std::span<const ClassNames> lists);

/// Returns a hash of all names and their order.
std::uint64_t hash_of(const ClassNames& classes) noexcept;

/// Maps numbers of one list of classes to numbers of another list, by name.
class ClassMap {
 public:
  /// @throws Error(schema_mismatch) if `to` lacks a class of `from`, if the name of such a class stands for several
  /// classes, or if the dtype can't hold a number.
  ClassMap(const ClassNames& from, const ClassNames& to, DType dtype);
  /// Changes the numbers in place. @throws Error(unsupported) if a number stands for no class.
  void apply(const TensorView& numbers) const;
  /// Returns the number that `number` becomes. @throws like `apply`.
  std::int64_t operator()(std::int64_t number) const;
  /// Returns a hash of the whole mapping.
  std::uint64_t hash() const noexcept;

 private:
  std::vector<std::int64_t> numbers_;
};

}  // namespace penstock::detail
