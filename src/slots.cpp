#include "slots.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <limits>

#include "failure.hpp"

namespace penstock::detail {

std::size_t Slots::place_fields(const Schema& schema, const RowLayout& layout, std::uint64_t rows,
                                std::vector<std::size_t>* offsets) {
  std::size_t offset = 0;
  for (std::size_t f = 0; f < schema.size(); ++f) {
    const std::size_t row = layout[f].row_bytes;
    if (row != 0 && rows > (std::numeric_limits<std::size_t>::max() / 4 - offset) / row)
      throw Error(Errc::limit_exceeded, "a batch of " + std::to_string(rows) + " rows of field \"" + schema[f].name +
                                            "\" does not fit any memory");
    if (offsets != nullptr) offsets->push_back(offset);
    offset += static_cast<std::size_t>(row * rows);
    offset = (offset + field_alignment - 1) / field_alignment * field_alignment;
  }
  return offset;
}

std::size_t Slots::slot_bytes(const Schema& schema, std::uint64_t rows) {
  return place_fields(schema, RowLayout(schema), rows, nullptr);
}

Slots::Slots(const Schema& schema, std::uint64_t rows, std::size_t depth, MemoryResource& memory,
             std::size_t append_limit)
    : rows_(rows), layout_(schema), memory_(&memory) {
  bytes_ = place_fields(schema, layout_, rows, &offsets_);
  free_.reserve(depth);
  slots_.reserve(depth);
  try {
    for (std::size_t i = 0; i < depth; ++i) {
      auto slot = std::make_unique<Slot>(memory, append_limit);
      slot->indices.resize(rows);
      slot->mask.resize(rows);
      slot->varying.resize(rows * layout_.varying());
      slot->lengths.resize(rows * layout_.varying());
      slot->padded.resize(layout_.varying());
      if (bytes_ != 0) slot->data = static_cast<std::byte*>(memory_->allocate(bytes_, field_alignment));
      slots_.push_back(std::move(slot));
      free_.push_back(slots_.back().get());
    }
  } catch (...) {
    for (const auto& slot : slots_)
      if (slot->data != nullptr) memory_->deallocate(slot->data, bytes_, field_alignment);
    throw;
  }
}

Slots::~Slots() {
  for (const auto& slot : slots_)
    if (slot->data != nullptr) memory_->deallocate(slot->data, bytes_, field_alignment);
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
  for (std::size_t f = 0; f < offsets_.size(); ++f) {
    const RowField& field = layout_[f];
    std::byte* const out = field.appended() ? &nothing : place(slot, f, row);
    if (field.row_bytes != 0) fill_padding(field, out, field.row_bytes);
    if (field.kind != RowField::Kind::dense) note(slot, f, row, out, field.empty);
  }
}

void Slots::note(Slot& slot, std::size_t field, std::uint64_t row, std::byte* data, const Shape& shape) const noexcept {
  const std::size_t at = layout_[field].varying * rows_ + row;
  slot.varying[at] = {data, shape};
  slot.lengths[at] = shape[0];
}

void Slots::note_overflow(Slot& slot) noexcept {
  const std::lock_guard lock(slot.overflow_mutex);
  if (!slot.overflow) slot.overflow = described_error("batch");
  if (!slot.overflow) slot.broken.store(true, std::memory_order_relaxed);
}

std::uint64_t Slots::bytes_of(const Slot& slot) const noexcept {
  std::uint64_t bytes = slot.rows * layout_.row_bytes();
  if (!layout_.appends()) return bytes;
  for (std::size_t f = 0; f < offsets_.size(); ++f) {
    const RowField& field = layout_[f];
    if (field.kind == RowField::Kind::longest)
      bytes += slot.rows * static_cast<std::uint64_t>(padded(slot, f).longest) * field.unit;
    if (field.kind == RowField::Kind::ragged)
      for (const RaggedRow& row : varying_rows(slot, f)) bytes += row_bytes_of(row, field.element);
  }
  return bytes;
}

std::size_t Slots::appended_bytes() const noexcept {
  std::size_t most = 0;
  for (const auto& slot : slots_) most = std::max(most, slot->arena.peak());
  return most;
}

// Rows whose length is the longest one's: only now that is known.
void Slots::lay_side_by_side(Slot& slot) const noexcept {
  try {
    for (std::size_t f = 0; f < offsets_.size(); ++f) {
      const RowField& field = layout_[f];
      if (field.kind != RowField::Kind::longest) continue;
      PaddedRows& out = slot.padded[field.varying];
      const std::span<const RaggedRow> rows = varying_rows(slot, f);
      out.longest = 0;
      for (const std::int64_t length : lengths(slot, f)) out.longest = std::max(out.longest, length);
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
  if (layout_.appends() && !slot.broken.load(std::memory_order_relaxed)) lay_side_by_side(slot);
  move(slot, SlotState::filling, SlotState::ready);
  return Finished::ready;
}

void Slots::lease(Slot& slot) noexcept {
  move(slot, SlotState::ready, SlotState::leased);
  for (const Replaced& r : slot.replaced) slot.indices[r.row] = r.index;
}

void Slots::release(Slot& slot, StreamRef) noexcept {
  if (slot.state.exchange(SlotState::free) == SlotState::free) std::terminate();
  free_.push_back(&slot);
}

}  // namespace penstock::detail
