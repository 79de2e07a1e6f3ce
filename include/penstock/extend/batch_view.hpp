// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <penstock/detail/export.hpp>
#include <penstock/device.hpp>
#include <penstock/schema.hpp>
#include <penstock/tensor.hpp>

namespace penstock {

/// The fields of a whole batch on a device, which a `DeviceStage` reads (`in`) and writes (`out`). Each tensor is [N,
/// ...], contiguous, at an address that is a multiple of 256 bytes. Owns nothing. The view is valid during the call of
/// `DeviceStage::run`. The tensors' memory is valid until the work that the call enqueued is done.
struct BatchView {
  const Schema* schema = nullptr;  ///< the fields of one row
  /// Tensors in the schema's order. A padded field's tensor is [N, `to`, ...], even if the schema has a different first
  /// dimension. A ragged field's tensor, [elements], has the elements of all rows.
  std::span<const TensorView> fields;
  std::uint64_t rows = 0;  ///< N, the number of rows
  const std::byte* draws =
      nullptr;  ///< [N]: the result of `draw` for each row, on the device; zeros if the row's mask is 0
  /// Row offsets, in the schema's order: i64 [N + 1] for a ragged field; a tensor without data for any other field.
  std::span<const TensorView> offsets = {};
  PackedTensor tables = {};  ///< only for code of the library
  MemoryUse decoded = {};    ///< only for code of the library

  /// Returns a field's tensor.
  /// @throws Error(schema_mismatch) that lists the fields, if there is no such field.
  TensorView operator[](std::string_view field) const { return fields[schema->slot(field)]; }
  /// Returns a ragged field: its rows one after the other, and where each begins.
  /// @throws Error(schema_mismatch) if there is no such field; Error(unsupported) if the field is not ragged.
  PENSTOCK_API PackedTensor packed(std::string_view field) const;
};

}  // namespace penstock
