// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <penstock/state.hpp>

#include "data/cursor.hpp"
#include "data/position_range.hpp"
#include "pipeline/pipeline_data.hpp"

namespace penstock::detail {

/// The positions from which a reordered pipeline makes samples, in order, one epoch after the other. With
/// `Rank::steps_per_epoch` the positions are endless: this rank's positions, one pass after the other.
class Positions {
 public:
  /// `ranges`: the positions that are used in each epoch, ascending; empty means all. `ranges` must outlive this object
  /// and its copies.
  explicit Positions(const PipelineData& data, std::span<const PositionRange> ranges = {}) noexcept
      : data_(&data),
        ranges_(ranges),
        endless_(data.fixed_steps() != 0),
        rank_(static_cast<std::uint64_t>(data.rank_value().rank)),
        stride_(static_cast<std::uint64_t>(data.rank_value().world)) {}

  /// Begins at this rank's first position that is not before the cursor.
  void begin(const Cursor& cursor) noexcept {
    epoch_ = cursor.epoch;
    at_ = cursor.position;
    if (endless_) at_ += (rank_ + stride_ - at_ % stride_) % stride_;
    range_ = 0;
    while (range_ < ranges_.size() && ranges_[range_].end <= at_) ++range_;
    if (range_ < ranges_.size()) at_ = std::max(at_, ranges_[range_].begin);
  }
  /// Returns the current epoch. REQUIRES: the positions are not endless.
  std::uint64_t epoch() const noexcept { return epoch_; }
  bool endless() const noexcept { return endless_; }
  /// Returns how many positions are left in the current epoch or pass; with ranges, in the current range.
  std::uint64_t left() const noexcept {
    if (data_->size == 0) return 0;
    if (!ranges_.empty()) return range_ < ranges_.size() ? ranges_[range_].end - at_ : 0;
    return endless_ ? (data_->size - at_ % data_->size + stride_ - 1) / stride_ : data_->size - at_;
  }

  // -- facts of the i-th position that is left --
  Place place(std::uint64_t i) const noexcept {
    const Place first = endless_ ? Place{at_ / data_->size, at_ % data_->size, 0, 0} : Place{epoch_, at_, 0, 0};
    return {first.epoch, first.position + i * stride_, 0, 0};
  }
  Cursor at(std::uint64_t i) const noexcept { return {endless_ ? 0 : epoch_, 0, at_ + i * stride_, 0}; }
  /// Returns whether the epoch ends after the position.
  bool last(std::uint64_t i) const noexcept {
    const std::uint64_t end = ranges_.empty() ? data_->size : ranges_.back().end;
    return !endless_ && at_ + i + 1 == end;
  }
  Cursor after(std::uint64_t i) const noexcept {
    Cursor cursor = last(i) ? Cursor{epoch_ + 1, 0, 0, 0} : at(i);
    if (!last(i)) ++cursor.position;
    return cursor;
  }
  /// Writes the source indices of the positions that are left, from the `first`-th on. @throws what orders throw.
  void fill(std::uint64_t first, std::span<std::uint64_t> out) const {
    const Place at = place(first);
    data_->sample_order().fill(at.epoch, at.position, out, stride_);
  }

  /// Skips the next `count` positions. REQUIRES: `count` <= `left()`.
  void skip(std::uint64_t count) noexcept {
    at_ += count * stride_;
    if (!ranges_.empty()) {
      if (at_ != ranges_[range_].end) return;
      if (++range_ < ranges_.size()) {
        at_ = ranges_[range_].begin;
        return;
      }
    } else if (endless_ || at_ != data_->size) {
      return;
    }
    ++epoch_;
    at_ = 0;
  }

 private:
  const PipelineData* data_;
  std::span<const PositionRange> ranges_;
  std::size_t range_ = 0;  // index of the current range
  bool endless_;
  std::uint64_t rank_, stride_;
  std::uint64_t epoch_ = 0, at_ = 0;
};

}  // namespace penstock::detail
