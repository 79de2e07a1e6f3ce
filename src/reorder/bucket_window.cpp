// SPDX-License-Identifier: Apache-2.0
#include "reorder/bucket_window.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <penstock/extend/rng.hpp>

namespace penstock::detail::runtime {

namespace {
constexpr std::uint64_t key = 0x6275636b6574;  // "bucket" in ASCII; stages' keys are hashes, and unlikely to be this
}

BucketWindow::BucketWindow(std::uint64_t size, Tail tail, const BatchBounds& bounds)
    : bounds_(bounds), tail_(tail), kept_(size), fill_(bounds.empty()) {
  order_.reserve(size);
  ends_.reserve(size);
  sequence_.reserve(size);
}

void BucketWindow::reset(const Cursor& begin, std::uint64_t done) noexcept {
  count_ = 0;
  begin_ = begin;
  done_ = done;
  cut_ = false;
}

void BucketWindow::begin_next() noexcept {
  reset(last_ ? Cursor{next_.epoch, 0, 0, 0, 0, next_.failed_in_row} : next_, 0);
}

void BucketWindow::cut(std::uint64_t seed, const Cursor& next, bool last) noexcept {
  next_ = next;
  last_ = last;
  cut_ = true;
  batch_ = 0;
  order_.resize(count_);
  std::iota(order_.begin(), order_.end(), 0u);
  ends_.clear();
  if (bounds_.by_size())
    cut_by_size();
  else
    cut_by_rows(static_cast<std::size_t>(bounds_.rows()));
  sequence_.resize(ends_.size());
  std::iota(sequence_.begin(), sequence_.end(), 0u);
  // An incomplete batch is not shuffled, so that it stays the epoch's last batch.
  std::size_t whole = sequence_.size();
  if (!bounds_.by_size() && count_ % bounds_.rows() != 0 && tail_ != Tail::drop) --whole;
  Rng rng(seed, key, {begin_.epoch, begin_.position, begin_.child, 0});
  for (std::size_t i = whole; i > 1; --i) std::swap(sequence_[i - 1], sequence_[rng.below(i)]);
}

void BucketWindow::sort(std::size_t count) noexcept {
  std::sort(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(count),
            [this](std::uint32_t a, std::uint32_t b) {
              return kept_[a].length != kept_[b].length ? kept_[a].length < kept_[b].length : a < b;
            });
}

// The samples of an incomplete batch are the last samples of the order, not the longest samples.
void BucketWindow::cut_by_rows(std::size_t rows) noexcept {
  const std::size_t whole = count_ - count_ % rows;
  sort(whole);
  for (std::size_t end = rows; end <= whole; end += rows) ends_.push_back(static_cast<std::uint32_t>(end));
  if (whole != count_ && tail_ != Tail::drop) ends_.push_back(static_cast<std::uint32_t>(count_));
}

void BucketWindow::cut_by_size() noexcept {
  sort(count_);
  BatchBounds::clear(fill_);
  for (std::size_t i = 0; i < count_; ++i) {
    const BatchBounds::Item item{kept_[order_[i]].varying};
    if (fill_.rows != 0 && !bounds_.admits(fill_, item)) {
      ends_.push_back(static_cast<std::uint32_t>(i));
      BatchBounds::clear(fill_);
    }
    bounds_.add(fill_, item);
  }
  if (count_ != 0) ends_.push_back(static_cast<std::uint32_t>(count_));
}

std::span<const std::uint32_t> BucketWindow::batch() const noexcept {
  const std::uint32_t number = sequence_[batch_];
  const std::size_t begin = number == 0 ? 0 : ends_[number - 1];
  return std::span(order_).subspan(begin, ends_[number] - begin);
}

Cursor BucketWindow::cursor_after() const noexcept {
  if (batch_ + 1 == sequence_.size()) return next_;
  Cursor cursor = begin_;
  cursor.window_batches = static_cast<std::uint16_t>(batch_ + 1);
  return cursor;
}

std::span<const std::uint32_t> BucketWindow::left_over() const noexcept {
  return std::span(order_).subspan(ends_.empty() ? 0 : ends_.back());
}

}  // namespace penstock::detail::runtime
