// SPDX-License-Identifier: Apache-2.0
#include "reorder/reorder_buffer.hpp"

#include <algorithm>
#include <utility>

#include <penstock/error.hpp>

#include "pipeline/rank_rows.hpp"

namespace penstock::detail::runtime {

namespace {

// Returns a number of positions, counted over all ranks. Each rank has `passes` times as many of these positions as
// there are records. One pass is not enough, because a record that is early in one pass may be late in the next pass,
// and at a different rank. If filters keep k records, and each pass is shuffled, the probability that a rank gets none
// of the k records in these positions is about e^(-passes k).
std::uint64_t positions_of_passes(const PipelineData& data) noexcept {
  constexpr std::uint64_t passes = 8, most = std::uint64_t{1} << 62;
  const auto world = static_cast<std::uint64_t>(data.rank_value().world);
  return (data.size > most / world / passes ? most : passes * data.size * world) + world;
}

}  // namespace

ReorderBuffer::ReorderBuffer(const PipelineData& data, const BatchBounds& bounds, std::size_t entries,
                             MemoryResource& memory, BatchOutlet& outlet, std::uint64_t epochs,
                             std::size_t append_limit)
    : seed_(data.seed_value()),
      fixed_steps_(data.fixed_steps() != 0),
      stream_(data.source != nullptr && data.source->is_stream()),
      patience_(positions_of_passes(data)),
      policy_(data.policy_value()),
      outlet_(outlet),
      data_(data),
      memory_(memory),
      append_limit_(append_limit),
      rows_(make_rows(entries)),
      filler_(data, bounds, outlet, epochs),
      entries_(entries) {
  for (std::size_t i = 0; i < entries; ++i) entries_[i].row = &(*rows_)[i];
  if (!data.bucket) return;
  length_.emplace(data.schema, data.bucket->field);
  window_.emplace(window_rows_of_rank(data), data.batch->options.tail, bounds);
}

std::unique_ptr<WaitingRows> ReorderBuffer::make_rows(std::size_t entries) const {
  return std::make_unique<WaitingRows>(data_.made(), entries, static_cast<std::size_t>(window_rows_of_rank(data_)),
                                       memory_, append_limit_);
}

void ReorderBuffer::prepare(std::size_t entries) {
  free_replaced();
  if (entries == size()) return;
  other_entries_ = std::vector<ReorderEntry>(entries);
  other_rows_ = make_rows(entries);
}

void ReorderBuffer::free_replaced() noexcept {
  other_rows_.reset();
  std::vector<ReorderEntry>().swap(other_entries_);
}

void ReorderBuffer::resize() noexcept {
  if (other_rows_ == nullptr) return;
  appended_before_ += rows_->appended_bytes();
  entries_.swap(other_entries_);
  rows_.swap(other_rows_);
  for (std::size_t i = 0; i < entries_.size(); ++i) entries_[i].row = &(*rows_)[i];
}

void ReorderBuffer::reset(const Cursor& cursor, const QuotaCount& count) noexcept {
  for (ReorderEntry& c : entries_) {
    c.done.store(false, std::memory_order_relaxed);
    c.vacant.store(true, std::memory_order_relaxed);
    c.outcome = {};
  }
  oldest_.store(0, std::memory_order_relaxed);
  halted_.store(false, std::memory_order_relaxed);
  filler_.reset(cursor);
  survived_ = cursor.position;
  failed_in_row_ = cursor.failed_in_row;
  count_ = count;
  if (!window_) return;
  window_->reset({fixed_steps_ ? 0 : cursor.epoch, 0, cursor.position, cursor.child, 0, cursor.failed_in_row},
                 cursor.window_batches);
  emitting_.store(false, std::memory_order_relaxed);
  emitted_ = 0;
  // Takes back all rows. Before this call, a row may be in an entry, in the window, or on its way to a batch.
  rows_->reset();
  for (std::size_t i = 0; i < entries_.size(); ++i) entries_[i].row = &(*rows_)[i];
}

ReorderEntry& ReorderBuffer::take(std::uint64_t number) noexcept {
  ReorderEntry& c = entry(number);
  c.vacant.store(false, std::memory_order_relaxed);
  c.record = nullptr;
  c.last = c.decided = c.skipped = c.broken = c.no_record = false;
  c.outcome = {};
  return c;
}

void ReorderBuffer::note(const ReorderEntry& entry, std::span<const RaggedRow> varying) noexcept {
  std::copy(varying.begin(), varying.end(), entry.row->varying.begin());
}

std::size_t ReorderBuffer::retire(std::span<Move> moves) noexcept {
  std::size_t count = 0;
  while (count < moves.size() && can_retire()) {
    if (window_ && !window_->collecting()) {
      const RetireResult emitted = emit(moves[count]);
      if (emitted == RetireResult::waits) break;
      if (emitted == RetireResult::moves) ++count;
      continue;
    }
    const std::uint64_t number = oldest_.load(std::memory_order_relaxed);
    ReorderEntry& c = entry(number);
    const RetireResult retired = retire_one(c, moves[count]);
    if (retired == RetireResult::waits) break;
    c.done.store(false, std::memory_order_relaxed);
    oldest_.store(number + 1, std::memory_order_seq_cst);
    if (retired == RetireResult::moves)
      ++count;
    else
      c.vacant.store(true, std::memory_order_seq_cst);
  }
  if (count != 0) kept_.store(kept_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  return count;
}

// Ends a run with `steps_per_epoch` if no record was kept in `patience_` positions, because then perhaps no record will
// ever be kept.
void ReorderBuffer::check_pass(ReorderEntry& entry) noexcept {
  if (!fixed_steps_ || entry.outcome.fatal) return;
  if (entry.outcome.kept) survived_ = entry.next.position;
  if (entry.next.position <= survived_ + patience_) return;
  try {
    entry.outcome.fatal =
        Error(Errc::invalid_argument,
              "nothing was left of eight times as many records, one after the other, as there are in "
              "the data, so `steps_per_epoch` batches may never come; look at what the filters keep, and "
              "at the samples that were dropped")
            .with_stage("for_rank");
  } catch (...) {  // no memory even for the error
    entry.broken = true;
  }
}

// Ends the run if more than `max_in_row` consecutive samples of a stream fail. Without this check, an endless stream of
// which all samples fail would never report the errors, because no batch would come.
void ReorderBuffer::check_row(ReorderEntry& entry) noexcept {
  if (!stream_ || entry.outcome.fatal) return;
  // `failed_in_row_` is set only when the entry is retired, because an entry that must wait is checked again.
  const std::uint64_t failed = entry.outcome.bad ? failed_in_row_ + 1 : entry.no_record ? failed_in_row_ : 0;
  entry.next.failed_in_row = entry.last && !fixed_steps_ ? 0 : failed;
  if (failed <= policy_.max_in_row) return;
  try {
    entry.outcome.fatal =
        error_at(*entry.outcome.bad, Errc::quota_exceeded,
                 std::to_string(failed) +
                     " samples of the stream failed one after the other, more than on_error allows (max_in_row " +
                     std::to_string(policy_.max_in_row) + "); the last one: " + entry.outcome.bad->cause());
  } catch (...) {  // no memory even for the error
    entry.broken = true;
  }
}

// Returns whether the entry ends the run, by a failure or because too many samples are bad. The quota for bad samples
// is also checked when a batch is delivered. But if no sample survives, no batch is delivered.
bool ReorderBuffer::ends_run(const ReorderEntry& entry) const noexcept {
  const bool too_many =
      entry.outcome.bad && !told_before() && exceeds_quota(policy_, {count_.acted + 1, count_.samples + 1});
  return entry.broken || entry.outcome.fatal || too_many;
}

ReorderBuffer::RetireResult ReorderBuffer::retire_one(ReorderEntry& entry, Move& move) noexcept {
  check_pass(entry);
  check_row(entry);
  const bool ends = ends_run(entry), survives = entry.outcome.kept && !ends;
  if (!make_room(entry, ends)) return RetireResult::waits;
  tally(entry, ends);
  if (ends) {
    end_run(entry);
    return RetireResult::leaves;
  }
  if (window_) {
    if (survives) keep(entry);
    if (window_->full() || entry.last) {
      window_->cut(seed_, entry.next, entry.last);
      emitting_.store(true, std::memory_order_seq_cst);
    }
    return RetireResult::leaves;
  }
  filler_.advance(entry.next);
  if (survives) put_in_batch(entry, move);
  if (entry.last) filler_.end_epoch(entry.next);
  return survives ? RetireResult::moves : RetireResult::leaves;
}

// Closes the open batch if it does not admit the entry's row. Opens a batch if the entry needs one. Returns false if
// the entry must wait for a buffer, or for room for its epoch's end.
bool ReorderBuffer::make_room(const ReorderEntry& entry, bool ends_run) noexcept {
  const bool is_row = entry.outcome.kept && !window_;
  if (is_row && !ends_run && filler_.batch() != nullptr && !filler_.admits(item_of(entry))) close();
  if ((ends_run || is_row) && filler_.batch() == nullptr && !open()) return false;
  return !entry.last || ends_run || window_ || outlet_.has_room_for_end();
}

void ReorderBuffer::tally(ReorderEntry& entry, bool ends_run) noexcept {
  failed_in_row_ = entry.next.failed_in_row;
  const bool again = told_before();
  const bool counts = entry.outcome.kept || entry.outcome.bad || entry.skipped;
  if (entry.outcome.bad && !again) {
    ++count_.acted;
    filler_.note_bad(std::move(*entry.outcome.bad), false, ends_run);
  }
  if (ends_run) return;
  if (counts && !again) {
    ++count_.samples;
    ++filler_.tally().samples;
  }
  if (entry.skipped) ++filler_.tally().skipped;
  if (entry.outcome.filtered) ++filler_.tally().filtered;
}

// Ends the run. Closes the open batch, which has the samples before the entry, and reports the entry's error with it.
// The samples of an incomplete bucket window are not delivered.
void ReorderBuffer::end_run(ReorderEntry& entry) noexcept {
  if (entry.outcome.fatal) filler_.note_bad(std::move(*entry.outcome.fatal), true, true);
  if (entry.broken) filler_.tally().unreported = true;
  filler_.advance(entry.next);
  halted_.store(true, std::memory_order_relaxed);
  close();
}

void ReorderBuffer::put_in_batch(ReorderEntry& entry, Move& move) noexcept {
  filler_.count(item_of(entry));
  BatchBuffer* const batch = filler_.batch();
  const std::uint64_t row =
      filler_.put({entry.outcome.index, entry.outcome.masked, {entry.position, entry.place.child}, entry.place});
  move = {entry.row, &entry, batch, row};
  if (filler_.full()) close();
}

BatchBounds::Item ReorderBuffer::item_of(const ReorderEntry& entry) noexcept {
  return {entry.row->varying, entry.index, entry.place.epoch};
}

// Moves the entry's row to the window. The entry gets a spare row for its next sample.
void ReorderBuffer::keep(ReorderEntry& entry) noexcept {
  window_->add({entry.row, entry.row->varying, entry.outcome.index, entry.outcome.masked,
                entry.outcome.masked ? 0 : length_->of(*rows_, *entry.row), entry.place});
  entry.row = &rows_->take_spare();
}

// Gives one of the window's rows to its batch, skips a batch, or begins the next window.
ReorderBuffer::RetireResult ReorderBuffer::emit(Move& move) noexcept {
  BucketWindow& window = *window_;
  if (!window.has_batch()) {
    if (window.last() && !outlet_.has_room_for_end()) return RetireResult::waits;
    for (const std::uint32_t row : window.left_over()) rows_->give_back(*window[row].row);
    if (window.last()) filler_.end_epoch(window.next());
    emitting_.store(false, std::memory_order_seq_cst);
    window.begin_next();
    return RetireResult::leaves;
  }
  const std::span<const std::uint32_t> batch = window.batch();
  if (window.skips()) {
    for (const std::uint32_t row : batch) rows_->give_back(*window[row].row);
    window.next_batch();
    return RetireResult::leaves;
  }
  if (filler_.batch() == nullptr && !open()) return RetireResult::waits;
  const Survivor& kept = window[batch[emitted_]];
  BatchBuffer* const buffer = filler_.batch();
  move = {kept.row, nullptr, buffer, filler_.put({kept.index, kept.masked, {}, kept.draw_place})};
  if (++emitted_ == batch.size()) {
    filler_.advance(window.cursor_after());
    close();
    window.next_batch();
    emitted_ = 0;
  }
  return RetireResult::moves;
}

void ReorderBuffer::close() noexcept {
  if (fixed_steps_ && !window_) survived_ = std::max(survived_, filler_.batch()->next.position);
  filler_.close();
  if (filler_.finished()) halted_.store(true, std::memory_order_relaxed);
}

void ReorderBuffer::copy_rows(std::span<const Move> moves, const BatchRing& ring) noexcept {
  for (const Move& move : moves) copy_row(move, ring);
  // Entries are vacant before functions of `map_batches` run.
  for (std::size_t i = 0; i < moves.size();) {
    BatchBuffer* const buffer = moves[i].buffer;
    std::uint32_t rows = 0;
    for (; i < moves.size() && moves[i].buffer == buffer; ++i) ++rows;
    outlet_.rows_copied(*buffer, rows);
  }
  outlet_.publish_closed();
}

void ReorderBuffer::copy_row(const Move& move, const BatchRing& ring) noexcept {
  rows_->copy(*move.from, *move.buffer, move.row, ring);
  if (move.entry != nullptr)
    move.entry->vacant.store(true, std::memory_order_seq_cst);
  else
    rows_->give_back(*move.from);
}

}  // namespace penstock::detail::runtime
