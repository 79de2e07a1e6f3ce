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

/// Joins several lists of classes. If a list has the names of all lists, returns the first such list unchanged.
/// Otherwise returns all names, sorted by their bytes. Lists without names have no effect.
ClassNames joined_classes(std::span<const ClassNames> lists);

/// Returns a hash of all names and their order.
std::uint64_t hash_of(const ClassNames& classes) noexcept;

/// Maps the number of a class in one list to the number of the class with the same name in another list.
class ClassMap {
 public:
  /// @throws Error(schema_mismatch) if `to` lacks a class of `from`, if a list has the name of such a class twice, or
  /// if `dtype` can't hold the class's number in `to`.
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
