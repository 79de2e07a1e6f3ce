// SPDX-License-Identifier: Apache-2.0
#include "pipeline/batch_positions.hpp"

#include <algorithm>

#include "order/sample_order.hpp"
#include "pipeline/rank_rows.hpp"

namespace penstock::detail {

std::uint64_t BatchPositions::global_valid(std::uint64_t number) const noexcept {
  const std::uint64_t rows = data_->batch->rows;
  return data_->fixed_steps() != 0 ? rows : std::min(rows, data_->size - number * rows);
}

// The ranks' parts follow each other in the batch. The padding is at the batch's end, so only the last ranks can get
// padding.
RankRows BatchPositions::rank_rows(const Cursor& at) const noexcept {
  const std::uint64_t valid = global_valid(at.number);
  const bool pads = data_->batch->options.tail == Tail::pad;
  const RowRange part = balanced_share(pads ? data_->batch->rows : valid, data_->rank_value());
  return {at.position + part.first, std::min(part.count, valid - std::min(valid, part.first)), part.count};
}

Cursor BatchPositions::next(const Cursor& at) const noexcept {
  const std::uint64_t after = at.position + data_->batch->rows;
  if (at.number + 1 == data_->steps()) return {at.epoch + 1, 0, data_->fixed_steps() != 0 ? after : 0, 0};
  return {at.epoch, at.number + 1, after, 0};
}

void BatchPositions::fill(std::uint64_t epoch, std::uint64_t first, std::span<std::uint64_t> out) const {
  const SampleOrder order = data_->sample_order();
  while (!out.empty()) {
    const Place at = place(epoch, first);
    const std::size_t some = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), data_->size - at.position));
    order.fill(at.epoch, at.position, out.first(some));
    out = out.subspan(some);
    first += some;
  }
}

}  // namespace penstock::detail
