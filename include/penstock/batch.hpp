// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include <penstock/detail/export.hpp>
#include <penstock/device.hpp>
#include <penstock/schema.hpp>
#include <penstock/tensor.hpp>

namespace penstock {

namespace detail::runtime {
class Lease;
}

/// A lease on one buffer of the loader's ring: the batch's memory itself, not a copy. Move-only. The buffer goes back
/// to the ring when the lease ends. Leases may end in any order, also after the loader was destroyed. One thread at a
/// time.
///
/// The lease of a batch on a device may end while streams still hold work that uses the batch. The loader writes to the
/// memory again only after this work is done. Ending the lease enqueues an event on each stream that uses the batch,
/// and waits for nothing; the streams must still exist. Exception: if the loader was destroyed, the end of its last
/// lease waits for the device, and then frees the memory.
class PENSTOCK_API Batch {
 public:
  Batch() noexcept;
  /// For code of the library only.
  explicit Batch(std::unique_ptr<detail::runtime::Lease> lease) noexcept;
  Batch(const Batch&) = delete;  // a batch is one lease: take it by reference (Batch& batch), or std::move it
  Batch(Batch&&) noexcept;
  Batch& operator=(Batch&&) noexcept;
  ~Batch();

  /// Returns a field of shape [N, ...]: N rows of the shape in the pipeline's schema. A padded field has the shape [N,
  /// length, ...]. The length is `Collate::to`; if that is 0, it is the length of the batch's longest row. The memory
  /// is contiguous and 64-byte aligned. The caller may write to it.
  /// @throws Error(schema_mismatch) if the batch does not have this field; the error lists the fields.
  /// Error(unsupported) if the field is ragged. Error(closed) if the batch is empty.
  TensorView operator[](std::string_view field) const;
  /// Returns a field like `[]`, as a view with elements of type T and R dimensions, including N.
  /// @throws what `[]` throws; Error(schema_mismatch) if the field's type or number of dimensions differs; the error
  /// names both.
  template <class T, std::size_t R>
  View<T, R> view(std::string_view field) const {
    const TensorView tensor = (*this)[field];
    if (tensor.dtype != dtype_of<T> || tensor.shape.rank() != R)
      detail::throw_field_mismatch(field, dtype_of<T>, R, tensor.dtype, tensor.shape);
    return View<T, R>(reinterpret_cast<T*>(tensor.data), tensor.shape);
  }
  /// Returns a ragged field. On a device each row's `data` is a device address.
  /// @throws Error(unsupported) if the field is not ragged; Error(schema_mismatch) and Error(closed) like `[]`.
  RaggedRows ragged(std::string_view field) const;
  /// Returns a ragged field of a batch on a device. On a device, a ragged field's rows follow each other without gaps.
  /// @throws what `ragged` throws; Error(unsupported) if the batch is on the host, where each row has separate memory.
  PackedTensor packed(std::string_view field) const;
  /// Returns the length of each row of a ragged or padded field: its first dimension, without padding. Rows of padding
  /// and masked rows have length 0.
  /// @throws Error(unsupported) if the field is neither ragged nor padded; Error(schema_mismatch) and Error(closed)
  /// like `[]`.
  std::span<const std::int64_t> lengths(std::string_view field) const;
  /// The fields, in the pipeline's order, each with the shape of one row. @throws Error(closed) if the batch is empty.
  const Schema& schema() const;

  /// N, the number of rows, including rows of padding. 0 if `empty()`, or if `for_rank` leaves no row of an incomplete
  /// batch to this rank.
  std::uint64_t size() const noexcept;
  /// Number of rows of this batch on all ranks of `for_rank` together, without padding. To get the mean over all ranks,
  /// divide the sum over all ranks by this number. Masked bad samples count, because a rank does not know of the other
  /// ranks' bad samples.
  std::uint64_t global_size() const noexcept;
  /// Source index of each row; ~0 for rows of padding. A row that replaces a bad sample has the index of the
  /// record that it was made from.
  std::span<const std::uint64_t> indices() const noexcept;
  /// One value per row: 0 for padding and masked rows, 1 for all other rows.
  std::span<const std::uint8_t> mask() const noexcept;
  /// Number of the epoch, counted from 0.
  std::uint64_t epoch() const noexcept;
  /// Number of this batch in its epoch, counted from 0.
  std::uint64_t number() const noexcept;
  /// True if the batch was moved from, or its lease has ended.
  bool empty() const noexcept { return lease_ == nullptr; }
  /// Where the fields are. The host can't access fields on a device. `indices`, `mask` and `lengths` are always on the
  /// host. @throws Error(closed) if the batch is empty.
  Device device() const;
  /// Adds a stream that uses the batch, in addition to the stream that was passed to `next`. Work that is put on the
  /// added stream after this call sees the batch. The loader writes to the batch's memory again only after that work
  /// too is done. If `stream` is the host, waits until the batch is ready. The host may then use the batch until the
  /// lease ends.
  /// @throws Error(invalid_argument) if the stream belongs to another device; Error(unsupported) if the stream is being
  /// captured; Error(device) if a call of the device fails; Error(closed) if the batch is empty.
  void also_used_on(StreamRef stream);
  /// Ends the lease now.
  void release() noexcept;

 private:
  std::unique_ptr<detail::runtime::Lease> lease_;
};

}  // namespace penstock
