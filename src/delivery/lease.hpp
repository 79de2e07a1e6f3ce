// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <penstock/device.hpp>

#include "pipeline/pipeline_data.hpp"
#include "ring/batch_layout.hpp"

namespace penstock::detail::runtime {

/// A batch in the caller's hands, on any device. When the lease ends, the batch goes back to its ring.
class Lease {
 public:
  virtual ~Lease() = default;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  /// Returns where the batch is.
  virtual Device device() const noexcept = 0;
  /// Notes that work on this stream uses the batch too, so that the batch's memory is not written before this work is
  /// done. For the host's stream, waits until the batch is ready. @throws Error(invalid_argument) if the stream belongs
  /// to a different device; Error(unsupported) if the stream is being captured; Error(forked) in a forked child, if the
  /// batch is on a device; Error(device).
  virtual void also_used_on(StreamRef stream) = 0;

  /// Where a ragged field is on a device. See PackedField.
  struct PackedLocation {
    std::byte *table, *data;
    std::int64_t elements;
  };
  /// Returns where a ragged field is. Returns none for other fields, and for a batch of the engine's ring, where each
  /// row has an address of its own.
  virtual std::optional<PackedLocation> packed(std::size_t) const noexcept { return std::nullopt; }

  const PipelineData& data() const noexcept { return *data_; }
  /// Returns the schema of a row.
  const Schema& schema() const noexcept { return data_->delivered(); }
  const BatchLayout& layout() const noexcept { return *layout_; }
  /// Returns the layout of the batch before the stages after `batch`. `info()` numbers the fields whose rows differ in
  /// size as this layout does.
  const BatchLayout& made_layout() const noexcept { return *made_layout_; }
  const BatchInfo& info() const noexcept { return *info_; }
  /// Returns the memory of the fields whose rows have fixed addresses.
  std::byte* fields() const noexcept { return fields_; }

 protected:
  /// Creates a lease that holds no batch.
  Lease(const PipelineData& data, const BatchLayout& layout, const BatchLayout& made_layout) noexcept
      : data_(&data), layout_(&layout), made_layout_(&made_layout) {}
  void hold(const BatchInfo& info, std::byte* fields) noexcept {
    info_ = &info;
    fields_ = fields;
  }
  bool holds() const noexcept { return info_ != nullptr; }

 private:
  const PipelineData* data_;
  const BatchLayout* layout_;
  const BatchLayout* made_layout_;
  const BatchInfo* info_ = nullptr;
  std::byte* fields_ = nullptr;
};

}  // namespace penstock::detail::runtime
