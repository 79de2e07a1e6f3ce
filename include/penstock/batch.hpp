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
/// when the lease ends. Leases may end in any order, also after the loader was destroyed. One thread at a time.
///
/// On a device, a lease may end while work that uses the batch is still in the device's streams, because the host can't
/// access that memory. The memory is written to again only after this work is done. Ending the lease enqueues an event
/// on each stream that uses the batch, and waits for nothing; the streams must still exist. Exception: the last batch
/// of a loader that was destroyed waits for the device before its memory is freed.
class PENSTOCK_API Batch {
 public:
  Batch() noexcept;
  /// For code of the library only.
  explicit Batch(std::unique_ptr<detail::runtime::Lease> lease) noexcept;
  Batch(const Batch&) = delete;  // a batch is one lease: take it by reference (Batch& batch), or std::move it
  Batch(Batch&&) noexcept;
  Batch& operator=(Batch&&) noexcept;
  ~Batch();

  /// Returns a field, [N, ...]: N rows of the shape in the pipeline's schema. For a padded field it is [N, `to`, ...],
  /// or the length of the longest row instead of `to`. The memory is contiguous and 64-byte aligned; the caller may
  /// write to it.
  /// @throws Error(schema_mismatch) if the batch does not have this field; the error lists the fields.
  /// Error(unsupported) if the field is ragged. Error(closed) if the batch is empty.
  TensorView operator[](std::string_view field) const;
  /// Returns a field like `[]`, with the elements' type and the number of dimensions, including N.
  /// @throws what `[]` throws; Error(schema_mismatch) if type or dimensions differ; the error says what the field is.
  template <class T, std::size_t R>
  View<T, R> view(std::string_view field) const {
    const TensorView tensor = (*this)[field];
    if (tensor.dtype != dtype_of<T> || tensor.shape.rank() != R)
      detail::throw_field_mismatch(field, dtype_of<T>, R, tensor.dtype, tensor.shape);
    return View<T, R>(reinterpret_cast<T*>(tensor.data), tensor.shape);
  }
  /// Returns a ragged field. On a device each row's `data` is a device address.
  /// @throws what `[]` throws, except that Error(unsupported) is for a field that is not ragged.
  RaggedRows ragged(std::string_view field) const;
  /// Returns a ragged field on a device, where its rows are packed.
  /// @throws what `ragged` throws; Error(unsupported) on the host, where each row has separate memory.
  PackedTensor packed(std::string_view field) const;
  /// Returns the length of each row of a ragged or padded field: its first dimension, without padding. 0 for rows of
  /// padding and masked rows.
  /// @throws what `[]` throws, except that Error(unsupported) is for a field that is neither ragged nor padded.
  std::span<const std::int64_t> lengths(std::string_view field) const;
  /// The fields, in the pipeline's order. Shapes are those of one row. @throws Error(closed) if the batch is empty.
  const Schema& schema() const;

  /// N, the number of rows, including rows of padding. 0 if `for_rank` leaves no row of an incomplete batch to this
  /// rank.
  std::uint64_t size() const noexcept;
  /// Number of rows of this batch on all ranks of `for_rank` together, without padding. Divide a sum over all ranks by
  /// it to get the mean. Masked bad samples count, because a rank does not know of the other ranks' bad samples.
  std::uint64_t global_size() const noexcept;
  /// Source index of each row; ~0 for rows of padding. For a replaced row, the index of the record that replaced it.
  std::span<const std::uint64_t> indices() const noexcept;
  /// 1 for each real row, 0 for padding and masked rows.
  std::span<const std::uint8_t> mask() const noexcept;
  /// Number of the epoch, from 0.
  std::uint64_t epoch() const noexcept;
  /// Number of this batch in its epoch.
  std::uint64_t number() const noexcept;
  /// True if the batch was moved from, or its lease has ended.
  bool empty() const noexcept { return lease_ == nullptr; }
  /// Where the fields are. `indices`, `mask` and `lengths` are always on the host. @throws Error(closed) if the batch
  /// is empty.
  Device device() const;
  /// Adds a stream that uses the batch, in addition to the stream of the `next` that returned it. Work that is put on
  /// the added stream from now on sees the batch, and the end of the lease waits for that work too. For the host's own
  /// stream: returns when the batch is ready, and the end of the lease counts as the end of the host's use.
  /// @throws Error(invalid_argument) if the stream belongs to another device; Error(unsupported) if it is being
  /// captured; Error(device) if a call of the device fails; Error(closed) if the batch is empty.
  void also_used_on(StreamRef stream);
  /// Ends the lease now.
  void release() noexcept;

 private:
  std::unique_ptr<detail::runtime::Lease> lease_;
};

}  // namespace penstock
