// SPDX-License-Identifier: Apache-2.0
#include "data/batch_arena.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include <penstock/error.hpp>

#include "base/alignment.hpp"

namespace penstock::detail {

namespace {
constexpr std::size_t min_block = 64 << 10;
constexpr std::size_t page = 4096;  // blocks are aligned to pages, as buffers are
}  // namespace

BatchArena::~BatchArena() { free_blocks(); }

void BatchArena::give_back() noexcept {
  reset();
  const std::lock_guard lock(mutex_);
  free_blocks();
}

void BatchArena::free_blocks() noexcept {
  for (const auto& block : blocks_) memory_->deallocate(block->data, block->bytes, page);
  blocks_.clear();
  capacity_ = 0;
  current_.store(nullptr, std::memory_order_relaxed);
}

std::byte* BatchArena::append(std::size_t bytes) {
  if (bytes > no_limit / 4) throw Error(Errc::limit_exceeded, "a row of " + std::to_string(bytes) + " bytes");
  const std::size_t need = std::max<std::size_t>(aligned(bytes), alignment);
  // The size is added to the sum before memory is taken. So whether a row of the batch exceeds the limit depends only
  // on the batch. Which row exceeds it may differ.
  if (used_.fetch_add(need, std::memory_order_relaxed) + need > limit_)
    throw Error(Errc::out_of_memory,
                "the rows of the batch need more than the " + std::to_string(limit_) +
                    " bytes that `max_memory_bytes` leaves for fields of any size in each batch; raise it, "
                    "or lower `depth` or the batch size, or bound the batch with `.max_bytes`");
  for (Block* block = current_.load(std::memory_order_acquire);;) {
    if (block != nullptr) {
      const std::size_t at = block->used.fetch_add(need, std::memory_order_relaxed);
      if (at <= block->bytes && need <= block->bytes - at) return block->data + at;
    }
    block = add_block(block, need);
  }
}

// Adds a block, unless another thread has replaced `full` already. Returns the current block.
BatchArena::Block* BatchArena::add_block(const Block* full, std::size_t need) {
  const std::lock_guard lock(mutex_);
  if (Block* const now = current_.load(std::memory_order_relaxed); now != full) return now;
  std::size_t bytes = std::max({need, min_block, capacity_});
  std::byte* data = nullptr;
  if (limit_ != no_limit && blocks_.empty()) {
    // Asks for one block of the whole limit. A system that does not overcommit memory may refuse such a large block.
    // Then the arena uses small blocks.
    const std::size_t all = limit_ / alignment * alignment;
    try {
      data = static_cast<std::byte*>(memory_->allocate(all, page));
      bytes = all;
    } catch (const Error&) {
    }
  }
  if (data == nullptr) data = static_cast<std::byte*>(memory_->allocate(bytes, page));
  try {
    blocks_.push_back(std::make_unique<Block>(data, bytes));
  } catch (...) {
    memory_->deallocate(data, bytes, page);
    throw;
  }
  capacity_ += bytes;
  current_.store(blocks_.back().get(), std::memory_order_release);
  return blocks_.back().get();
}

void BatchArena::reset() noexcept {
  const std::size_t used = std::min(used_.exchange(0, std::memory_order_relaxed), capacity_);
  if (used > peak()) peak_.store(used, std::memory_order_relaxed);
  if (blocks_.size() > 1) {
    const std::size_t bytes = capacity_;
    free_blocks();
    try {
      add_block(nullptr, bytes);
    } catch (...) {  // the next append tries again
    }
    return;
  }
  if (!blocks_.empty()) blocks_.front()->used.store(0, std::memory_order_relaxed);
}

}  // namespace penstock::detail
