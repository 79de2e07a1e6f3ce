#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <penstock/schema.hpp>
#include <penstock/tensor.hpp>

namespace penstock {

/// The fields of a whole batch, on a device: each tensor is [N, ...], contiguous, at a multiple of 256 bytes. Owns
/// nothing: the view is valid while `run` is called, the memory after it until what that enqueued is done.
struct BatchView {
  const Schema* schema = nullptr;      ///< of one row
  std::span<const TensorView> fields;  ///< in the schema's order; of a padded field [N, `to`, ...], whatever the
                                       ///< schema says of its first dimension
  std::uint64_t rows = 0;              ///< N
  const std::byte* draws = nullptr;    ///< [N]: what `draw` gave for each row, on the device; zeros where its mask is 0

  /// @throws Error(schema_mismatch) that lists the fields there are.
  TensorView operator[](std::string_view field) const { return fields[schema->slot(field)]; }
};

}  // namespace penstock
