// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <penstock/detail/export.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/shape.hpp>

namespace penstock::detail {

/// Gives a callable memory for a value whose shape the callable decides. Valid for one call of the callable.
class PENSTOCK_API FieldOutput {
 public:
  FieldOutput(Cells& cells, std::size_t slot) : cells_(&cells), slot_(slot) {}
  /// Returns memory for a value of this shape.
  /// @throws Error(invalid_argument) on the second call, or if a dimension of `shape` is `dynamic`;
  /// Error(schema_mismatch) if the field's schema does not admit `shape`.
  std::byte* emplace(const Shape& shape);
  bool made() const noexcept { return made_; }

 private:
  Cells* cells_;
  std::size_t slot_;
  bool made_ = false;
};

}  // namespace penstock::detail
