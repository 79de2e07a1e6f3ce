#include "settle.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace penstock::detail {

namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t aligned(std::size_t bytes) noexcept { return (bytes + alignment - 1) / alignment * alignment; }

}  // namespace

std::size_t Settle::row_bytes(const Schema& schema) {
  std::size_t bytes = 0;
  for (const Field& f : schema) {
    const std::uint64_t field = f.shape.elements() * size_of(f.dtype);
    if (field > std::numeric_limits<std::size_t>::max() / 4 - bytes)
      throw Error(Errc::limit_exceeded, "a row of field \"" + f.name + "\" does not fit any memory");
    bytes += aligned(static_cast<std::size_t>(field));
  }
  return bytes;
}

Settle::Settle(const Schema& schema, std::uint64_t rows, Tail tail, const ErrorPolicy& policy, std::size_t cells,
               MemoryResource& memory)
    : rows_(rows), tail_(tail), policy_(policy), memory_(&memory), cells_(cells) {
  for (const Field& f : schema) {
    offsets_.push_back(bytes_);
    row_bytes_.push_back(static_cast<std::size_t>(f.shape.elements()) * size_of(f.dtype));
    bytes_ += aligned(row_bytes_.back());
  }
  if (bytes_ == 0) return;
  if (cells > std::numeric_limits<std::size_t>::max() / 4 / bytes_)
    throw Error(Errc::limit_exceeded, "a window of " + std::to_string(cells) + " samples does not fit any memory");
  data_ = static_cast<std::byte*>(memory_->allocate(bytes_ * cells, Slots::field_alignment));
  for (std::size_t i = 0; i < cells; ++i) cells_[i].row = data_ + i * bytes_;
}

Settle::~Settle() {
  if (data_ != nullptr) memory_->deallocate(data_, bytes_ * cells_.size(), Slots::field_alignment);
}

void Settle::reset(const Cursor& cursor, const QuotaCount& count) noexcept {
  for (SettleCell& c : cells_) {
    c.done.store(false, std::memory_order_relaxed);
    c.vacant.store(true, std::memory_order_relaxed);
    c.made = {};
  }
  settled_.store(0, std::memory_order_relaxed);
  stalled_.store(false, std::memory_order_relaxed);
  halted_.store(false, std::memory_order_relaxed);
  slot_ = nullptr;
  at_ = cursor;
  count_ = count;
  carried_ = {};
}

SettleCell& Settle::take(std::uint64_t number) noexcept {
  SettleCell& c = cell(number);
  c.vacant.store(false, std::memory_order_relaxed);
  c.origin = nullptr;
  c.last = c.decided = c.broken = false;
  c.made = {};
  return c;
}

void Settle::clear(const SettleCell& cell) noexcept {
  for (std::size_t f = 0; f < offsets_.size(); ++f)
    if (row_bytes_[f] != 0) std::memset(cell.row + offsets_[f], 0, row_bytes_[f]);
}

std::size_t Settle::decide(std::span<Move> moves, SettleOutlet& outlet) noexcept {
  std::size_t count = 0;
  while (count < moves.size() && decidable()) {
    const std::uint64_t number = settled_.load(std::memory_order_relaxed);
    SettleCell& c = cell(number);
    bool survives = false;
    if (!decide_one(c, outlet, moves[count], survives)) break;
    c.done.store(false, std::memory_order_relaxed);
    settled_.store(number + 1, std::memory_order_seq_cst);
    if (survives)
      ++count;
    else
      c.vacant.store(true, std::memory_order_seq_cst);
  }
  if (count != 0) kept_.store(kept_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  return count;
}

// False: it has to wait for a slot.
bool Settle::decide_one(SettleCell& cell, SettleOutlet& outlet, Move& move, bool& survives) noexcept {
  // A quota is asked here already: where nothing survives, no batch comes that would ask it.
  const bool too_many = cell.made.bad && exceeds_quota(policy_, {count_.acted + 1, count_.samples + 1});
  const bool ends_run = cell.broken || cell.made.fatal || too_many;
  const bool is_row = cell.made.kept;
  if ((ends_run || is_row) && slot_ == nullptr && !open(outlet)) return false;
  if (cell.last && !ends_run && !outlet.has_room_for_end()) return false;

  const bool drops = !is_row && cell.made.bad.has_value();
  if (cell.made.bad) {
    ++count_.acted;
    note(std::move(*cell.made.bad), false, ends_run);
  }
  if (ends_run) {
    if (cell.made.fatal) note(std::move(*cell.made.fatal), true, true);
    if (cell.broken) slot_->broken.store(true, std::memory_order_relaxed);
    slot_->next = cell.next;
    halted_.store(true, std::memory_order_relaxed);
    close(outlet);
    return true;
  }
  if (is_row || drops) {
    ++count_.samples;
    ++(slot_ != nullptr ? slot_->samples : carried_.samples);
  }
  if (is_row) {
    const std::uint64_t row = slot_->valid++;
    slot_->indices[row] = cell.made.index;
    slot_->mask[row] = cell.made.masked ? 0 : 1;
    slot_->next = cell.next;
    move = {&cell, slot_, row};
    survives = true;
    if (slot_->valid == rows_) close(outlet);
  }
  if (cell.last) end_epoch(cell.next, outlet);
  return true;
}

bool Settle::open(SettleOutlet& outlet) noexcept {
  Slot* const slot = outlet.open_batch();
  if (slot == nullptr) return false;
  slot_ = slot;
  slot->epoch = at_.epoch;
  slot->number = at_.number;
  slot->first = 0;
  slot->valid = 0;
  slot->samples = std::exchange(carried_.samples, 0);
  slot->bad.swap(carried_.bad);
  slot->unlisted = std::exchange(carried_.unlisted, 0);
  slot->broken.store(std::exchange(carried_.broken, false), std::memory_order_relaxed);
  // One more than rows: it can't become ready before all of them are known.
  slot->left.store(static_cast<std::uint32_t>(rows_ + 1), std::memory_order_relaxed);
  return true;
}

void Settle::close(SettleOutlet& outlet) noexcept {
  Slot* const slot = std::exchange(slot_, nullptr);
  std::fill(slot->indices.begin() + static_cast<std::ptrdiff_t>(slot->valid), slot->indices.end(), ~std::uint64_t{0});
  std::fill(slot->mask.begin() + static_cast<std::ptrdiff_t>(slot->valid), slot->mask.end(), std::uint8_t{0});
  slot->rows = tail_ == Tail::pad ? rows_ : slot->valid;
  ++at_.number;
  slot->next.number = slot->next.epoch == at_.epoch ? at_.number : 0;
  outlet.close_batch(*slot);
}

void Settle::end_epoch(const Cursor& next, SettleOutlet& outlet) noexcept {
  if (slot_ != nullptr && tail_ == Tail::drop) {
    Slot* const slot = std::exchange(slot_, nullptr);
    carried_.samples = slot->samples;
    carried_.bad.swap(slot->bad);
    carried_.unlisted = slot->unlisted;
    carried_.broken = slot->broken.load(std::memory_order_relaxed);
    outlet.discard_batch(*slot);
  } else if (slot_ != nullptr) {
    slot_->next = next;
    close(outlet);
  }
  carried_.epoch = at_.epoch;
  outlet.end_epoch(std::exchange(carried_, {}));
  at_ = {at_.epoch + 1, 0, 0, 0};
}

// What failed stands where its sample would have stood. Of many without a survivor between them only the first, and one
// that ends the run, are kept with what they say.
void Settle::note(Error error, bool fatal, bool must) noexcept {
  std::vector<BadSample>& bad = slot_ != nullptr ? slot_->bad : carried_.bad;
  if (bad.size() >= most_listed && !must) {
    ++(slot_ != nullptr ? slot_->unlisted : carried_.unlisted);
    return;
  }
  try {
    bad.push_back({slot_ != nullptr ? slot_->samples : carried_.samples, std::move(error), fatal});
  } catch (...) {
    if (slot_ != nullptr)
      slot_->broken.store(true, std::memory_order_relaxed);
    else
      carried_.broken = true;
  }
}

void Settle::carry_out(const Move& move, const Slots& slots) noexcept {
  for (std::size_t f = 0; f < offsets_.size(); ++f)
    if (row_bytes_[f] != 0) std::memcpy(slots.place(*move.slot, f, move.row), place(*move.cell, f), row_bytes_[f]);
  move.cell->vacant.store(true, std::memory_order_seq_cst);
}

}  // namespace penstock::detail
