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

/// The classes of several lists as one list: the first list that has the names of all others, as it is; where there is
/// none, all names in the order of their bytes. Lists without names are left out.
ClassNames joined_classes(std::span<const ClassNames> lists);

/// Hash of all names and their order.
std::uint64_t hash_of(const ClassNames& classes) noexcept;

/// Numbers of one list of classes as those of another one, by name.
class ClassMap {
 public:
  /// @throws Error(schema_mismatch) where `to` lacks a class of `from`, or the name of one stands for several classes,
  /// or a number is beyond what the dtype holds.
  ClassMap(const ClassNames& from, const ClassNames& to, DType dtype);
  /// Changes the numbers where they are. @throws Error(unsupported) for one that stands for no class.
  void apply(const TensorView& numbers) const;
  /// @throws as `apply`.
  std::int64_t operator()(std::int64_t number) const;
  /// Hash of the number that each becomes.
  std::uint64_t hash() const noexcept;

 private:
  std::vector<std::int64_t> numbers_;
};

}  // namespace penstock::detail
