// SPDX-License-Identifier: Apache-2.0
#include "ring/batch_ring.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <limits>
#include <utility>

#include "base/clock.hpp"
#include "base/failure.hpp"
#include "ring/batch_stages.hpp"

namespace penstock::detail::runtime {

namespace {

// Returns a timeline's name for the state; null: the timeline shows nothing.
const char* shown_as(BufferState state) noexcept {
  switch (state) {
    case BufferState::free:
      return nullptr;
    case BufferState::filling:
      return "filling";
    case BufferState::ready:
      return "ready";
    case BufferState::leased:
      return "held";
  }
  return nullptr;
}

// Call before other threads see the new state, because until then only this thread uses the buffer.
void show_turn(const BatchBuffer& buffer, BufferState to) noexcept {
  if (buffer.trace == nullptr) return;
  // While a buffer is filled, the number of its batch is not known yet.
  const bool known = to == BufferState::ready || to == BufferState::leased;
  buffer.trace->turn_to(shown_as(to), buffer.number, known ? buffer.number : TraceLine::no_number);
}

}  // namespace

BatchRing::BatchRing(const Schema& schema, std::uint64_t rows, std::size_t depth, MemoryResource& memory,
                     std::size_t append_limit, MemoryResource* append_memory, std::size_t most)
    : layout_(schema, rows), memory_(&memory), first_depth_(depth), depth_(depth) {
  most = std::max(most, depth);
  free_.reserve(most);
  buffers_.reserve(most);
  for (std::size_t i = 0; i < most; ++i) {
    buffers_.push_back(std::make_unique<BatchBuffer>(append_memory != nullptr ? *append_memory : memory, append_limit));
    buffers_.back()->place = i;
    if (i >= depth) continue;
    layout_.prepare(*buffers_.back());
    buffers_.back()->prepared = true;
    free_.push_back(buffers_.back().get());
  }
  const std::size_t bytes = layout_.bytes_of_ring(depth, "depth");
  if (bytes == 0) return;
  data_ = static_cast<std::byte*>(memory_->allocate(bytes, BatchLayout::field_alignment));
  for (std::size_t i = 0; i < depth; ++i) buffers_[i]->data = data_ + i * layout_.bytes();
}

BatchRing::~BatchRing() {
  if (data_ == nullptr) return;
  memory_->deallocate(data_, layout_.bytes() * first_depth_, BatchLayout::field_alignment);
  for (std::size_t i = first_depth_; i < most(); ++i) free_data(*buffers_[i]);
}

void BatchRing::free_data(BatchBuffer& buffer) noexcept {
  if (std::byte* const data = std::exchange(buffer.data, nullptr); data != nullptr)
    memory_->deallocate(data, layout_.bytes(), BatchLayout::field_alignment);
}

void BatchRing::prepare_to_grow(std::size_t depth) {
  for (std::size_t i = first_depth_; i < std::min(depth, most()); ++i) {
    if (!buffers_[i]->prepared) layout_.prepare(*buffers_[i]);
    buffers_[i]->prepared = true;
    if (data_ == nullptr || buffers_[i]->data != nullptr) continue;
    buffers_[i]->data = static_cast<std::byte*>(memory_->allocate(layout_.bytes(), BatchLayout::field_alignment));
    ++grown_;
  }
}

void BatchRing::set_depth(std::size_t depth) noexcept {
  depth = std::clamp(depth, first_depth_, most());
  // Buffers beyond a lowered depth may still be in use. If such a buffer is released after the depth was raised again,
  // `release` adds it to `free_`.
  for (std::size_t i = this->depth(); i < depth; ++i)
    if (BatchBuffer& buffer = *buffers_[i]; buffer.state.load(std::memory_order_relaxed) == BufferState::free)
      free_.push_back(&buffer);
  depth_.store(depth, std::memory_order_relaxed);
  std::erase_if(free_, [&](const BatchBuffer* buffer) { return buffer->place >= depth; });
}

bool BatchRing::trim(std::mutex& mutex) noexcept {
  bool all = true;
  for (std::size_t i = depth(); i < most(); ++i) {
    BatchBuffer& buffer = *buffers_[i];
    {
      const std::lock_guard lock(mutex);
      if (buffer.state.load(std::memory_order_relaxed) != BufferState::free) {
        all = false;
        continue;
      }
    }
    // No other thread touches a free buffer that is beyond the depth.
    buffer.arena.give_back();
    free_data(buffer);
  }
  return all;
}

void BatchRing::show(Trace& trace) {
  for (const auto& buffer : buffers_) buffer->trace = &trace.next_line("batch");
}

// A wrong state means that two parties believe they own the batch, so its data can't be trusted.
void BatchRing::move(BatchBuffer& buffer, BufferState from, BufferState to) noexcept {
  show_turn(buffer, to);
  if (!buffer.state.compare_exchange_strong(from, to)) std::terminate();
}

BatchBuffer* BatchRing::acquire() noexcept {
  if (free_.empty()) return nullptr;
  BatchBuffer* buffer = free_.back();
  free_.pop_back();
  move(*buffer, BufferState::free, BufferState::filling);
  buffer->ready_ns.store(0, std::memory_order_relaxed);
  buffer->bad.clear();
  buffer->unlisted = 0;
  buffer->unreported = false;
  buffer->replaced.clear();
  buffer->discarded = false;
  buffer->mapped = false;
  buffer->broken.store(false, std::memory_order_relaxed);
  buffer->overflow.reset();
  return buffer;
}

void BatchRing::note_overflow(BatchBuffer& buffer) noexcept {
  const std::lock_guard lock(buffer.overflow_mutex);
  if (!buffer.overflow) buffer.overflow = described_error("batch");
  if (!buffer.overflow) buffer.broken.store(true, std::memory_order_relaxed);
}

std::size_t BatchRing::appended_bytes() const noexcept {
  std::size_t most = 0;
  for (const auto& buffer : buffers_) most = std::max(most, buffer->arena.peak());
  return most;
}

// Rows are padded to the longest row's length, which is known only when the batch is complete.
void BatchRing::lay_side_by_side(BatchBuffer& buffer, const BatchLayout& layout) noexcept {
  try {
    for (std::size_t f = 0; f < layout.fields(); ++f) {
      const RowField& field = layout.row()[f];
      if (field.kind != RowField::Kind::longest) continue;
      PaddedToLongest& out = buffer.padded[field.varying];
      const std::span<const RaggedRow> rows = layout.varying_rows(buffer, f);
      out.longest = 0;
      for (const std::int64_t length : layout.lengths(buffer, f)) out.longest = std::max(out.longest, length);
      const std::size_t row_bytes = static_cast<std::size_t>(out.longest) * field.unit;
      if (row_bytes != 0 && rows.size() > std::numeric_limits<std::size_t>::max() / 4 / row_bytes)
        throw Error(Errc::limit_exceeded, std::to_string(rows.size()) + " rows of " + std::to_string(row_bytes) +
                                              " bytes do not fit any memory");
      out.data = buffer.arena.append(row_bytes * rows.size());
      for (std::size_t row = 0; row < rows.size(); ++row) {
        std::byte* const to = out.data + row * row_bytes;
        const std::size_t bytes = static_cast<std::size_t>(rows[row].shape[0]) * field.unit;
        if (bytes != 0) std::memcpy(to, rows[row].data, bytes);
        fill_padding(field, to + bytes, row_bytes - bytes);
      }
    }
  } catch (...) {
    note_overflow(buffer);
  }
}

BatchRing::FinishResult BatchRing::publish(BatchBuffer& buffer) noexcept {
  if (buffer.discarded) return FinishResult::discarded;
  const auto unreported = [&] { return buffer.unreported || buffer.broken.load(std::memory_order_relaxed); };
  if (layout_.row().appends() && !unreported()) lay_side_by_side(buffer, layout_);
  buffer.unreported = unreported();
  if (stages_ != nullptr) stages_->run_on_runner(buffer);
  buffer.ready_ns.store(now_ns(), std::memory_order_relaxed);
  move(buffer, BufferState::filling, BufferState::ready);
  return FinishResult::ready;
}

void BatchRing::lease(BatchBuffer& buffer) noexcept {
  move(buffer, BufferState::ready, BufferState::leased);
  for (const ReplacedRow& r : buffer.replaced) buffer.indices[r.row] = r.index;
}

void BatchRing::release(BatchBuffer& buffer) noexcept {
  show_turn(buffer, BufferState::free);
  if (buffer.state.exchange(BufferState::free) == BufferState::free) std::terminate();
  if (buffer.place < depth()) free_.push_back(&buffer);
}

}  // namespace penstock::detail::runtime
