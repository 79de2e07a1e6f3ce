// SPDX-License-Identifier: Apache-2.0
#include "data/scratch.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/memory.hpp>

#include "base/alignment.hpp"

namespace penstock::detail {

ScratchArena::~ScratchArena() { free_blocks(); }

void ScratchArena::free_blocks() noexcept {
  for (const Block& b : blocks_) host_memory().deallocate(b.data, b.bytes, alignment);
  blocks_.clear();
  capacity_ = 0;
}

void ScratchArena::add_block(std::size_t bytes) {
  auto* data = static_cast<std::byte*>(host_memory().allocate(bytes, alignment));
  try {
    blocks_.push_back({data, bytes});
  } catch (...) {
    host_memory().deallocate(data, bytes, alignment);
    throw;
  }
  capacity_ += bytes;
}

// Allocates the whole limit as one block. A system that does not overcommit memory may refuse such a large block. Then
// the arena allocates small blocks when it needs them.
void ScratchArena::reserve_limit() {
  try {
    add_block(limit_ / alignment * alignment);
  } catch (const Error&) {
  }
}

std::size_t ScratchArena::in_use() const noexcept {
  std::size_t bytes = used_;
  for (std::size_t i = 0; i < std::min(current_, blocks_.size()); ++i) bytes += blocks_[i].bytes;
  return bytes;
}

std::byte* ScratchArena::allocate(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() / 4)
    throw Error(Errc::limit_exceeded, "a value of " + std::to_string(bytes) + " bytes");
  const std::size_t need = std::max(aligned(bytes), alignment);
  if (blocks_.empty() && limit_ != no_limit && need <= limit_) reserve_limit();
  const std::size_t before = in_use();
  // A failure changes nothing: the caller may ask for less.
  std::size_t current = current_, used = used_;
  while (current < blocks_.size() && blocks_[current].bytes - used < need) {
    ++current;
    used = 0;
  }
  if (current == blocks_.size()) {
    // Unused small blocks must not take the room of a larger one.
    const std::size_t kept = before == 0 ? 0 : capacity_;
    if (need > limit_ || kept > limit_ - need)
      throw Error(Errc::out_of_memory,
                  "a sample needs " + std::to_string(before + need) +
                      " bytes of working memory, but the byte budget leaves " + std::to_string(limit_) +
                      " a runner; raise `max_memory_bytes`, or lower `threads`, `depth` or the batch size");
    if (before == 0) {
      free_blocks();
      current = current_ = used_ = 0;
    }
    add_block(std::max(need, std::min(min_block_, limit_ - capacity_)));
  }
  before_last_ = mark();
  last_ = blocks_[current].data + used;
  current_ = current;
  used_ = used + need;
  peak_ = std::max(peak_, in_use());
  return last_;
}

void ScratchArena::give_back(std::byte* piece) noexcept {
  if (piece != nullptr && piece == last_) rewind(before_last_);
}

void ScratchArena::reset() {
  last_ = nullptr;
  if (blocks_.size() > 1) {
    const std::size_t bytes = capacity_;
    free_blocks();
    current_ = used_ = 0;
    add_block(bytes);
    return;
  }
  current_ = used_ = 0;
}

void ScratchArena::swap_memory(ScratchArena& other) noexcept {
  last_ = other.last_ = nullptr;
  blocks_.swap(other.blocks_);
  std::swap(current_, other.current_);
  std::swap(used_, other.used_);
  std::swap(capacity_, other.capacity_);
  peak_ = std::max(peak_, in_use());
  other.peak_ = std::max(other.peak_, other.in_use());
}

bool ScratchArena::holds(const std::byte* data) const noexcept {
  const std::less<const std::byte*> before;
  return std::ranges::any_of(
      blocks_, [&](const Block& block) { return !before(data, block.data) && before(data, block.data + block.bytes); });
}

void ScratchArena::rewind(Mark mark) noexcept {
  last_ = nullptr;
  current_ = mark.block;
  used_ = mark.used;
}

}  // namespace penstock::detail
