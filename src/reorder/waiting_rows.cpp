// SPDX-License-Identifier: Apache-2.0
#include "reorder/waiting_rows.hpp"

#include <cstring>
#include <limits>
#include <string>

#include <penstock/error.hpp>

#include "base/alignment.hpp"

namespace penstock::detail::runtime {

std::size_t WaitingRows::row_bytes(const RowLayout& layout) {
  std::size_t bytes = 0;
  for (const RowField& field : layout.fields()) bytes += aligned(field.row_bytes);
  return bytes;
}

WaitingRows::WaitingRows(const Schema& schema, std::size_t owned, std::size_t spare, MemoryResource& memory,
                         std::size_t append_limit)
    : layout_(schema), owned_(owned), memory_(memory) {
  for (const RowField& field : layout_.fields()) {
    offsets_.push_back(bytes_);
    bytes_ += aligned(field.row_bytes);
  }
  const std::size_t count = owned + spare;
  rows_.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    rows_.push_back(std::make_unique<WaitingRow>(append_limit, layout_.varying()));
  if (spare != 0) spare_.reserve(count);
  reset();
  if (bytes_ == 0) return;
  if (count > std::numeric_limits<std::size_t>::max() / 4 / bytes_)
    throw Error(Errc::limit_exceeded, "a window of " + std::to_string(count) + " samples does not fit any memory");
  data_ = static_cast<std::byte*>(memory_.allocate(bytes_ * count, BatchLayout::field_alignment));
  for (std::size_t i = 0; i < count; ++i) rows_[i]->data = data_ + i * bytes_;
}

WaitingRows::~WaitingRows() {
  if (data_ != nullptr) memory_.deallocate(data_, bytes_ * rows_.size(), BatchLayout::field_alignment);
}

void WaitingRows::reset() noexcept {
  spare_.clear();
  for (std::size_t i = owned_; i < rows_.size(); ++i) spare_.push_back(rows_[i].get());
  spares_.store(spare_.size(), std::memory_order_relaxed);
}

WaitingRow& WaitingRows::take_spare() noexcept {
  const std::lock_guard lock(spare_mutex_);
  WaitingRow& row = *spare_.back();
  spare_.pop_back();
  spares_.fetch_sub(1, std::memory_order_seq_cst);
  return row;
}

void WaitingRows::give_back(WaitingRow& row) noexcept {
  const std::lock_guard lock(spare_mutex_);
  spare_.push_back(&row);
  spares_.fetch_add(1, std::memory_order_seq_cst);
}

void WaitingRows::clear(WaitingRow& row) const noexcept {
  alignas(64) static std::byte nothing{};
  for (std::size_t f = 0; f < offsets_.size(); ++f) {
    const RowField& field = layout_[f];
    std::byte* const out = field.appended() ? &nothing : address(row, f);
    if (field.row_bytes != 0) fill_padding(field, out, field.row_bytes);
    if (field.kind != RowField::Kind::dense) row.varying[field.varying] = {out, field.empty};
  }
}

void WaitingRows::copy(const WaitingRow& from, BatchBuffer& to, std::uint64_t row, const BatchRing& ring) noexcept {
  std::size_t appended = 0;
  for (std::size_t f = 0; f < offsets_.size(); ++f) {
    const RowField& field = layout_[f];
    if (field.appended()) {
      appended += append(from, to, row, ring, f);
      continue;
    }
    std::byte* const out = ring.address(to, f, row);
    if (field.row_bytes != 0) std::memcpy(out, address(from, f), field.row_bytes);
    if (field.kind == RowField::Kind::padded) ring.layout().note(to, f, row, out, from.varying[field.varying].shape);
  }
  if (!layout_.appends()) return;
  appended_.fetch_add(appended, std::memory_order_relaxed);
  if (appended > max_appended()) max_appended_.store(appended, std::memory_order_relaxed);
}

std::size_t WaitingRows::append(const WaitingRow& from, BatchBuffer& to, std::uint64_t row, const BatchRing& ring,
                                std::size_t field) noexcept {
  const RowField& how = layout_[field];
  const RaggedRow& ragged = from.varying[how.varying];
  const auto bytes = static_cast<std::size_t>(row_bytes_of(ragged, how.element));
  try {
    std::byte* const out = to.arena.append(bytes);
    if (bytes != 0) std::memcpy(out, ragged.data, bytes);
    ring.layout().note(to, field, row, out, ragged.shape);
  } catch (...) {
    BatchRing::note_overflow(to);
    ring.layout().note(to, field, row, nullptr, how.empty);
  }
  return bytes;
}

}  // namespace penstock::detail::runtime
