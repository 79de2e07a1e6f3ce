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

/// A lease on one buffer of the loader's ring: the batch's memory itself, not a copy. Move-only; the buffer goes back
/// when the lease ends, in any order, also after the loader is gone. One thread at a time.
///
/// On a device, whose memory the host can't touch, the lease may end while work that uses the batch is still in its
/// streams: the memory is written to again after what was put on them before. Ending it enqueues an event on each
/// stream, which must still be there, and waits for nothing; but the last batch of a loader that is gone waits for the
/// device before its memory goes.
class PENSTOCK_API Batch {
 public:
  Batch() noexcept;
  /// For code of the library.
  explicit Batch(std::unique_ptr<detail::runtime::Lease> lease) noexcept;
  Batch(const Batch&) = delete;  // a batch is one lease: take it by reference (Batch& batch), or std::move it
  Batch(Batch&&) noexcept;
  Batch& operator=(Batch&&) noexcept;
  ~Batch();

  /// A field, [N, ...]: N rows of the shape in the pipeline's schema; of a padded field [N, `to` or the longest, ...].
  /// 64-byte aligned, contiguous, yours to write to. @throws Error(schema_mismatch) that lists the fields there are;
  /// Error(unsupported) for a ragged one; Error(closed) for an empty batch.
  TensorView operator[](std::string_view field) const;
  /// A field as `[]` gives it, with the elements' type and the number of dimensions, N's included. @throws as that;
  /// Error(schema_mismatch) that says what the field is, where it is something else.
  template <class T, std::size_t R>
  View<T, R> view(std::string_view field) const {
    const TensorView tensor = (*this)[field];
    if (tensor.dtype != dtype_of<T> || tensor.shape.rank() != R)
      detail::throw_field_mismatch(field, dtype_of<T>, R, tensor.dtype, tensor.shape);
    return View<T, R>(reinterpret_cast<T*>(tensor.data), tensor.shape);
  }
  /// A ragged field; on a device each row's `data` is the device's. @throws Error(unsupported) for a field that is not
  /// ragged; otherwise as `[]`.
  RaggedRows ragged(std::string_view field) const;
  /// A ragged field on a device, where its rows lie packed. @throws Error(unsupported) on the host, where each row has
  /// memory of its own; otherwise as `ragged`.
  PackedTensor packed(std::string_view field) const;
  /// How long the rows of a ragged or padded field are in their first dimension, without padding; 0 for rows of padding
  /// and masked ones. @throws Error(unsupported) for a field that is neither; otherwise as `[]`.
  std::span<const std::int64_t> lengths(std::string_view field) const;
  /// The fields, in the pipeline's order; shapes are those of one row. @throws Error(closed) for an empty batch.
  const Schema& schema() const;

  /// N, rows of padding included. 0 where `for_rank` has no row of an incomplete batch.
  std::uint64_t size() const noexcept;
  /// Rows of this batch on all ranks of `for_rank` together, without padding: what a sum over all ranks is divided by
  /// for its mean. Bad samples that were masked are counted; a rank does not know of those of the others.
  std::uint64_t global_size() const noexcept;
  /// Source index of each row; ~0 for rows of padding. Of a replaced row, the index that replaced it.
  std::span<const std::uint64_t> indices() const noexcept;
  /// 1 for each real row, 0 for padding and masked rows.
  std::span<const std::uint8_t> mask() const noexcept;
  /// Number of the epoch, from 0.
  std::uint64_t epoch() const noexcept;
  /// Number of this batch in its epoch.
  std::uint64_t number() const noexcept;
  /// True of one that was moved out of, or given back.
  bool empty() const noexcept { return lease_ == nullptr; }
  /// Where its fields are; `indices`, `mask` and `lengths` are the host's always. @throws Error(closed) when empty.
  Device device() const;
  /// Another stream that uses the batch, beside the one that it was asked for on: what is put on it from now on sees
  /// the batch, and the lease's end waits for it too. The host's own: returns when the batch is there, and the lease's
  /// end is taken for the end of the host's use. @throws Error(invalid_argument) for a stream of another device;
  /// Error(unsupported) for one that is being captured; Error(device); Error(closed).
  void also_used_on(StreamRef stream);
  /// Ends the lease now.
  void release() noexcept;

 private:
  std::unique_ptr<detail::runtime::Lease> lease_;
};

}  // namespace penstock
