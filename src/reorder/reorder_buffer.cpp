#include "reorder/reorder_buffer.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/alignment.hpp"
#include "base/integer_at.hpp"
#include "pipeline/rank_rows.hpp"

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

std::size_t ReorderBuffer::row_bytes(const RowLayout& layout) {
  std::size_t bytes = 0;
  for (const RowField& field : layout.fields()) bytes += aligned(field.row_bytes);
  return bytes;
}

ReorderBuffer::ReorderBuffer(const PipelineData& data, const BatchBounds& bounds, std::size_t entries,
                             MemoryResource& memory, std::uint64_t epochs, std::size_t append_limit)
    : layout_(data.schema),
      bounds_(bounds),
      groups_(data.groups.get()),
      rows_(max_rows_of_rank(data)),
      seed_(data.seed_value()),
      steps_(data.fixed_steps()),
      epochs_(epochs),
      patience_(positions_of_passes(data)),
      most_listed_(max_listed),
      tail_(data.batch->options.tail),
      policy_(data.policy_value()),
      memory_(&memory),
      entries_(entries),
      fill_(bounds.empty()) {
  for (std::size_t f = 0; f < data.schema.size(); ++f) {
    offsets_.push_back(bytes_);
    bytes_ += aligned(layout_[f].row_bytes);
  }
  const std::size_t held = static_cast<std::size_t>(window_rows_of_rank(data)), rows = entries + held;
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
    all_rows_.push_back(std::make_unique<WaitingRow>(append_limit, layout_.varying()));
  for (std::size_t i = 0; i < entries; ++i) entries_[i].row = all_rows_[i].get();
  for (std::size_t i = entries; i < rows; ++i) spare_rows_.push_back(all_rows_[i].get());
  spares_.store(held, std::memory_order_relaxed);
  if (bytes_ == 0) return;
  if (rows > std::numeric_limits<std::size_t>::max() / 4 / bytes_)
    throw Error(Errc::limit_exceeded, "a window of " + std::to_string(rows) + " samples does not fit any memory");
  data_ = static_cast<std::byte*>(memory_->allocate(bytes_ * rows, BatchLayout::field_alignment));
  for (std::size_t i = 0; i < rows; ++i) all_rows_[i]->data = data_ + i * bytes_;
}

ReorderBuffer::~ReorderBuffer() {
  if (data_ != nullptr) memory_->deallocate(data_, bytes_ * all_rows_.size(), BatchLayout::field_alignment);
}

void ReorderBuffer::reset(const Cursor& cursor, const QuotaCount& count) noexcept {
  for (ReorderEntry& c : entries_) {
    c.done.store(false, std::memory_order_relaxed);
    c.vacant.store(true, std::memory_order_relaxed);
    c.outcome = {};
  }
  oldest_.store(0, std::memory_order_relaxed);
  stalled_.store(false, std::memory_order_relaxed);
  halted_.store(false, std::memory_order_relaxed);
  batch_ = nullptr;
  at_ = cursor;
  survived_ = cursor.position;
  count_ = count;
  carried_ = {};
  if (!window_) return;
  window_->reset({steps_ != 0 ? 0 : cursor.epoch, 0, cursor.position, cursor.child}, cursor.part);
  emitting_.store(false, std::memory_order_relaxed);
  emitted_ = 0;
  // Rows may be anywhere: in entries, in the window, on their way.
  for (std::size_t i = 0; i < entries_.size(); ++i) entries_[i].row = all_rows_[i].get();
  spare_rows_.clear();
  for (std::size_t i = entries_.size(); i < all_rows_.size(); ++i) spare_rows_.push_back(all_rows_[i].get());
  spares_.store(spare_rows_.size(), std::memory_order_relaxed);
}

ReorderEntry& ReorderBuffer::take(std::uint64_t number) noexcept {
  ReorderEntry& c = entry(number);
  c.vacant.store(false, std::memory_order_relaxed);
  c.record = nullptr;
  c.last = c.decided = c.skipped = c.broken = false;
  c.outcome = {};
  return c;
}

void ReorderBuffer::clear(const ReorderEntry& entry) noexcept {
  alignas(64) static std::byte nothing{};
  for (std::size_t f = 0; f < offsets_.size(); ++f) {
    const RowField& field = layout_[f];
    std::byte* const out = field.appended() ? &nothing : address(entry, f);
    if (field.row_bytes != 0) fill_padding(field, out, field.row_bytes);
    if (field.kind != RowField::Kind::dense) entry.row->varying[field.varying] = {out, field.empty};
  }
}

void ReorderBuffer::note(const ReorderEntry& entry, std::span<const RaggedRow> varying) noexcept {
  std::copy(varying.begin(), varying.end(), entry.row->varying.begin());
}

std::size_t ReorderBuffer::retire(std::span<Move> moves, BatchOutlet& outlet) noexcept {
  std::size_t count = 0;
  while (count < moves.size() && can_retire()) {
    bool survives = false;
    if (window_ && !window_->collecting()) {
      if (!emit(outlet, moves[count], survives)) break;
      if (survives) ++count;
      continue;
    }
    const std::uint64_t number = oldest_.load(std::memory_order_relaxed);
    ReorderEntry& c = entry(number);
    if (!retire_one(c, outlet, moves[count], survives)) break;
    c.done.store(false, std::memory_order_relaxed);
    oldest_.store(number + 1, std::memory_order_seq_cst);
    if (survives)
      ++count;
    else
      c.vacant.store(true, std::memory_order_seq_cst);
  }
  if (count != 0) kept_.store(kept_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  return count;
}

// Where nothing is left of so many records, nothing more may ever come.
void ReorderBuffer::check_pass(ReorderEntry& entry) noexcept {
  if (steps_ == 0 || entry.outcome.fatal) return;
  if (entry.outcome.kept) survived_ = entry.next.position;
  if (entry.next.position <= survived_ + patience_) return;
  try {
    entry.outcome.fatal =
        Error(Errc::invalid_argument,
              "nothing was left of eight times as many records, one after the other, as there are in "
              "the data, so `steps_per_epoch` batches may never come; look at what the filters keep, and "
              "at the samples that were dropped")
            .with_stage("shard");
  } catch (...) {  // no memory even to say so
    entry.broken = true;
  }
}

// False: it has to wait for a buffer.
bool ReorderBuffer::retire_one(ReorderEntry& entry, BatchOutlet& outlet, Move& move, bool& survives) noexcept {
  check_pass(entry);
  const bool again = window_ && window_->again();
  // A quota is asked here already: where nothing survives, no batch comes that would ask it.
  const bool too_many = entry.outcome.bad && !again && exceeds_quota(policy_, {count_.acted + 1, count_.samples + 1});
  const bool ends_run = entry.broken || entry.outcome.fatal || too_many;
  const bool is_row = entry.outcome.kept;
  if (is_row && !ends_run && !window_ && batch_ != nullptr && !admits(entry)) close(outlet);
  if ((ends_run || (is_row && !window_)) && batch_ == nullptr && !open(outlet)) return false;
  if (entry.last && !ends_run && !window_ && !outlet.has_room_for_end()) return false;

  const bool drops = !is_row && entry.outcome.bad.has_value();
  if (entry.outcome.bad && !again) {
    ++count_.acted;
    note_bad(std::move(*entry.outcome.bad), false, ends_run);
  }
  if (ends_run) {
    if (entry.outcome.fatal) note_bad(std::move(*entry.outcome.fatal), true, true);
    if (entry.broken) batch_->broken.store(true, std::memory_order_relaxed);
    batch_->next = entry.next;
    halted_.store(true, std::memory_order_relaxed);
    close(outlet);
    return true;
  }
  if ((is_row || drops || entry.skipped) && !again) {
    ++count_.samples;
    ++(batch_ != nullptr ? batch_->samples : carried_.samples);
  }
  if (entry.skipped) ++(batch_ != nullptr ? batch_->skipped : carried_.skipped);
  if (entry.outcome.filtered) ++(batch_ != nullptr ? batch_->filtered : carried_.filtered);
  if (window_) {
    if (is_row) keep(entry);
    if (window_->full() || entry.last) {
      window_->cut(seed_, entry.next, entry.last);
      emitting_.store(true, std::memory_order_seq_cst);
    }
    return true;
  }
  // What was told with a batch must not be looked at again after it.
  if (batch_ != nullptr) batch_->next = entry.next;
  if (is_row) {
    if (bounds_.counts_sizes()) bounds_.add(fill_, entry.row->varying);
    if (groups_ != nullptr && batch_->valid == 0) {
      group_ = groups_->group_of(entry.index);
      pass_ = entry.place.epoch;
    }
    put({entry.row, {}, entry.outcome.index, entry.outcome.masked, 0}, &entry, move);
    survives = true;
    if (batch_->valid == rows_ || bounds_.enough(fill_)) close(outlet);
  }
  if (entry.last) end_epoch(entry.next, outlet);
  return true;
}

// Into the batch that is being filled.
bool ReorderBuffer::admits(const ReorderEntry& entry) const noexcept {
  if (groups_ != nullptr && batch_->valid != 0 &&
      (groups_->group_of(entry.index) != group_ || entry.place.epoch != pass_))
    return false;
  return !bounds_.by_size() || bounds_.admits(fill_, entry.row->varying);
}

void ReorderBuffer::put(const Survivor& kept, ReorderEntry* entry, Move& move) noexcept {
  const std::uint64_t row = batch_->valid++;
  batch_->indices[row] = kept.index;
  batch_->mask[row] = kept.masked ? 0 : 1;
  if (entry != nullptr && !batch_->places.empty()) batch_->places[row] = {entry->position, entry->place.child};
  move = {kept.row, entry, batch_, row};
}

// Into the window; the entry gets another row for the sample that comes next.
void ReorderBuffer::keep(ReorderEntry& entry) noexcept {
  window_->add({entry.row, entry.row->varying, entry.outcome.index, entry.outcome.masked,
                entry.outcome.masked ? 0 : length_of(entry)});
  const std::lock_guard lock(spare_mutex_);
  entry.row = spare_rows_.back();
  spare_rows_.pop_back();
  spares_.fetch_sub(1, std::memory_order_seq_cst);
}

void ReorderBuffer::spare(WaitingRow* row) noexcept {
  const std::lock_guard lock(spare_mutex_);
  spare_rows_.push_back(row);
  spares_.fetch_add(1, std::memory_order_seq_cst);
}

std::int64_t ReorderBuffer::length_of(const ReorderEntry& entry) const noexcept {
  const RowField& field = layout_[length_field_];
  if (length_rank_ != 0)
    return field.kind == RowField::Kind::dense ? fixed_length_ : entry.row->varying[field.varying].shape[0];
  const std::int64_t length = integer_at(length_dtype_, address(entry, length_field_));
  return length_dtype_ == DType::u64 && length < 0 ? std::numeric_limits<std::int64_t>::max() : length;
}

// One row of the window to its batch, or one step towards it. False: it has to wait for a buffer.
bool ReorderBuffer::emit(BatchOutlet& outlet, Move& move, bool& moves) noexcept {
  BucketWindow& window = *window_;
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
  if (batch_ == nullptr && !open(outlet)) return false;
  put(window[batch[emitted_]], nullptr, move);
  moves = true;
  if (++emitted_ == batch.size()) {
    batch_->next = window.cursor_after();
    close(outlet);
    window.next_batch();
    emitted_ = 0;
  }
  return true;
}

bool ReorderBuffer::open(BatchOutlet& outlet) noexcept {
  if (halted_.load(std::memory_order_relaxed)) return false;
  if (steps_ != 0 && at_.number + 1 == steps_ && !outlet.has_room_for_end()) return false;
  BatchBuffer* const buffer = outlet.open_batch();
  if (buffer == nullptr) return false;
  batch_ = buffer;
  BatchBounds::clear(fill_);
  buffer->epoch = at_.epoch;
  buffer->number = at_.number;
  buffer->first = 0;
  buffer->valid = 0;
  buffer->samples = std::exchange(carried_.samples, 0);
  buffer->filtered = std::exchange(carried_.filtered, 0);
  buffer->skipped = std::exchange(carried_.skipped, 0);
  buffer->bad.swap(carried_.bad);
  buffer->unlisted = std::exchange(carried_.unlisted, 0);
  buffer->broken.store(std::exchange(carried_.broken, false), std::memory_order_relaxed);
  // One more than rows: it can't become ready before all of them are known.
  buffer->left.store(static_cast<std::uint32_t>(rows_ + 1), std::memory_order_relaxed);
  return true;
}

void ReorderBuffer::close(BatchOutlet& outlet) noexcept {
  BatchBuffer* const buffer = std::exchange(batch_, nullptr);
  buffer->rows = tail_ == Tail::pad ? rows_ : buffer->valid;
  for (std::uint64_t row = buffer->valid; row < buffer->rows; ++row) {
    buffer->indices[row] = ~std::uint64_t{0};
    buffer->mask[row] = 0;
  }
  ++at_.number;
  if (steps_ == 0) {
    buffer->next.number = buffer->next.epoch == at_.epoch ? at_.number : 0;
    return outlet.close_batch(*buffer);
  }
  if (!window_) survived_ = std::max(survived_, buffer->next.position);
  const std::uint64_t epoch = at_.epoch;
  const bool ends = at_.number == steps_;
  if (ends) at_ = {epoch + 1, 0, 0, 0};
  buffer->next.epoch = at_.epoch;
  buffer->next.number = at_.number;
  outlet.close_batch(*buffer);
  if (!ends) return;
  if (epochs_ != 0 && at_.epoch >= epochs_) halted_.store(true, std::memory_order_relaxed);
  carried_.epoch = epoch;
  outlet.end_epoch(std::exchange(carried_, {}));
}

void ReorderBuffer::end_epoch(const Cursor& next, BatchOutlet& outlet) noexcept {
  if (batch_ != nullptr && tail_ == Tail::drop) {
    BatchBuffer* const buffer = std::exchange(batch_, nullptr);
    carried_.samples = buffer->samples;
    carried_.filtered = buffer->filtered;
    carried_.skipped = buffer->skipped;
    carried_.bad.swap(buffer->bad);
    carried_.unlisted = buffer->unlisted;
    carried_.broken = buffer->broken.load(std::memory_order_relaxed);
    outlet.discard_batch(*buffer);
  } else if (batch_ != nullptr) {
    batch_->next = next;
    close(outlet);
  }
  carried_.epoch = at_.epoch;
  outlet.end_epoch(std::exchange(carried_, {}));
  at_ = {at_.epoch + 1, 0, 0, 0};
}

// What failed stands where its sample would have stood. Of many without a survivor between them only the first, and one
// that ends the run, are kept with what they say.
void ReorderBuffer::note_bad(Error error, bool fatal, bool must) noexcept {
  std::vector<BadSample>& bad = batch_ != nullptr ? batch_->bad : carried_.bad;
  if (bad.size() >= most_listed_ && !must) {
    ++(batch_ != nullptr ? batch_->unlisted : carried_.unlisted);
    return;
  }
  try {
    bad.push_back({batch_ != nullptr ? batch_->samples : carried_.samples, std::move(error), fatal});
  } catch (...) {
    if (batch_ != nullptr)
      batch_->broken.store(true, std::memory_order_relaxed);
    else
      carried_.broken = true;
  }
}

void ReorderBuffer::copy_row(const Move& move, const BatchRing& ring) noexcept {
  std::size_t appended = 0;
  for (std::size_t f = 0; f < offsets_.size(); ++f) {
    const RowField& field = layout_[f];
    if (field.appended()) {
      appended += append(move, ring, f);
      continue;
    }
    std::byte* const to = ring.address(*move.buffer, f, move.row);
    if (field.row_bytes != 0) std::memcpy(to, move.from->data + offsets_[f], field.row_bytes);
    if (field.kind == RowField::Kind::padded)
      ring.layout().note(*move.buffer, f, move.row, to, move.from->varying[field.varying].shape);
  }
  if (layout_.appends()) {
    appended_.fetch_add(appended, std::memory_order_relaxed);
    if (appended > max_appended()) max_appended_.store(appended, std::memory_order_relaxed);
  }
  if (move.entry != nullptr)
    move.entry->vacant.store(true, std::memory_order_seq_cst);
  else
    spare(move.from);
}

std::size_t ReorderBuffer::append(const Move& move, const BatchRing& ring, std::size_t field) noexcept {
  const RowField& how = layout_[field];
  const RaggedRow& row = move.from->varying[how.varying];
  const auto bytes = static_cast<std::size_t>(row_bytes_of(row, how.element));
  try {
    std::byte* const to = move.buffer->arena.append(bytes);
    if (bytes != 0) std::memcpy(to, row.data, bytes);
    ring.layout().note(*move.buffer, field, move.row, to, row.shape);
  } catch (...) {
    BatchRing::note_overflow(*move.buffer);
    ring.layout().note(*move.buffer, field, move.row, nullptr, how.empty);
  }
  return bytes;
}

}  // namespace penstock::detail
