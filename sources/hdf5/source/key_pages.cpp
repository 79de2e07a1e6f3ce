// SPDX-License-Identifier: Apache-2.0
#include "source/key_pages.hpp"

namespace penstock::hdf5 {

KeyPages::Page KeyPages::find(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(number);
  if (found == places_.end()) return nullptr;
  pages_.splice(pages_.begin(), pages_, found->second);
  return pages_.front().second;
}

bool KeyPages::wants(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t before = std::exchange(last_missed_, number);
  if (number == before || number == before + 1) return true;
  const std::size_t usual = pages_.empty() ? 0 : bytes_ / pages_.size();
  return bytes_ + usual < max_bytes_;
}

void KeyPages::keep(std::uint64_t number, Page page) {
  const std::lock_guard lock(mutex_);
  if (places_.contains(number)) return;  // another thread was first
  bytes_ += bytes_of(*page);
  pages_.emplace_front(number, std::move(page));
  places_[number] = pages_.begin();
  while (bytes_ > max_bytes_ && pages_.size() > 2) {
    bytes_ -= bytes_of(*pages_.back().second);
    places_.erase(pages_.back().first);
    pages_.pop_back();
  }
}

}  // namespace penstock::hdf5
