// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <penstock/detail/export.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/shape.hpp>

namespace penstock::detail {

/// Where a callable puts a value whose shape it decides. Valid for one call.
class PENSTOCK_API FieldOutput {
 public:
  FieldOutput(Cells& cells, std::size_t slot) : cells_(&cells), slot_(slot) {}
  /// @throws Error(invalid_argument) on the second call; Error(schema_mismatch) if the shape was not declared.
  std::byte* emplace(const Shape& shape);
  bool made() const noexcept { return made_; }

 private:
  Cells* cells_;
  std::size_t slot_;
  bool made_ = false;
};

}  // namespace penstock::detail
