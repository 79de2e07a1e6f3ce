// SPDX-License-Identifier: Apache-2.0
#include "blocks/block_memory.hpp"

#include <algorithm>

#include "base/alignment.hpp"

namespace penstock::detail::runtime {

std::byte* BlockMemory::take(std::size_t bytes, const void* runner, std::mutex& mutex) {
  if (bytes == 0) return nullptr;
  // One thread at a time frees spares and allocates. Otherwise the memory that one thread is about to free and the
  // memory that another thread allocates could exceed the limit together. The owner's mutex is not held while
  // memory is freed or allocated, because a resource may be a user's code.
  const std::lock_guard one_at_a_time(taking_);
  Spares unwanted;
  {
    const std::lock_guard lock(mutex);
    if (std::byte* const data = reuse(bytes, runner); data != nullptr) return data;
    unwanted = take_spares_if_above(limit_ - std::min(limit_, used_));
  }
  free(unwanted);
  return static_cast<std::byte*>(resource_.allocate(bytes, alignment));
}

void BlockMemory::give_back(std::byte* data, std::size_t bytes, const void* runner) noexcept {
  used_ -= bytes;
  if (data == nullptr) return;
  try {
    spares_.push_back({data, bytes, runner});
    spare_bytes_ += bytes;
  } catch (...) {
    resource_.deallocate(data, bytes, alignment);
  }
}

// Looks at the last few spares of `bytes` bytes. Takes a spare that this runner used before, or else the newest spare.
// Returns null if no spare has this size.
std::byte* BlockMemory::reuse(std::size_t bytes, const void* runner) noexcept {
  constexpr std::size_t few = 32;
  std::size_t found = spares_.size();
  for (std::size_t i = spares_.size(), looked_at = 0; i-- > 0 && looked_at < few;) {
    if (spares_[i].bytes != bytes) continue;
    ++looked_at;
    if (found == spares_.size() || spares_[i].runner == runner) found = i;
    if (spares_[i].runner == runner) break;
  }
  if (found == spares_.size()) return nullptr;
  std::byte* const data = spares_[found].data;
  spares_.erase(spares_.begin() + static_cast<std::ptrdiff_t>(found));
  spare_bytes_ -= bytes;
  return data;
}

// Takes all spares if they have more than `bytes` bytes together; otherwise takes nothing. The caller frees the spares
// without the mutex.
BlockMemory::Spares BlockMemory::take_spares_if_above(std::size_t bytes) noexcept {
  Spares out;
  if (spare_bytes_ <= bytes) return out;
  out.swap(spares_);
  spare_bytes_ = 0;
  return out;
}

void BlockMemory::free(const Spares& spares) noexcept {
  for (const Spare& spare : spares) resource_.deallocate(spare.data, spare.bytes, alignment);
}

}  // namespace penstock::detail::runtime
