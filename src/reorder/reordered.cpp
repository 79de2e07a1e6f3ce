// SPDX-License-Identifier: Apache-2.0
#include "reorder/reordered.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.hpp"
#include "blocks/block_work.hpp"
#include "chain/source_work.hpp"
#include "pipeline/rank_rows.hpp"

namespace penstock::detail::runtime {

namespace {

constexpr std::size_t max_entries = 1u << 22;
constexpr std::uint64_t max_bounded_entries = 4096;
constexpr std::size_t moves_at_once = 16;

void leave(SharedRecord& record) noexcept {
  if (record.left.fetch_sub(1, std::memory_order_acq_rel) == 1) record.vacant.store(true, std::memory_order_seq_cst);
}

}  // namespace

std::size_t ReorderedWork::entry_bytes(const PipelineData& data) {
  const RowLayout layout(data.schema);
  return std::max<std::size_t>(WaitingRows::row_bytes(layout) + (layout.appends() ? appended_row_bytes : 0), 1);
}

std::size_t ReorderedWork::entries_for(const PipelineData& data, std::size_t max_reorder_bytes, unsigned threads) {
  // If the sizes or groups of samples end batches, batches may have far fewer rows than their limit. Then fewer entries
  // are enough.
  const std::size_t batch = static_cast<std::size_t>(
      data.bounded ? std::min<std::uint64_t>(max_rows_of_rank(data), max_bounded_entries) : max_rows_of_rank(data));
  const std::size_t wanted = max_reorder_bytes != 0 ? max_reorder_bytes / entry_bytes(data) : batch;
  return std::clamp<std::size_t>(wanted, std::size_t{4} * threads, max_entries);
}

std::size_t ReorderedWork::shared_records_for(const PipelineData& data, unsigned threads) {
  if (data.stream_window != 0) return static_cast<std::size_t>(2 * data.stream_window);
  return data.flat_maps || data.source->is_stream() ? std::size_t{4} * threads : 0;
}

// Estimates the bytes of a record as it is read. Adds scratch if the record may pass through stages before it is
// shared.
std::size_t ReorderedWork::min_shared_record_bytes(const PipelineData& data) {
  constexpr std::size_t varying = 1u << 16, stages = 1u << 20;
  std::size_t bytes = 0;
  for (const Field& f : data.source_schema)
    bytes += f.shape.fixed() ? static_cast<std::size_t>(f.shape.elements()) * size_of(f.dtype) + 64 : varying;
  return data.flat_maps ? bytes + stages : bytes;
}

ReorderedWork::ReorderedWork(const RunSetup& setup, const Chain& chain, std::stop_token stop, BlockSchedule* blocks,
                             const BatchRing& ring, BatchOutlet& outlet, ThreadSignals& signals, TraceLine* order_line)
    : setup_(setup),
      source_(*setup.data->source),
      blocks_(blocks),
      ring_(ring),
      signals_(signals),
      order_line_(order_line),
      advises_(source_.wants_advice()),
      threads_(setup.plan.threads),
      buffer_(*setup.data, chain.bounds(), setup.plan.entries, *setup.memory, outlet, setup.epochs,
              setup.plan.entry_limit),
      tickets_(buffer_.size(), setup.plan.most().threads),
      to_open_(std::max<std::size_t>(setup.plan.shared_records, 1), setup.plan.most().threads),
      maker_(setup, chain, std::move(stop), buffer_) {
  if (setup.lists_all_bad) buffer_.list_all_bad();
  if (setup.plan.shared_records != 0) {
    records_.emplace(setup.plan.shared_records);
    samples_.emplace(setup, *records_, buffer_, issue_progress_, signals);
  }
  if (source_.is_stream())
    reader_.emplace(setup, chain,
                    StreamReader::Context{issue_progress_, *records_, maker_, *samples_, to_open_, signals});
  else
    issuer_.emplace(setup, issue_progress_, buffer_, records_ ? &*records_ : nullptr);
}

void ReorderedWork::reset(const Cursor& cursor, const QuotaCount& count) {
  if (resizes_.exchange(false, std::memory_order_relaxed)) buffer_.resize();
  buffer_.reset(cursor, count);
  tickets_.reset(buffer_.size());
  to_open_.reset();
  issue_progress_.reset(setup_.epochs != 0 && cursor.epoch >= setup_.epochs);
  if (records_) {
    records_->reset();
    samples_->reset(cursor);
  }
  if (issuer_) return issuer_->reset(cursor);
  Cursor at = cursor;
  at.position -= at.position % samples_->run_records();
  reader_->reset(at);
}

bool ReorderedWork::has_work() noexcept {
  return tickets_.available() || to_open_.available() || (blocks_ != nullptr && blocks_->available()) ||
         (can_tidy() && !retiring_.load(std::memory_order_seq_cst)) ||
         (reader_ ? reader_->can_read() : issuer_->can_issue());
}

std::optional<Idle> ReorderedWork::why_idle() noexcept {
  if (blocks_ != nullptr)
    if (const std::optional<Idle> why = blocks_->why_idle()) return why;
  if (issue_progress_.exhausted() || buffer_.halted()) return std::nullopt;
  if (issue_progress_.busy()) return reader_ ? Idle::stream : Idle::order;
  if (asks()) return Idle::caller;
  return Idle::entries;
}

bool ReorderedWork::step(ChainRun& run) noexcept {
  bool did = tidy(run);
  if (issuer_) did = issue(run) || did;
  if (const TicketRun tickets = tickets_.take(tickets_at_once(run.counters.sample_ns),
                                              std::uint64_t{2} * threads_.load(std::memory_order_relaxed));
      tickets.count != 0) {
    make(run, tickets);
    tidy(run);
    return true;
  }
  if (blocks_ != nullptr && work_in_blocks(run)) {
    tidy(run);
    return true;
  }
  if (const TicketRun ticket = to_open_.take(1); ticket.count != 0) {
    open(run, ticket.first);
    tidy(run);
    return true;
  }
  if (reader_) did = read(run) || did;
  return did;
}

bool ReorderedWork::tidy(const ChainRun& run) noexcept {
  bool did = false;
  while (can_tidy()) {
    if (retiring_.exchange(true, std::memory_order_seq_cst)) return did;
    const TracedRange traced(run.runner.trace, "settle");
    std::array<ReorderBuffer::Move, moves_at_once> moves;
    const std::size_t count = buffer_.retire(moves);
    const std::uint64_t expanded = samples_ ? samples_->expand() : 0;
    if (expanded != 0) tickets_.raise(samples_->entries_issued());
    retiring_.store(false, std::memory_order_seq_cst);
    buffer_.copy_rows(std::span(moves).first(count), ring_);
    if (expanded != 0) signals_.wake_runners();
    did = true;
  }
  return did;
}

bool ReorderedWork::issue(ChainRun& run) noexcept {
  bool did = false;
  while (issuer_->can_issue() && !signals_.paused()) {
    if (!issue_progress_.enter()) return did;
    if (const PositionIssuer::Issued issued = issue_some(); issued.count != 0) announce(run, issued);
    issue_progress_.leave();
    did = true;
  }
  return did;
}

PositionIssuer::Issued ReorderedWork::issue_some() noexcept {
  const TracedRange traced(order_line_, "order");
  return issuer_->issue();
}

void ReorderedWork::announce(ChainRun& run, const PositionIssuer::Issued& issued) noexcept {
  const std::uint64_t end = issued.first + issued.count;
  if (blocks_ != nullptr) {
    blocks_->prepare(issued.indices.size());
    blocks_->issue(issued.first, issued.indices.size(), issued.count, issued.pass);
  } else {
    (records_ ? to_open_ : tickets_).raise(end);
  }
  signals_.wake_runners();
  if (advises_ && !issued.indices.empty()) advise(source_, run, issued.indices);
}

bool ReorderedWork::read(ChainRun& run) noexcept {
  if (reader_->read(run) == 0) return false;
  tidy(run);
  signals_.wake_runners();
  return true;
}

// Loads a block, or makes a sample or a shared record whose blocks are loaded.
bool ReorderedWork::work_in_blocks(ChainRun& run) noexcept {
  BlockSchedule::Work work = blocks_->take(run.blocks.stretch);
  if (!work) return false;
  if (work.load != nullptr) {
    if (work_on_block(*blocks_, run, std::move(work))) signals_.wake_runners();
    return true;
  }
  const std::uint64_t number = *work.sample;
  lend_blocks(*blocks_, run, number, records_ ? records_->at(number).index : buffer_.entry(number).index);
  if (records_)
    open(run, number);
  else
    make(run, {number, 1});
  return true;
}

// Call before the entry or shared record can be reused, because the schedule keeps the blocks under `number`.
void ReorderedWork::give_back_blocks(std::uint64_t number) noexcept {
  if (blocks_ != nullptr && blocks_->done(number)) signals_.wake_runners();
}

void ReorderedWork::make(ChainRun& run, TicketRun tickets) noexcept {
  if (tickets.count > 1 && !records_) {
    std::array<std::uint64_t, max_at_once> indices{};
    for (std::uint64_t i = 0; i < tickets.count; ++i) indices[i] = buffer_.entry(tickets.first + i).index;
    run.reader->expect({indices.data(), static_cast<std::size_t>(tickets.count)});
  }
  const std::uint64_t begun = tickets.count > 4 ? now_ns() : 0;
  for (std::uint64_t i = 0; i < tickets.count; ++i) {
    if (i != 0 && signals_.paused()) return;
    ReorderEntry& entry = buffer_.entry(tickets.first + i);
    try {
      maker_.make(run, entry, tickets.first + i);
    } catch (...) {  // no memory even for the error
      entry.broken = true;
    }
    run.parent = nullptr;
    if (entry.record != nullptr) leave(*entry.record);
    if (!records_) give_back_blocks(tickets.first + i);
    buffer_.finish(entry);
  }
  // If samples took much longer than estimated, corrects the estimate now. Otherwise this runner would take many
  // tickets together until it measures a chain.
  if (begun != 0)
    if (const std::uint64_t each = (now_ns() - begun) / tickets.count; each > 4 * run.counters.sample_ns)
      run.counters.sample_ns = each;
}

void ReorderedWork::open(ChainRun& run, std::uint64_t number) noexcept {
  SharedRecord& record = records_->at(number);
  try {
    maker_.open(run, record, number);
  } catch (...) {  // no memory even for the error
    record.broken = true;
  }
  give_back_blocks(number);
  samples_->publish(record);
}

}  // namespace penstock::detail::runtime
