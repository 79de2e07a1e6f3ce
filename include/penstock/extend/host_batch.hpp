// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <penstock/detail/export.hpp>
#include <penstock/extend/rng.hpp>
#include <penstock/schema.hpp>
#include <penstock/state.hpp>
#include <penstock/tensor.hpp>

namespace penstock {

namespace detail::runtime {
struct MappedBatch;
}

/// A whole batch in the host's memory, as a function of `map_batches` gets it: the rows of this rank, before any device
/// has them. Owns nothing; valid during the call. One thread at a time.
///
/// Rows of padding, and masked rows, have mask 0. They hold padding, and the function should leave it there.
class PENSTOCK_API HostBatch {
 public:
  /// For code of the library only.
  explicit HostBatch(const detail::runtime::MappedBatch& batch) noexcept : batch_(&batch) {}

  /// N, the number of rows, including rows of padding.
  std::uint64_t rows() const noexcept;
  /// The fields that the batch has after the stage, each with the shape of one row.
  const Schema& schema() const noexcept;
  /// Returns a field of shape [N, ...], like `Batch::operator[]`. The function may write to it.
  /// @throws Error(schema_mismatch) if there is no such field; Error(unsupported) if the field is ragged.
  TensorView operator[](std::string_view field) const;
  /// Returns a field like `[]`, as a view with elements of type T and R dimensions, including N.
  /// @throws what `[]` throws; Error(schema_mismatch) if the field's type or number of dimensions differs.
  template <class T, std::size_t R>
  View<T, R> view(std::string_view field) const {
    const TensorView tensor = (*this)[field];
    if (tensor.dtype != dtype_of<T> || tensor.shape.rank() != R)
      detail::throw_field_mismatch(field, dtype_of<T>, R, tensor.dtype, tensor.shape);
    return View<T, R>(reinterpret_cast<T*>(tensor.data), tensor.shape);
  }
  /// Returns a ragged field, whose rows the function may write to. Rows keep their shapes.
  /// @throws Error(unsupported) if the field is not ragged; Error(schema_mismatch) like `[]`.
  RaggedRows ragged(std::string_view field) const;
  /// Returns the length of each row of a ragged or padded field, like `Batch::lengths`.
  /// @throws Error(unsupported) if the field is neither ragged nor padded; Error(schema_mismatch) like `[]`.
  std::span<const std::int64_t> lengths(std::string_view field) const;

  /// One value per row: 0 for padding and masked rows, 1 for all other rows.
  std::span<const std::uint8_t> mask() const noexcept;
  /// Returns whether a row is a sample: neither padding nor masked. REQUIRES: row < rows().
  bool valid(std::uint64_t row) const noexcept { return mask()[row] != 0; }
  /// Number of the epoch, counted from 0.
  std::uint64_t epoch() const noexcept;
  /// Number of this batch in its epoch, counted from 0.
  std::uint64_t number() const noexcept;
  /// Returns the place of a row's sample: its position in the order of all ranks.
  /// @throws Error(invalid_argument) if the row is padding, or there is no such row.
  Place place(std::uint64_t row) const;

  /// Returns random numbers for the batch. Their key is the seed, the stage and the place of the batch's first row. So
  /// they don't depend on threads or on a resume. Each call begins the same numbers.
  Rng rng() const;
  /// Returns random numbers for one row, whose key is the row's place. They differ from those of `rng()`.
  /// @throws Error(invalid_argument) like `place`.
  Rng rng(std::uint64_t row) const;
  /// Whether the loader is closing. If so, long work should return. The batch is then not delivered.
  bool stop_requested() const noexcept;

 private:
  const detail::runtime::MappedBatch* batch_;
};

}  // namespace penstock
