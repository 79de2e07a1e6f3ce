// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include <penstock/schema.hpp>

#include "base/integer_at.hpp"
#include "reorder/waiting_rows.hpp"

namespace penstock::detail::runtime {

/// The length by which `bucket` puts samples together: the first dimension of a field, or the value of a scalar field.
class SampleLength {
 public:
  SampleLength(const Schema& schema, const std::string& field)
      : field_(schema.slot(field)), dtype_(schema[field_].dtype), shape_(schema[field_].shape) {}

  /// Returns a row's length. Values above the largest i64 become the largest i64.
  std::int64_t of(const WaitingRows& rows, const WaitingRow& row) const noexcept {
    const RowField& how = rows.layout()[field_];
    if (shape_.rank() != 0) return how.kind == RowField::Kind::dense ? shape_[0] : row.varying[how.varying].shape[0];
    const std::int64_t length = integer_at(dtype_, rows.address(row, field_));
    return dtype_ == DType::u64 && length < 0 ? std::numeric_limits<std::int64_t>::max() : length;
  }

 private:
  std::size_t field_;
  DType dtype_;
  Shape shape_;
};

}  // namespace penstock::detail::runtime
