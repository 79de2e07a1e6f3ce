#include "blocks/block_memory.hpp"

#include <algorithm>

#include "base/alignment.hpp"

namespace penstock::detail {

std::byte* BlockMemory::take(std::size_t bytes, std::mutex& mutex) {
  if (bytes == 0) return nullptr;
  // One at a time, or what one is about to free would stand beside what another allocates. Not under the other mutex:
  // a resource is a user's code.
  const std::lock_guard one_at_a_time(taking_);
  Spares unwanted;
  {
    const std::lock_guard lock(mutex);
    if (std::byte* const data = reuse(bytes); data != nullptr) return data;
    unwanted = spares_beyond(limit_ - std::min(limit_, used_));
  }
  free(unwanted);
  return static_cast<std::byte*>(resource_.allocate(bytes, alignment));
}

void BlockMemory::give_back(std::byte* data, std::size_t bytes) noexcept {
  used_ -= bytes;
  if (data == nullptr) return;
  try {
    spares_.emplace_back(data, bytes);
    spare_bytes_ += bytes;
  } catch (...) {
    resource_.deallocate(data, bytes, alignment);
  }
}

// The one that was left last, as it is the likeliest to be in a cache.
std::byte* BlockMemory::reuse(std::size_t bytes) noexcept {
  for (std::size_t i = spares_.size(); i-- > 0;) {
    if (spares_[i].second != bytes) continue;
    std::byte* const data = spares_[i].first;
    spares_[i] = spares_.back();
    spares_.pop_back();
    spare_bytes_ -= bytes;
    return data;
  }
  return nullptr;
}

// Taken out of the spares where those are more than so many bytes.
BlockMemory::Spares BlockMemory::spares_beyond(std::size_t bytes) noexcept {
  Spares out;
  if (spare_bytes_ <= bytes) return out;
  out.swap(spares_);
  spare_bytes_ = 0;
  return out;
}

void BlockMemory::free(const Spares& spares) noexcept {
  for (const auto& [data, bytes] : spares) resource_.deallocate(data, bytes, alignment);
}

}  // namespace penstock::detail
