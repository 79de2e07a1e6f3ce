// SPDX-License-Identifier: Apache-2.0
#include "reorder/record_samples.hpp"

#include <algorithm>
#include <utility>

#include "base/hash.hpp"

namespace penstock::detail::runtime {

namespace {

// Returns whether the record's outcome is the outcome of all its samples.
bool is_decided(const SharedRecord& record) noexcept {
  return record.terminates || record.broken || record.outcome.fatal || record.outcome.masked || !record.outcome.kept ||
         record.count == 0;
}

}  // namespace

RecordSamples::RecordSamples(const RunSetup& setup, SharedRecords& records, ReorderBuffer& buffer,
                             const IssueProgress& intake, ThreadSignals& signals)
    : setup_(setup),
      records_(records),
      buffer_(buffer),
      issue_progress_(intake),
      signals_(signals),
      from_stream_(setup.data->source->is_stream()),
      run_records_(std::max<std::uint64_t>(setup.data->stream_window, 1)) {}

void RecordSamples::reset(const Cursor& cursor) noexcept {
  for (auto* value : {&entries_issued_, &run_begin_, &run_seen_}) value->store(0, std::memory_order_relaxed);
  run_known_.store(false, std::memory_order_relaxed);
  permutation_.reset();
  run_size_ = run_given_ = 0;
  next_child_ = 0;
  begun_ = false;
  answered_.store(0, std::memory_order_relaxed);
  child_ = cursor.child;
  run_number_ = cursor.position / run_records_;
  next_position_ = from_stream_ ? cursor.position % run_records_ : 0;
}

void RecordSamples::publish(SharedRecord& record) noexcept {
  if (setup_.skips == nullptr) {
    record.opened.store(true, std::memory_order_seq_cst);
    return;
  }
  record.asks.store(true, std::memory_order_seq_cst);
  signals_.wake_consumer();
}

bool RecordSamples::asks() noexcept {
  const std::uint64_t next = answered_.load(std::memory_order_relaxed);
  return setup_.skips != nullptr && next < issue_progress_.issued() &&
         records_.at(next).asks.load(std::memory_order_seq_cst);
}

void RecordSamples::answer() noexcept {
  for (; asks(); answered_.fetch_add(1, std::memory_order_relaxed)) {
    SharedRecord& record = records_.at(answered_.load(std::memory_order_relaxed));
    if (!is_decided(record)) setup_.skips->choose(record);
    record.asks.store(false, std::memory_order_seq_cst);
    record.opened.store(true, std::memory_order_seq_cst);
  }
}

bool RecordSamples::can_expand() noexcept {
  if (run_known_.load(std::memory_order_seq_cst))
    return buffer_.vacant(entries_issued_.load(std::memory_order_seq_cst));
  return opened(run_begin_.load(std::memory_order_seq_cst) + run_seen_.load(std::memory_order_seq_cst));
}

// Checks `issued` first, because an earlier record may still occupy the element of the ring that this record will get.
bool RecordSamples::opened(std::uint64_t number) noexcept {
  return number < issue_progress_.issued() && records_.at(number).opened.load(std::memory_order_seq_cst);
}

// Looks for further records of the current run. Returns true if all records of the run have arrived, or if the
// epoch's end or a fatal failure ends the run earlier.
bool RecordSamples::see_run() noexcept {
  const std::uint64_t begin = run_begin_.load(std::memory_order_relaxed);
  std::uint64_t seen = run_seen_.load(std::memory_order_relaxed);
  ends_run_ = false;
  while (seen != run_records_ && !ends_run_) {
    if (!opened(begin + seen)) break;
    if (records_.at(begin + seen).terminates)
      ends_run_ = true;
    else
      ++seen;
  }
  run_seen_.store(seen, std::memory_order_seq_cst);
  if (seen != run_records_ && !ends_run_) return false;
  run_size_ = seen;
  run_given_ = std::min(std::exchange(next_position_, 0), seen);
  permutation_.reset();
  const PipelineData& data = *setup_.data;
  if (data.stream_window != 0 && seen != 0)
    permutation_.emplace(
        seen, hash_mix(hash_mix(hash_mix(data.seed_value(), data.stream_key), records_.at(begin).epoch), run_number_));
  // Vacates the records whose samples were delivered before a resume.
  for (std::uint64_t i = 0; i < run_given_; ++i)
    records_.at(begin + permuted(i)).vacant.store(true, std::memory_order_seq_cst);
  run_known_.store(true, std::memory_order_seq_cst);
  return true;
}

std::uint64_t RecordSamples::expand() noexcept {
  std::uint64_t expanded = 0;
  while (can_expand()) {
    if (!run_known_.load(std::memory_order_relaxed) && !see_run()) continue;
    const std::uint64_t begin = run_begin_.load(std::memory_order_relaxed);
    const bool in_run = run_given_ != run_size_;
    if (in_run || ends_run_) {
      if (!buffer_.vacant(entries_issued_.load(std::memory_order_relaxed))) break;
      ++expanded;
      if (!give(records_.at(begin + (in_run ? permuted(run_given_) : run_given_)))) continue;
      if (in_run && (++run_given_ != run_size_ || ends_run_)) continue;
    }
    begin_next_run(begin + run_size_ + (ends_run_ ? 1 : 0));
  }
  return expanded;
}

void RecordSamples::begin_next_run(std::uint64_t begin) noexcept {
  run_number_ = ends_run_ ? 0 : run_number_ + 1;
  run_begin_.store(begin, std::memory_order_seq_cst);
  run_seen_.store(0, std::memory_order_seq_cst);
  run_known_.store(false, std::memory_order_seq_cst);
}

// Gives the record's next sample an entry. Returns true if that sample was the record's last one.
bool RecordSamples::give(SharedRecord& record) noexcept {
  const bool decided = is_decided(record);
  const std::uint32_t count = decided ? 1 : record.count;
  if (!begun_) {
    begun_ = true;
    next_child_ = std::min(std::exchange(child_, 0), count - 1);
    record.left.store(count - next_child_, std::memory_order_relaxed);
  }
  const std::uint64_t number = entries_issued_.load(std::memory_order_relaxed);
  ReorderEntry& entry = buffer_.take(number);
  entry.place = {record.epoch, record.position, next_child_, record.outcome.attempt};
  entry.index = record.outcome.index;
  entry.record = &record;
  entry.decided = decided;
  entry.no_record = record.end;
  entry.skipped = !decided && next_child_ < record.skipped.size() && record.skipped[next_child_];
  const bool through = ++next_child_ == count;
  entry.last = record.end || (record.last && through);
  const Cursor at = from_stream_ ? Cursor{record.epoch, 0, run_number_ * run_records_ + run_given_, 0} : record.at;
  entry.position = at.position;
  if (entry.last)
    entry.next = {record.epoch + 1, 0, 0, 0};
  else
    entry.next = {at.epoch, 0, through ? at.position + 1 : at.position, through ? 0 : next_child_};
  if (through) begun_ = false;
  entries_issued_.store(number + 1, std::memory_order_seq_cst);
  return through;
}

}  // namespace penstock::detail::runtime
