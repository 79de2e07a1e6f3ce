#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include <penstock/device.hpp>
#include <penstock/export.hpp>
#include <penstock/schema.hpp>
#include <penstock/tensor.hpp>

namespace penstock {

namespace detail {
class Lease;
}

/// A lease on one slot of the loader's ring: the batch's memory itself, not a copy. Move-only; the slot goes back when
/// the lease ends, in any order, also after the loader is gone. One thread at a time.
class PENSTOCK_API Batch {
 public:
  Batch() noexcept;
  explicit Batch(std::unique_ptr<detail::Lease> lease) noexcept;
  Batch(Batch&&) noexcept;
  Batch& operator=(Batch&&) noexcept;
  ~Batch();

  /// A field, [N, ...]: N rows of the shape in the pipeline's schema. 64-byte aligned, contiguous, yours to write to.
  /// @throws Error(schema_mismatch) that lists the fields there are; Error(closed) for an empty batch.
  TensorView operator[](std::string_view field) const;
  template <class T, std::size_t R>
  View<T, R> view(std::string_view field) const {
    return (*this)[field].template as<T, R>();
  }
  const Schema& schema() const;

  /// N, rows of padding included.
  std::uint64_t size() const noexcept;
  /// Source index of each row; ~0 for rows of padding. Of a replaced row, the index that replaced it.
  std::span<const std::uint64_t> indices() const noexcept;
  /// 1 for each real row, 0 for padding and masked rows.
  std::span<const std::uint8_t> mask() const noexcept;
  std::uint64_t epoch() const noexcept;
  /// Number of this batch in its epoch.
  std::uint64_t number() const noexcept;
  bool empty() const noexcept { return lease_ == nullptr; }
  /// Ends the lease now.
  void release() noexcept;

 private:
  std::unique_ptr<detail::Lease> lease_;
};

}  // namespace penstock
