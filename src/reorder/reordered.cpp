#include "reorder/reordered.hpp"

#include <algorithm>
#include <utility>

#include "base/failure.hpp"
#include "base/hash.hpp"
#include "blocks/block_work.hpp"
#include "pipeline/rank_rows.hpp"

// Which samples are made, and in what order they get their entries.
namespace penstock::detail {

namespace {

constexpr std::size_t max_entries = 1u << 22;
constexpr std::uint64_t max_bounded_entries = 4096;
constexpr std::uint64_t positions_at_once = 64;
constexpr std::size_t moves_at_once = 16;

// Whether what became of it is what becomes of all its samples.
bool decided(const SharedRecord& record) noexcept {
  return record.terminates || record.broken || record.outcome.fatal || record.outcome.masked || !record.outcome.kept ||
         record.count == 0;
}

}  // namespace

std::size_t Reordered::entries_for(const PipelineData& data, std::size_t max_reorder_bytes, unsigned threads) {
  const RowLayout layout(data.schema);
  const std::size_t row =
      std::max<std::size_t>(WaitingRows::row_bytes(layout) + (layout.appends() ? appended_row_bytes : 0), 1);
  // Where sizes end a batch it has fewer rows than it may have.
  const std::size_t batch = static_cast<std::size_t>(
      data.bounded ? std::min<std::uint64_t>(max_rows_of_rank(data), max_bounded_entries) : max_rows_of_rank(data));
  const std::size_t wanted = max_reorder_bytes != 0 ? max_reorder_bytes / row : batch;
  return std::clamp<std::size_t>(wanted, std::size_t{4} * threads, max_entries);
}

std::size_t Reordered::shared_records_for(const PipelineData& data, unsigned threads) {
  if (data.stream_window != 0) return static_cast<std::size_t>(2 * data.stream_window);
  return data.flat_maps || data.source->is_stream() ? std::size_t{4} * threads : 0;
}

// A record as it is read, and, where stages follow before it is shared, room to work on it.
std::size_t Reordered::min_shared_record_bytes(const PipelineData& data) {
  constexpr std::size_t varying = 1u << 16, stages = 1u << 20;
  std::size_t bytes = 0;
  for (const Field& f : data.source_schema)
    bytes += f.shape.fixed() ? static_cast<std::size_t>(f.shape.elements()) * size_of(f.dtype) + 64 : varying;
  return data.flat_maps ? bytes + stages : bytes;
}

Reordered::Reordered(const RunSetup& setup, const Chain& chain, std::stop_token stop, BlockSchedule* blocks,
                     const BatchRing& ring, ReorderedHost& host)
    : setup_(setup),
      data_(*setup.data),
      chain_(chain),
      stop_(std::move(stop)),
      blocks_(blocks),
      ring_(ring),
      host_(host),
      reorder_buffer_(data_, chain.bounds(), setup.plan.entries, *setup.memory, host, setup.epochs,
                      setup.plan.entry_limit),
      tickets_(reorder_buffer_.size(), setup.plan.threads),
      to_open_(std::max<std::size_t>(setup.plan.shared_records, 1), setup.plan.threads),
      advises_(data_.source->wants_advice()),
      block_rows_(std::max<std::uint64_t>(data_.stream_window, 1)),
      positions_(data_, setup.ranges) {
  if (setup.lists_all_bad) reorder_buffer_.list_all_bad();
  const std::size_t shared_records = setup.plan.shared_records;
  if (shared_records != 0) shared_records_.emplace(shared_records);
  if (data_.source->is_stream()) stream_ = data_.source->open_stream();
  const std::size_t issued_ahead = shared_records != 0 ? shared_records : reorder_buffer_.size();
  chunk_ = std::clamp<std::uint64_t>(issued_ahead / 4, 1, positions_at_once);
  indices_.resize(chunk_);
}

void Reordered::reset(const Cursor& cursor, const QuotaCount& count) {
  reorder_buffer_.reset(cursor, count);
  tickets_.reset();
  to_open_.reset();
  if (shared_records_) shared_records_->reset();
  const auto zero = [](auto&... values) { (values.store(0, std::memory_order_relaxed), ...); };
  zero(entries_issued_, block_begin_, block_seen_, issued_);
  block_known_.store(false, std::memory_order_relaxed);
  exhausted_.store(false, std::memory_order_relaxed);
  permutation_.reset();
  positions_.begin(cursor);
  read_at_ = cursor;
  stream_begun_ = false;
  block_size_ = block_given_ = 0;
  next_child_ = 0;
  begun_ = false;
  answered_ = 0;
  child_ = cursor.child;
  // What is given out begins with a whole block of the stream.
  block_number_ = cursor.position / block_rows_;
  next_position_ = stream_ != nullptr ? cursor.position % block_rows_ : 0;
  read_at_.position = block_number_ * block_rows_;
  if (setup_.epochs != 0 && cursor.epoch >= setup_.epochs) exhausted_.store(true, std::memory_order_relaxed);
  want();
}

bool Reordered::has_work() noexcept {
  return tickets_.available() || to_open_.available() || (blocks_ != nullptr && blocks_->available()) ||
         (can_tidy() && !retiring_.load(std::memory_order_seq_cst)) || (stream_ != nullptr ? can_read() : can_issue());
}

bool Reordered::step(ChainRun& run) noexcept {
  bool did = tidy();
  if (stream_ == nullptr) did = issue() || did;
  if (const TicketRun tickets = tickets_.take(tickets_at_once(run.sample_ns), std::uint64_t{2} * setup_.plan.threads);
      tickets.count != 0) {
    make(run, tickets);
    tidy();
    return true;
  }
  if (blocks_ != nullptr && work_in_blocks(run)) {
    tidy();
    return true;
  }
  if (const TicketRun ticket = to_open_.take(1); ticket.count != 0) {
    open(run, ticket.first);
    tidy();
    return true;
  }
  if (stream_ != nullptr) did = read(run) || did;
  return did;
}

// -- retiring, and giving the samples of shared records their entries --

bool Reordered::can_tidy() noexcept { return reorder_buffer_.can_retire() || can_expand(); }

bool Reordered::tidy() noexcept {
  bool did = false;
  while (can_tidy()) {
    if (retiring_.exchange(true, std::memory_order_seq_cst)) return did;
    std::array<ReorderBuffer::Move, moves_at_once> moves;
    const std::size_t count = reorder_buffer_.retire(moves);
    const std::uint64_t expanded = expand();
    retiring_.store(false, std::memory_order_seq_cst);
    for (std::size_t i = 0; i < count;) {
      BatchBuffer* const buffer = moves[i].buffer;
      std::uint32_t parts = 0;
      for (; i < count && moves[i].buffer == buffer; ++i, ++parts) reorder_buffer_.copy_row(moves[i], ring_);
      host_.finish_parts(*buffer, parts);
    }
    if (expanded != 0) host_.wake_runners();
    did = true;
  }
  return did;
}

bool Reordered::can_expand() noexcept {
  if (!shared_records_) return false;
  if (block_known_.load(std::memory_order_seq_cst))
    return reorder_buffer_.vacant(entries_issued_.load(std::memory_order_seq_cst));
  const std::uint64_t number =
      block_begin_.load(std::memory_order_seq_cst) + block_seen_.load(std::memory_order_seq_cst);
  return opened(number);
}

// Its entry in the ring may still be another's.
bool Reordered::opened(std::uint64_t number) noexcept {
  return number < issued_.load(std::memory_order_seq_cst) &&
         shared_records_->at(number).opened.load(std::memory_order_seq_cst);
}

// It is made, or read: its samples may get their entries, unless the consumer must first say which are skipped.
void Reordered::publish(SharedRecord& record) noexcept {
  if (setup_.skips == nullptr) {
    record.opened.store(true, std::memory_order_seq_cst);
    return;
  }
  record.asks.store(true, std::memory_order_seq_cst);
  host_.wake_consumer();
}

bool Reordered::asks() noexcept {
  return setup_.skips != nullptr && shared_records_ && answered_ < issued_.load(std::memory_order_seq_cst) &&
         shared_records_->at(answered_).asks.load(std::memory_order_seq_cst);
}

void Reordered::answer() noexcept {
  for (; asks(); ++answered_) {
    SharedRecord& record = shared_records_->at(answered_);
    if (!decided(record)) setup_.skips->choose(record);
    record.asks.store(false, std::memory_order_seq_cst);
    record.opened.store(true, std::memory_order_seq_cst);
  }
}

// Looks for the rest of the block in hand. True: all of it is there, or what comes before its end.
bool Reordered::see_block() noexcept {
  const std::uint64_t begin = block_begin_.load(std::memory_order_relaxed);
  std::uint64_t seen = block_seen_.load(std::memory_order_relaxed);
  ends_block_ = false;
  while (seen != block_rows_ && !ends_block_) {
    if (!opened(begin + seen)) break;
    if (shared_records_->at(begin + seen).terminates)
      ends_block_ = true;
    else
      ++seen;
  }
  block_seen_.store(seen, std::memory_order_seq_cst);
  if (seen != block_rows_ && !ends_block_) return false;
  block_size_ = seen;
  block_given_ = std::min(std::exchange(next_position_, 0), seen);
  permutation_.reset();
  if (data_.stream_window != 0 && seen != 0)
    permutation_.emplace(
        seen, hash_mix(hash_mix(hash_mix(data_.seed_value(), data_.stream_key), shared_records_->at(begin).epoch),
                       block_number_));
  // Those that were delivered before a resume.
  for (std::uint64_t i = 0; i < block_given_; ++i)
    shared_records_->at(begin + (permutation_ ? (*permutation_)(i) : i)).vacant.store(true, std::memory_order_seq_cst);
  block_known_.store(true, std::memory_order_seq_cst);
  return true;
}

// Gives samples of opened records their entries, in order, as long as there are both. Returns how many.
std::uint64_t Reordered::expand() noexcept {
  std::uint64_t expanded = 0;
  while (can_expand()) {
    if (!block_known_.load(std::memory_order_relaxed) && !see_block()) continue;
    const std::uint64_t begin = block_begin_.load(std::memory_order_relaxed);
    if (block_given_ != block_size_ || ends_block_) {
      if (!reorder_buffer_.vacant(entries_issued_.load(std::memory_order_relaxed))) break;
      const std::uint64_t given =
          block_given_ != block_size_ && permutation_ ? (*permutation_)(block_given_) : block_given_;
      SharedRecord& record = shared_records_->at(begin + given);
      ++expanded;
      if (!give(record)) continue;  // there are more samples of it
      if (block_given_ != block_size_) {
        ++block_given_;
        if (block_given_ != block_size_ || ends_block_) continue;
      }
    }
    block_number_ = ends_block_ ? 0 : block_number_ + 1;
    block_begin_.store(begin + block_size_ + (ends_block_ ? 1 : 0), std::memory_order_seq_cst);
    block_seen_.store(0, std::memory_order_seq_cst);
    block_known_.store(false, std::memory_order_seq_cst);
  }
  if (expanded != 0) tickets_.raise(entries_issued_.load(std::memory_order_relaxed));
  return expanded;
}

// One entry. True: it was the record's last.
bool Reordered::give(SharedRecord& record) noexcept {
  const bool is_decided = decided(record);
  const std::uint32_t count = is_decided ? 1 : record.count;
  if (!begun_) {
    begun_ = true;
    next_child_ = std::min(std::exchange(child_, 0), count - 1);
    record.left.store(count - next_child_, std::memory_order_relaxed);
  }
  const std::uint64_t number = entries_issued_.load(std::memory_order_relaxed);
  ReorderEntry& entry = reorder_buffer_.take(number);
  entry.place = {record.epoch, record.position, next_child_, record.outcome.attempt};
  entry.index = record.outcome.index;
  entry.record = &record;
  entry.decided = is_decided;
  entry.skipped = !is_decided && next_child_ < record.skipped.size() && record.skipped[next_child_];
  const bool through = ++next_child_ == count;
  entry.last = record.end || (record.last && through);
  const Cursor at =
      stream_ == nullptr ? record.at : Cursor{record.epoch, 0, block_number_ * block_rows_ + block_given_, 0};
  entry.position = at.position;
  if (entry.last)
    entry.next = {record.epoch + 1, 0, 0, 0};
  else
    entry.next = {at.epoch, 0, through ? at.position + 1 : at.position, through ? 0 : next_child_};
  if (through) begun_ = false;
  entries_issued_.store(number + 1, std::memory_order_seq_cst);
  return through;
}

// -- issuing positions --

bool Reordered::vacant(std::uint64_t number) noexcept {
  return shared_records_ ? shared_records_->at(number).vacant.load(std::memory_order_seq_cst)
                         : reorder_buffer_.vacant(number);
}

bool Reordered::can_issue() noexcept {
  if (exhausted_.load(std::memory_order_seq_cst) || issuing_.load(std::memory_order_seq_cst)) return false;
  const std::uint64_t number = issued_.load(std::memory_order_seq_cst);
  const std::uint64_t wanted = wanted_.load(std::memory_order_seq_cst);
  return wanted != 0 && vacant(number) && vacant(number + wanted - 1);
}

bool Reordered::issue() noexcept {
  bool did = false;
  while (can_issue() && !host_.paused()) {
    if (issuing_.exchange(true, std::memory_order_seq_cst)) return did;
    const std::uint64_t first = issued_.load(std::memory_order_relaxed);
    std::uint64_t count = 0;
    while (count < wanted_.load(std::memory_order_relaxed) && vacant(first + count)) ++count;
    if (count != 0 && !exhausted_.load(std::memory_order_relaxed)) issue_some(first, count);
    issuing_.store(false, std::memory_order_seq_cst);
    did = true;
  }
  return did;
}

// Positions become entries, or shared_records. An order that fails does so at its own position, however many are asked
// for at once; what comes before that is made.
void Reordered::issue_some(std::uint64_t first, std::uint64_t count) noexcept {
  std::uint64_t good = 0;
  bool failed = false;
  std::optional<Error> error;
  try {
    positions_.fill(0, {indices_.data(), count});
    good = count;
  } catch (...) {
    for (; good < count && !failed; good += failed ? 0 : 1) try {
        positions_.fill(good, {&indices_[good], 1});
      } catch (...) {
        failed = true;
        error = described_error("order");
      }
  }
  const std::uint64_t issued = good + (failed ? 1 : 0), pass = positions_.place(0).epoch;
  for (std::uint64_t i = 0; i < issued; ++i) {
    const Place place = positions_.place(i);
    Outcome* outcome = nullptr;
    bool* broken = nullptr;
    if (shared_records_) {
      SharedRecord& record = shared_records_->take(first + i);
      record.epoch = place.epoch;
      record.position = place.position;
      record.index = record.outcome.index = indices_[i];
      record.at = positions_.at(i);
      record.last = positions_.last(i);
      outcome = &record.outcome;
      broken = &record.broken;
    } else {
      ReorderEntry& entry = reorder_buffer_.take(first + i);
      entry.place = place;
      entry.position = positions_.at(i).position;
      entry.index = indices_[i];
      entry.last = positions_.last(i);
      entry.next = positions_.after(i);
      outcome = &entry.outcome;
      broken = &entry.broken;
    }
    if (i < good) continue;
    *broken = !error;
    outcome->fatal = std::move(error);
    break;
  }
  positions_.skip(issued);
  if (failed || (setup_.epochs != 0 && !positions_.endless() && positions_.epoch() >= setup_.epochs))
    exhausted_.store(true, std::memory_order_seq_cst);
  want();
  issued_.store(first + issued, std::memory_order_seq_cst);
  if (blocks_ != nullptr) {
    blocks_->prepare(good);
    blocks_->issue(first, good, issued, pass);
  } else {
    (shared_records_ ? to_open_ : tickets_).raise(first + issued);
  }
  host_.wake_runners();
  if (advises_ && good != 0) data_.source->will_need({indices_.data(), good});
}

// A block, or what is read of some: a sample, or the record that its children share.
bool Reordered::work_in_blocks(ChainRun& run) noexcept {
  BlockSchedule::Work work = blocks_->take(run.stretch);
  if (!work) return false;
  if (work.load != nullptr) {
    if (work_on_block(*blocks_, run, std::move(work))) host_.wake_runners();
    return true;
  }
  const std::uint64_t number = *work.sample;
  lend_blocks(*blocks_, run, number,
              shared_records_ ? shared_records_->at(number).index : reorder_buffer_.entry(number).index);
  if (shared_records_)
    open(run, number);
  else
    make(run, {number, 1});
  return true;
}

// Before the entry or record may become another's, whose blocks stand in the same entry.
void Reordered::give_back_blocks(std::uint64_t number) noexcept {
  if (blocks_ != nullptr && blocks_->done(number)) host_.wake_runners();
}

// As many as are issued at once, and no more than the epoch has.
void Reordered::want() noexcept { wanted_.store(std::min(chunk_, positions_.left()), std::memory_order_seq_cst); }

}  // namespace penstock::detail
