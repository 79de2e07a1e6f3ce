#include "reorder/settle.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/alignment.hpp"
#include "base/integer_at.hpp"

namespace penstock::detail {

namespace {

// Among which a rank has `passes` times as many as there are records. What comes early in one pass may come late in the
// next, and to another rank: of k records that are kept, chance gives a rank none of so many with e^(-passes k).
std::uint64_t positions_of_passes(const PipelineData& data) noexcept {
  constexpr std::uint64_t passes = 8, most = std::uint64_t{1} << 62;
  const auto world = static_cast<std::uint64_t>(data.shard_value().world);
  return (data.size > most / world / passes ? most : passes * data.size * world) + world;
}

}  // namespace

std::size_t Settle::row_bytes(const RowLayout& layout) {
  std::size_t bytes = 0;
  for (const RowField& field : layout.fields()) bytes += aligned(field.row_bytes);
  return bytes;
}

Settle::Settle(const PipelineData& data, const BatchBounds& bounds, std::size_t cells, MemoryResource& memory,
               std::uint64_t epochs, std::size_t append_limit)
    : layout_(data.schema),
      bounds_(bounds),
      rows_(data.most_rows()),
      seed_(data.seed_value()),
      steps_(data.fixed_steps()),
      epochs_(epochs),
      patience_(positions_of_passes(data)),
      tail_(data.batch->options.tail),
      policy_(data.policy_value()),
      memory_(&memory),
      cells_(cells),
      fill_(bounds.empty()) {
  for (std::size_t f = 0; f < data.schema.size(); ++f) {
    offsets_.push_back(bytes_);
    bytes_ += aligned(layout_[f].row_bytes);
  }
  const std::size_t held = static_cast<std::size_t>(data.window_rows()), rows = cells + held;
  if (data.bucket) {
    length_field_ = data.schema.slot(data.bucket->field);
    length_dtype_ = data.schema[length_field_].dtype;
    length_rank_ = data.schema[length_field_].shape.rank();
    if (length_rank_ != 0) fixed_length_ = data.schema[length_field_].shape[0];
    window_.emplace(held, tail_, bounds_);
    spare_rows_.reserve(rows);
  }
  all_rows_.reserve(rows);
  for (std::size_t i = 0; i < rows; ++i)
    all_rows_.push_back(std::make_unique<SettleRow>(append_limit, layout_.varying()));
  for (std::size_t i = 0; i < cells; ++i) cells_[i].row = all_rows_[i].get();
  for (std::size_t i = cells; i < rows; ++i) spare_rows_.push_back(all_rows_[i].get());
  spares_.store(held, std::memory_order_relaxed);
  if (bytes_ == 0) return;
  if (rows > std::numeric_limits<std::size_t>::max() / 4 / bytes_)
    throw Error(Errc::limit_exceeded, "a window of " + std::to_string(rows) + " samples does not fit any memory");
  data_ = static_cast<std::byte*>(memory_->allocate(bytes_ * rows, BatchLayout::field_alignment));
  for (std::size_t i = 0; i < rows; ++i) all_rows_[i]->data = data_ + i * bytes_;
}

Settle::~Settle() {
  if (data_ != nullptr) memory_->deallocate(data_, bytes_ * all_rows_.size(), BatchLayout::field_alignment);
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
  survived_ = cursor.position;
  count_ = count;
  carried_ = {};
  if (!window_) return;
  window_->reset({steps_ != 0 ? 0 : cursor.epoch, 0, cursor.position, cursor.child}, cursor.part);
  emitting_.store(false, std::memory_order_relaxed);
  emitted_ = 0;
  // Rows may be anywhere: in cells, in the window, on their way.
  for (std::size_t i = 0; i < cells_.size(); ++i) cells_[i].row = all_rows_[i].get();
  spare_rows_.clear();
  for (std::size_t i = cells_.size(); i < all_rows_.size(); ++i) spare_rows_.push_back(all_rows_[i].get());
  spares_.store(spare_rows_.size(), std::memory_order_relaxed);
}

SettleCell& Settle::take(std::uint64_t number) noexcept {
  SettleCell& c = cell(number);
  c.vacant.store(false, std::memory_order_relaxed);
  c.origin = nullptr;
  c.last = c.decided = c.skipped = c.broken = false;
  c.made = {};
  return c;
}

void Settle::clear(const SettleCell& cell) noexcept {
  alignas(64) static std::byte nothing{};
  for (std::size_t f = 0; f < offsets_.size(); ++f) {
    const RowField& field = layout_[f];
    std::byte* const out = field.appended() ? &nothing : place(cell, f);
    if (field.row_bytes != 0) fill_padding(field, out, field.row_bytes);
    if (field.kind != RowField::Kind::dense) cell.row->varying[field.varying] = {out, field.empty};
  }
}

void Settle::note(const SettleCell& cell, std::span<const RaggedRow> varying) noexcept {
  std::copy(varying.begin(), varying.end(), cell.row->varying.begin());
}

std::size_t Settle::decide(std::span<Move> moves, SettleOutlet& outlet) noexcept {
  std::size_t count = 0;
  while (count < moves.size() && decidable()) {
    bool survives = false;
    if (window_ && !window_->collecting()) {
      if (!emit(outlet, moves[count], survives)) break;
      if (survives) ++count;
      continue;
    }
    const std::uint64_t number = settled_.load(std::memory_order_relaxed);
    SettleCell& c = cell(number);
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

// Where nothing is left of so many records, nothing more may ever come.
void Settle::check_pass(SettleCell& cell) noexcept {
  if (steps_ == 0 || cell.made.fatal) return;
  if (cell.made.kept) survived_ = cell.next.position;
  if (cell.next.position <= survived_ + patience_) return;
  try {
    cell.made.fatal = Error(Errc::invalid_argument,
                            "nothing was left of eight times as many records, one behind the other, as there are in "
                            "the data, so `steps_per_epoch` batches may never come; look at what the filters keep, and "
                            "at the samples that were dropped")
                          .with_stage("shard");
  } catch (...) {  // no memory even to say so
    cell.broken = true;
  }
}

// False: it has to wait for a slot.
bool Settle::decide_one(SettleCell& cell, SettleOutlet& outlet, Move& move, bool& survives) noexcept {
  check_pass(cell);
  const bool again = window_ && window_->again();
  // A quota is asked here already: where nothing survives, no batch comes that would ask it.
  const bool too_many = cell.made.bad && !again && exceeds_quota(policy_, {count_.acted + 1, count_.samples + 1});
  const bool ends_run = cell.broken || cell.made.fatal || too_many;
  const bool is_row = cell.made.kept;
  if (is_row && !ends_run && !window_ && slot_ != nullptr && bounds_.by_size() &&
      !bounds_.admits(fill_, cell.row->varying))
    close(outlet);
  if ((ends_run || (is_row && !window_)) && slot_ == nullptr && !open(outlet)) return false;
  if (cell.last && !ends_run && !window_ && !outlet.has_room_for_end()) return false;

  const bool drops = !is_row && cell.made.bad.has_value();
  if (cell.made.bad && !again) {
    ++count_.acted;
    note_bad(std::move(*cell.made.bad), false, ends_run);
  }
  if (ends_run) {
    if (cell.made.fatal) note_bad(std::move(*cell.made.fatal), true, true);
    if (cell.broken) slot_->broken.store(true, std::memory_order_relaxed);
    slot_->next = cell.next;
    halted_.store(true, std::memory_order_relaxed);
    close(outlet);
    return true;
  }
  if ((is_row || drops || cell.skipped) && !again) {
    ++count_.samples;
    ++(slot_ != nullptr ? slot_->samples : carried_.samples);
  }
  if (cell.skipped) ++(slot_ != nullptr ? slot_->skipped : carried_.skipped);
  if (cell.made.filtered) ++(slot_ != nullptr ? slot_->filtered : carried_.filtered);
  if (window_) {
    if (is_row) keep(cell);
    if (window_->full() || cell.last) {
      window_->cut(seed_, cell.next, cell.last);
      emitting_.store(true, std::memory_order_seq_cst);
    }
    return true;
  }
  // What was told with a batch must not be looked at again behind it.
  if (slot_ != nullptr) slot_->next = cell.next;
  if (is_row) {
    if (bounds_.counts_sizes()) bounds_.add(fill_, cell.row->varying);
    put({cell.row, {}, cell.made.index, cell.made.masked, 0}, &cell, move);
    survives = true;
    if (slot_->valid == rows_ || bounds_.enough(fill_)) close(outlet);
  }
  if (cell.last) end_epoch(cell.next, outlet);
  return true;
}

void Settle::put(const Kept& kept, SettleCell* cell, Move& move) noexcept {
  const std::uint64_t row = slot_->valid++;
  slot_->indices[row] = kept.index;
  slot_->mask[row] = kept.masked ? 0 : 1;
  if (cell != nullptr && !slot_->places.empty()) slot_->places[row] = {cell->position, cell->place.child};
  move = {kept.row, cell, slot_, row};
}

// Into the window; the cell gets another row for the sample that comes next.
void Settle::keep(SettleCell& cell) noexcept {
  window_->add(
      {cell.row, cell.row->varying, cell.made.index, cell.made.masked, cell.made.masked ? 0 : length_of(cell)});
  const std::lock_guard lock(spare_mutex_);
  cell.row = spare_rows_.back();
  spare_rows_.pop_back();
  spares_.fetch_sub(1, std::memory_order_seq_cst);
}

void Settle::spare(SettleRow* row) noexcept {
  const std::lock_guard lock(spare_mutex_);
  spare_rows_.push_back(row);
  spares_.fetch_add(1, std::memory_order_seq_cst);
}

std::int64_t Settle::length_of(const SettleCell& cell) const noexcept {
  const RowField& field = layout_[length_field_];
  if (length_rank_ != 0)
    return field.kind == RowField::Kind::dense ? fixed_length_ : cell.row->varying[field.varying].shape[0];
  const std::int64_t length = integer_at(length_dtype_, place(cell, length_field_));
  return length_dtype_ == DType::u64 && length < 0 ? std::numeric_limits<std::int64_t>::max() : length;
}

// One row of the window to its batch, or one step towards it. False: it has to wait for a slot.
bool Settle::emit(SettleOutlet& outlet, Move& move, bool& moves) noexcept {
  Window& window = *window_;
  if (!window.has_batch()) {
    if (window.last() && !outlet.has_room_for_end()) return false;
    for (const std::uint32_t row : window.left_over()) spare(window[row].row);
    if (window.last()) end_epoch(window.next(), outlet);
    emitting_.store(false, std::memory_order_seq_cst);
    window.begin_next();
    return true;
  }
  const std::span<const std::uint32_t> batch = window.batch();
  if (window.skips()) {
    for (const std::uint32_t row : batch) spare(window[row].row);
    window.next_batch();
    return true;
  }
  if (slot_ == nullptr && !open(outlet)) return false;
  put(window[batch[emitted_]], nullptr, move);
  moves = true;
  if (++emitted_ == batch.size()) {
    slot_->next = window.behind();
    close(outlet);
    window.next_batch();
    emitted_ = 0;
  }
  return true;
}

bool Settle::open(SettleOutlet& outlet) noexcept {
  if (halted_.load(std::memory_order_relaxed)) return false;
  if (steps_ != 0 && at_.number + 1 == steps_ && !outlet.has_room_for_end()) return false;
  Slot* const slot = outlet.open_batch();
  if (slot == nullptr) return false;
  slot_ = slot;
  BatchBounds::clear(fill_);
  slot->epoch = at_.epoch;
  slot->number = at_.number;
  slot->first = 0;
  slot->valid = 0;
  slot->samples = std::exchange(carried_.samples, 0);
  slot->filtered = std::exchange(carried_.filtered, 0);
  slot->skipped = std::exchange(carried_.skipped, 0);
  slot->bad.swap(carried_.bad);
  slot->unlisted = std::exchange(carried_.unlisted, 0);
  slot->broken.store(std::exchange(carried_.broken, false), std::memory_order_relaxed);
  // One more than rows: it can't become ready before all of them are known.
  slot->left.store(static_cast<std::uint32_t>(rows_ + 1), std::memory_order_relaxed);
  return true;
}

void Settle::close(SettleOutlet& outlet) noexcept {
  Slot* const slot = std::exchange(slot_, nullptr);
  slot->rows = tail_ == Tail::pad ? rows_ : slot->valid;
  for (std::uint64_t row = slot->valid; row < slot->rows; ++row) {
    slot->indices[row] = ~std::uint64_t{0};
    slot->mask[row] = 0;
  }
  ++at_.number;
  if (steps_ == 0) {
    slot->next.number = slot->next.epoch == at_.epoch ? at_.number : 0;
    return outlet.close_batch(*slot);
  }
  if (!window_) survived_ = std::max(survived_, slot->next.position);
  const std::uint64_t epoch = at_.epoch;
  const bool ends = at_.number == steps_;
  if (ends) at_ = {epoch + 1, 0, 0, 0};
  slot->next.epoch = at_.epoch;
  slot->next.number = at_.number;
  outlet.close_batch(*slot);
  if (!ends) return;
  if (epochs_ != 0 && at_.epoch >= epochs_) halted_.store(true, std::memory_order_relaxed);
  carried_.epoch = epoch;
  outlet.end_epoch(std::exchange(carried_, {}));
}

void Settle::end_epoch(const Cursor& next, SettleOutlet& outlet) noexcept {
  if (slot_ != nullptr && tail_ == Tail::drop) {
    Slot* const slot = std::exchange(slot_, nullptr);
    carried_.samples = slot->samples;
    carried_.filtered = slot->filtered;
    carried_.skipped = slot->skipped;
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
void Settle::note_bad(Error error, bool fatal, bool must) noexcept {
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
  std::size_t appended = 0;
  for (std::size_t f = 0; f < offsets_.size(); ++f) {
    const RowField& field = layout_[f];
    if (field.appended()) {
      appended += append(move, slots, f);
      continue;
    }
    std::byte* const to = slots.place(*move.slot, f, move.row);
    if (field.row_bytes != 0) std::memcpy(to, move.from->data + offsets_[f], field.row_bytes);
    if (field.kind == RowField::Kind::padded)
      slots.layout().note(*move.slot, f, move.row, to, move.from->varying[field.varying].shape);
  }
  if (layout_.appends()) {
    appended_.fetch_add(appended, std::memory_order_relaxed);
    if (appended > most_appended()) most_appended_.store(appended, std::memory_order_relaxed);
  }
  if (move.cell != nullptr)
    move.cell->vacant.store(true, std::memory_order_seq_cst);
  else
    spare(move.from);
}

std::size_t Settle::append(const Move& move, const Slots& slots, std::size_t field) noexcept {
  const RowField& how = layout_[field];
  const RaggedRow& row = move.from->varying[how.varying];
  const auto bytes = static_cast<std::size_t>(row_bytes_of(row, how.element));
  try {
    std::byte* const to = move.slot->arena.append(bytes);
    if (bytes != 0) std::memcpy(to, row.data, bytes);
    slots.layout().note(*move.slot, field, move.row, to, row.shape);
  } catch (...) {
    Slots::note_overflow(*move.slot);
    slots.layout().note(*move.slot, field, move.row, nullptr, how.empty);
  }
  return bytes;
}

}  // namespace penstock::detail
