// SPDX-License-Identifier: Apache-2.0
#include "write/samples_in_work.hpp"

#include <algorithm>
#include <utility>

namespace penstock::detail::runtime {

SamplesInWork::SamplesInWork(std::size_t entries, std::size_t fewest, std::size_t max_bytes)
    : entries_(entries), fewest_(std::min(entries, fewest)), max_bytes_(max_bytes) {}

bool SamplesInWork::has_room() const noexcept {
  return entries_.size() - (admitted_ - head_) >= std::max<std::size_t>(entries_.size() / 8, 1);
}

WriteEntry& SamplesInWork::admit(SinkItem item) {
  WriteEntry& entry = at(admitted_++);
  entry.item = std::move(item);
  entry.error.reset();
  entry.broken = false;
  entry.bytes = entry.held = 0;
  return entry;
}

void SamplesInWork::publish() noexcept {
  for (; tail_ < admitted_; ++tail_)
    if (at(tail_).state == WriteEntry::State::done) ++done_;
}

// Returns a limit in bytes. While finished samples have at least this number of bytes, only the oldest sample is begun.
std::size_t SamplesInWork::most_bytes() const noexcept {
  return next_ - head_ < fewest_ ? max_bytes_ : std::min(max_bytes_, small_finished_bytes);
}

bool SamplesInWork::has_work() noexcept {
  for (next_ = std::max(next_, head_); next_ < tail_; ++next_)
    if (at(next_).state == WriteEntry::State::waiting) return bytes_ < most_bytes() || next_ == head_;
  return false;
}

WriteEntry& SamplesInWork::begin() noexcept {
  WriteEntry& entry = at(next_++);
  entry.state = WriteEntry::State::running;
  return entry;
}

void SamplesInWork::end(WriteEntry& entry) noexcept {
  entry.state = WriteEntry::State::done;
  ++done_;
  bytes_ += entry.held;
}

bool SamplesInWork::is_half_done() const noexcept { return done_ >= std::max<std::size_t>(entries_.size() / 2, 1); }

std::size_t SamplesInWork::take(std::size_t most) noexcept {
  std::size_t count = 0;
  for (std::size_t bytes = 0; count < most && head_ + count < tail_; ++count) {
    const WriteEntry& entry = at(head_ + count);
    if (entry.state != WriteEntry::State::done || (count != 0 && bytes + entry.held > max_bytes_ / 16)) break;
    bytes += entry.held;
    bytes_ -= entry.held;
  }
  return count;
}

WriteEntry& SamplesInWork::pop() noexcept {
  WriteEntry& entry = at(head_++);
  entry.state = WriteEntry::State::empty;
  --done_;
  return entry;
}

}  // namespace penstock::detail::runtime
