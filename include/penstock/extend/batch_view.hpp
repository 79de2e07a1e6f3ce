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

/// The fields of a whole batch on a device, as a `DeviceStage` reads (`in`) and writes (`out`) them: each tensor is
/// [N, ...], contiguous, at a multiple of 256 bytes. Owns nothing: the view is valid during the call of
/// `DeviceStage::run`, its memory until the work that the call enqueued is done.
struct BatchView {
  const Schema* schema = nullptr;  ///< the fields of one row
  /// Tensors in the schema's order; a padded field's is [N, `to`, ...], whatever the schema says of its first
  /// dimension; a ragged one's has all rows, [elements].
  std::span<const TensorView> fields;
  std::uint64_t rows = 0;            ///< how many rows the batch has: N
  const std::byte* draws = nullptr;  ///< [N]: what `draw` gave for each row, on the device; zeros where its mask is 0
  /// Row offsets in the schema's order; for a ragged field i64 [N + 1], else no data.
  std::span<const TensorView> offsets = {};
  PackedTensor tables = {};  ///< only for code of the library
  MemoryUse decoded = {};    ///< only for code of the library

  /// @throws Error(schema_mismatch) that lists the fields there are.
  TensorView operator[](std::string_view field) const { return fields[schema->slot(field)]; }
  /// A ragged field: its rows one after the other, and where each begins. @throws Error(schema_mismatch) where there is
  /// no such field; Error(unsupported) for a field that is not ragged.
  PENSTOCK_API PackedTensor packed(std::string_view field) const;
};

}  // namespace penstock
