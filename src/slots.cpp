#include "slots.hpp"

#include <cstring>
#include <exception>
#include <limits>

namespace penstock::detail {

std::size_t Slots::layout(const Schema& schema, std::uint64_t rows, std::vector<Place>* fields) {
  std::size_t offset = 0;
  for (const Field& f : schema) {
    const std::uint64_t row = f.shape.elements() * size_of(f.dtype);
    if (row != 0 && rows > (std::numeric_limits<std::size_t>::max() / 4 - offset) / row)
      throw Error(Errc::limit_exceeded,
                  "a batch of " + std::to_string(rows) + " rows of field \"" + f.name + "\" does not fit any memory");
    if (fields != nullptr) fields->push_back({offset, static_cast<std::size_t>(row)});
    offset += static_cast<std::size_t>(row * rows);
    offset = (offset + field_alignment - 1) / field_alignment * field_alignment;
  }
  return offset;
}

std::size_t Slots::slot_bytes(const Schema& schema, std::uint64_t rows) { return layout(schema, rows, nullptr); }

Slots::Slots(const Schema& schema, std::uint64_t rows, std::size_t depth, MemoryResource& memory)
    : rows_(rows), memory_(&memory) {
  bytes_ = layout(schema, rows, &fields_);
  free_.reserve(depth);
  slots_.reserve(depth);
  try {
    for (std::size_t i = 0; i < depth; ++i) {
      auto slot = std::make_unique<Slot>();
      slot->indices.resize(rows);
      slot->mask.resize(rows);
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
  return slot;
}

void Slots::clear_row(Slot& slot, std::uint64_t row) const noexcept {
  for (std::size_t f = 0; f < fields_.size(); ++f)
    if (fields_[f].row_bytes != 0) std::memset(place(slot, f, row), 0, fields_[f].row_bytes);
}

Slots::Finished Slots::finish(Slot& slot, std::uint32_t parts) noexcept {
  if (slot.left.fetch_sub(parts, std::memory_order_acq_rel) != parts) return Finished::no;
  if (slot.discarded) return Finished::discarded;
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
