// SPDX-License-Identifier: Apache-2.0
#include "reorder/batch_filler.hpp"

#include <utility>

#include "pipeline/rank_rows.hpp"
#include "ring/policy.hpp"

namespace penstock::detail::runtime {

BatchFiller::BatchFiller(const PipelineData& data, const BatchBounds& bounds, BatchOutlet& outlet, std::uint64_t epochs)
    : bounds_(bounds),
      outlet_(outlet),
      rows_(max_rows_of_rank(data)),
      steps_(data.fixed_steps()),
      epochs_(epochs),
      tail_(data.batch->options.tail),
      most_listed_(max_listed),
      fill_(bounds.empty()) {}

void BatchFiller::reset(const Cursor& cursor) noexcept {
  batch_ = nullptr;
  at_ = cursor;
  carried_ = {};
  finished_ = false;
}

bool BatchFiller::open() noexcept {
  if (steps_ != 0 && at_.number + 1 == steps_ && !outlet_.has_room_for_end()) return false;
  BatchBuffer* const buffer = outlet_.open_batch();
  if (buffer == nullptr) return false;
  batch_ = buffer;
  BatchBounds::clear(fill_);
  buffer->epoch = at_.epoch;
  buffer->number = at_.number;
  buffer->first = 0;
  buffer->valid = 0;
  carried_.hand_over(*buffer);
  // The batch has one part more than rows, because closing the batch is a part too. So the batch can't become ready
  // before it is closed.
  buffer->left.store(static_cast<std::uint32_t>(rows_ + 1), std::memory_order_relaxed);
  return true;
}

std::uint64_t BatchFiller::put(const FilledRow& from) noexcept {
  const std::uint64_t row = batch_->valid++;
  batch_->indices[row] = from.index;
  batch_->mask[row] = from.masked ? 0 : 1;
  if (!batch_->places.empty()) batch_->places[row] = from.place;
  if (!batch_->draw_places.empty()) {
    batch_->draw_places[row] = from.draw_place;
    batch_->draw_places[row].attempt = 0;  // a stand-in has the place of the sample that it replaces
  }
  return row;
}

void BatchFiller::advance(const Cursor& next) noexcept {
  if (batch_ != nullptr) batch_->next = next;
}

void BatchFiller::close() noexcept {
  BatchBuffer* const buffer = std::exchange(batch_, nullptr);
  buffer->rows = tail_ == Tail::pad ? rows_ : buffer->valid;
  for (std::uint64_t row = buffer->valid; row < buffer->rows; ++row) {
    buffer->indices[row] = ~std::uint64_t{0};
    buffer->mask[row] = 0;
  }
  ++at_.number;
  if (steps_ == 0) {
    buffer->next.number = buffer->next.epoch == at_.epoch ? at_.number : 0;
    return outlet_.close_batch(*buffer);
  }
  const std::uint64_t epoch = at_.epoch;
  const bool ends = at_.number == steps_;
  if (ends) at_ = {epoch + 1, 0, 0, 0};
  buffer->next.epoch = at_.epoch;
  buffer->next.number = at_.number;
  outlet_.close_batch(*buffer);
  if (!ends) return;
  finished_ = epochs_ != 0 && at_.epoch >= epochs_;
  carried_.epoch = epoch;
  outlet_.end_epoch(std::exchange(carried_, {}));
}

void BatchFiller::end_epoch(const Cursor& next) noexcept {
  if (batch_ != nullptr && tail_ == Tail::drop) {
    BatchBuffer* const buffer = std::exchange(batch_, nullptr);
    buffer->hand_over(carried_);
    outlet_.discard_batch(*buffer);
  } else if (batch_ != nullptr) {
    batch_->next = next;
    close();
  }
  carried_.epoch = at_.epoch;
  outlet_.end_epoch(std::exchange(carried_, {}));
  at_ = {at_.epoch + 1, 0, 0, 0};
}

void BatchFiller::note_bad(Error error, bool fatal, bool must) noexcept {
  SampleCounts& to = tally();
  if (to.bad.size() >= most_listed_ && !must) {
    ++to.unlisted;
    return;
  }
  try {
    to.bad.push_back({to.samples, std::move(error), fatal});
  } catch (...) {
    to.unreported = true;
  }
}

}  // namespace penstock::detail::runtime
