#include "ring/slots.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <limits>

#include "base/failure.hpp"

namespace penstock::detail {

Slots::Slots(const Schema& schema, std::uint64_t rows, std::size_t depth, MemoryResource& memory,
             std::size_t append_limit, MemoryResource* append_memory)
    : layout_(schema, rows), memory_(&memory) {
  free_.reserve(depth);
  slots_.reserve(depth);
  for (std::size_t i = 0; i < depth; ++i) {
    slots_.push_back(std::make_unique<Slot>(append_memory != nullptr ? *append_memory : memory, append_limit));
    layout_.prepare(*slots_.back());
    free_.push_back(slots_.back().get());
  }
  const std::size_t bytes = layout_.bytes_of_ring(depth, "depth");
  if (bytes == 0) return;
  data_ = static_cast<std::byte*>(memory_->allocate(bytes, BatchLayout::field_alignment));
  for (std::size_t i = 0; i < depth; ++i) slots_[i]->data = data_ + i * layout_.bytes();
}

Slots::~Slots() {
  if (data_ != nullptr) memory_->deallocate(data_, layout_.bytes() * depth(), BatchLayout::field_alignment);
}

// A wrong edge means that two parties believe they own the batch: nothing after it can be trusted.
void Slots::move(Slot& slot, SlotState from, SlotState to) noexcept {
  if (!slot.state.compare_exchange_strong(from, to)) std::terminate();
}

Slot* Slots::acquire() noexcept {
  if (free_.empty()) return nullptr;
  Slot* slot = free_.back();
  free_.pop_back();
  move(*slot, SlotState::free, SlotState::filling);
  slot->bad.clear();
  slot->unlisted = 0;
  slot->replaced.clear();
  slot->discarded = false;
  slot->broken.store(false, std::memory_order_relaxed);
  slot->overflow.reset();
  return slot;
}

void Slots::clear_row(Slot& slot, std::uint64_t row) const noexcept {
  alignas(64) static std::byte nothing{};
  for (std::size_t f = 0; f < layout_.fields(); ++f) {
    const RowField& field = layout_.row()[f];
    std::byte* const out = field.appended() ? &nothing : place(slot, f, row);
    if (field.row_bytes != 0) fill_padding(field, out, field.row_bytes);
    if (field.kind != RowField::Kind::dense) layout_.note(slot, f, row, out, field.empty);
  }
}

void Slots::note_overflow(Slot& slot) noexcept {
  const std::lock_guard lock(slot.overflow_mutex);
  if (!slot.overflow) slot.overflow = described_error("batch");
  if (!slot.overflow) slot.broken.store(true, std::memory_order_relaxed);
}

std::size_t Slots::appended_bytes() const noexcept {
  std::size_t most = 0;
  for (const auto& slot : slots_) most = std::max(most, slot->arena.peak());
  return most;
}

// Rows whose length is the longest one's: only now that is known.
void Slots::lay_side_by_side(Slot& slot) const noexcept {
  try {
    for (std::size_t f = 0; f < layout_.fields(); ++f) {
      const RowField& field = layout_.row()[f];
      if (field.kind != RowField::Kind::longest) continue;
      PaddedRows& out = slot.padded[field.varying];
      const std::span<const RaggedRow> rows = layout_.varying_rows(slot, f);
      out.longest = 0;
      for (const std::int64_t length : layout_.lengths(slot, f)) out.longest = std::max(out.longest, length);
      const std::size_t row_bytes = static_cast<std::size_t>(out.longest) * field.unit;
      if (row_bytes != 0 && rows.size() > std::numeric_limits<std::size_t>::max() / 4 / row_bytes)
        throw Error(Errc::limit_exceeded, std::to_string(rows.size()) + " rows of " + std::to_string(row_bytes) +
                                              " bytes do not fit any memory");
      out.data = slot.arena.append(row_bytes * rows.size());
      for (std::size_t row = 0; row < rows.size(); ++row) {
        std::byte* const to = out.data + row * row_bytes;
        const std::size_t bytes = static_cast<std::size_t>(rows[row].shape[0]) * field.unit;
        if (bytes != 0) std::memcpy(to, rows[row].data, bytes);
        fill_padding(field, to + bytes, row_bytes - bytes);
      }
    }
  } catch (...) {
    note_overflow(slot);
  }
}

Slots::Finished Slots::finish(Slot& slot, std::uint32_t parts) noexcept {
  if (slot.left.fetch_sub(parts, std::memory_order_acq_rel) != parts) return Finished::no;
  if (slot.discarded) return Finished::discarded;
  if (layout_.row().appends() && !slot.broken.load(std::memory_order_relaxed)) lay_side_by_side(slot);
  slot.unreported = slot.broken.load(std::memory_order_relaxed);
  move(slot, SlotState::filling, SlotState::ready);
  return Finished::ready;
}

void Slots::lease(Slot& slot) noexcept {
  move(slot, SlotState::ready, SlotState::leased);
  for (const Replaced& r : slot.replaced) slot.indices[r.row] = r.index;
}

void Slots::release(Slot& slot) noexcept {
  if (slot.state.exchange(SlotState::free) == SlotState::free) std::terminate();
  free_.push_back(&slot);
}

}  // namespace penstock::detail
