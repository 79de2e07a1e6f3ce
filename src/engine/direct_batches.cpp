// SPDX-License-Identifier: Apache-2.0
#include "engine/direct_batches.hpp"

#include <algorithm>
#include <cstddef>

namespace penstock::detail::runtime {

void DirectBatches::prepare(BatchBuffer& buffer) const {
  buffer.arena.reset();
  const RankRows part = positions_.rank_rows(cursor_);
  buffer.epoch = cursor_.epoch;
  buffer.number = cursor_.number;
  buffer.first = part.first;
  buffer.valid = buffer.samples = part.valid;
  buffer.rows = part.rows;
  buffer.next = positions_.next(cursor_);
  positions_.fill(buffer.epoch, buffer.first, {buffer.indices.data(), buffer.valid});
  std::fill(buffer.indices.begin() + static_cast<std::ptrdiff_t>(buffer.valid), buffer.indices.end(),
            ~std::uint64_t{0});
  std::fill_n(buffer.mask.begin(), buffer.valid, std::uint8_t{1});
  std::fill(buffer.mask.begin() + static_cast<std::ptrdiff_t>(buffer.valid), buffer.mask.end(), std::uint8_t{0});
}

BlockSchedule::Feed DirectBatches::feed(Cursor at) const {
  return [this, at](std::vector<std::uint64_t>& out) mutable {
    // If the rank has no rows in a batch, the feed tries the next one. The rank may have no rows in a whole epoch. So
    // the feed tries at most as many batches as an epoch has.
    for (std::uint64_t tries = steps_; tries != 0 && out.empty() && (setup_.epochs == 0 || at.epoch < setup_.epochs);
         --tries) {
      const RankRows part = positions_.rank_rows(at);
      out.resize(static_cast<std::size_t>(part.valid));
      positions_.fill(at.epoch, part.first, out);
      at = positions_.next(at);
    }
  };
}

}  // namespace penstock::detail::runtime
