#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <penstock/device.hpp>

#include "pipeline/pipeline_data.hpp"
#include "ring/batch_layout.hpp"

namespace penstock::detail::runtime {

/// A batch in the caller's hands, wherever it is: ended, it goes back to where it came from.
class Lease {
 public:
  virtual ~Lease() = default;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  /// Where it is.
  virtual Device device() const noexcept = 0;
  /// Work on this stream uses the batch too: its memory is not written to before that is done. The host's: waits until
  /// the batch is there.
  /// @throws Error(invalid_argument) for a stream of another device; Error(device).
  virtual void also_used_on(StreamRef stream) = 0;

  /// A ragged field on a device.
  struct Packed {
    std::byte *table, *data;
    std::int64_t elements;
  };
  /// None on the host, where each row is at an address of its own.
  virtual std::optional<Packed> packed(std::size_t) const noexcept { return std::nullopt; }

  const PipelineData& data() const noexcept { return *data_; }
  /// The schema of a row.
  const Schema& schema() const noexcept { return data_->delivered(); }
  const BatchLayout& layout() const noexcept { return *layout_; }
  /// What `info` numbers rows of any size by: the layout of the pipeline's own batch.
  const BatchLayout& made_layout() const noexcept { return *made_layout_; }
  const BatchInfo& info() const noexcept { return *info_; }
  /// The fields at fixed addresses.
  std::byte* fields() const noexcept { return fields_; }

 protected:
  /// Holds nothing yet.
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
