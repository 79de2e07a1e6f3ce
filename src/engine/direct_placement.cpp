#include "engine/direct_placement.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/failure.hpp"
#include "base/float_mode.hpp"
#include "base/relax.hpp"

// Which samples are in which batch, and the consumer that waits for them.
namespace penstock::detail {

namespace {
constexpr std::uint64_t spin_ns = 20'000;
constexpr std::uint64_t busy_ns = 30'000;  // between two batches: a caller that does something itself
}  // namespace

DirectPlacement::DirectPlacement(const Context& context)
    : Placement(context),
      positions_(data_),
      steps_(data_.steps()),
      advises_(data_.source->wants_advice()),
      tickets_(rows_, setup_.plan.most().threads + std::uint64_t{2}) {
  const BlockModel* const model = data_.source->block_model();
  if (model == nullptr) return;
  const std::size_t in_flight = setup_.plan.most().depth * static_cast<std::size_t>(rows_);
  blocks_ = std::make_unique<BlockSchedule>(*model, setup_.plan.block_limit,
                                            std::max<std::uint64_t>(in_flight, min_records_in_sight), in_flight,
                                            BlockRunners{setup_.plan.threads, setup_.plan.most().threads},
                                            *setup_.memory, destination_bytes(), setup_.plan.block_option);
}

void DirectPlacement::begin(const Cursor& cursor, const QuotaCount&) {
  tickets_.reset();
  if (blocks_ != nullptr) blocks_->reset(feed(cursor));
  advised_.store(0, std::memory_order_relaxed);
  cursor_ = cursor;
  order_error_.reset();
  if (spare_.cause().empty()) spare_ = no_memory();
}

bool DirectPlacement::more_to_admit() const noexcept {
  return !monitor_.is_paused() && !monitor_.closed && !order_error_ && steps_ != 0 &&
         (setup_.epochs == 0 || cursor_.epoch < setup_.epochs);
}

std::optional<Idle> DirectPlacement::why_idle() noexcept {
  if (has_work()) return Idle::threads;
  if (blocks_ != nullptr)
    if (const std::optional<Idle> why = blocks_->why_idle()) return why;
  if (admitting_) return Idle::order;
  if (!more_to_admit()) return std::nullopt;
  return ring_.free_count() != 0 ? Idle::order : why_no_batch();
}

// Gives every free buffer to the next batch and raises the limit: the only place where work is issued. Orders are a
// user's code and may be slow, so the mutex is let go while they are asked; one thread does it at a time, and sees what
// became free meanwhile, but not for ever.
void DirectPlacement::admit(Lock& lock) noexcept {
  if (admitting_) return;
  admitting_ = true;
  for (std::size_t most = ring_.most(); most != 0 && more_to_admit(); --most) {
    BatchBuffer* const buffer = ring_.acquire();
    if (buffer == nullptr) break;
    note_idle();
    lock.unlock();
    bool failed = false;
    std::optional<Error> error;
    try {
      const TracedRange traced(order_lane_, "order");
      prepare(*buffer);
      if (blocks_ != nullptr) blocks_->prepare(buffer->valid);
    } catch (...) {
      failed = true;
      error = described_error("order");
    }
    lock.lock();
    if (failed || monitor_.is_paused()) {
      ring_.release(*buffer);
      if (failed) order_error_.emplace(error ? std::move(*error) : std::move(spare_));
      break;
    }
    issue(*buffer);
    note_idle();
    pool().wake(lock);
    monitor_.changed.notify_all();
  }
  admitting_ = false;
  note_idle();
  monitor_.changed.notify_all();
}

// Which samples are in the batch: positions, source indices, mask.
void DirectPlacement::prepare(BatchBuffer& buffer) {
  buffer.arena.reset();
  const RankRows part = positions_.rank_rows(cursor_);
  buffer.epoch = cursor_.epoch;
  buffer.number = cursor_.number;
  buffer.first = part.first;
  buffer.valid = buffer.samples = part.valid;
  buffer.rows = part.rows;
  buffer.next = positions_.next(cursor_);
  positions_.fill(buffer.epoch, buffer.first, {buffer.indices.data(), buffer.valid});
  std::fill(buffer.indices.begin() + static_cast<std::ptrdiff_t>(buffer.valid), buffer.indices.end(),
            ~std::uint64_t{0});
  std::fill_n(buffer.mask.begin(), buffer.valid, std::uint8_t{1});
  std::fill(buffer.mask.begin() + static_cast<std::ptrdiff_t>(buffer.valid), buffer.mask.end(), std::uint8_t{0});
  buffer.left.store(static_cast<std::uint32_t>(rows_) + (advises_ ? 1 : 0), std::memory_order_relaxed);
}

void DirectPlacement::issue(BatchBuffer& buffer) {
  const std::uint64_t ordinal = queue_.admitted();
  queue_.admit(buffer);
  cursor_ = buffer.next;
  if (blocks_ != nullptr)
    blocks_->issue(ordinal * rows_, buffer.valid, rows_, positions_.place(buffer.epoch, buffer.first).epoch);
  else
    tickets_.raise((ordinal + 1) * rows_);
}

BatchBuffer* DirectPlacement::wait(std::uint64_t) {
  Lock lock(monitor_.mutex, std::defer_lock);
  const auto paused = [this] { return monitor_.is_paused(); };
  if (queue_.empty()) {
    lock.lock();
    admit(lock);
    monitor_.changed.wait(lock, [&] { return !admitting_ || paused() || !queue_.empty(); });
    if (paused()) return nullptr;
    if (queue_.empty()) {
      if (order_error_) throw *order_error_;
      throw leases_exhausted();
    }
    lock.unlock();
  }
  BatchBuffer& buffer = queue_.front();
  const auto ready = [&] { return buffer.ready(); };
  if (!ready()) wait_awake(buffer);
  if (!ready()) {
    lock.lock();
    pool().leave_if_long(lock);
    monitor_.waiting.store(true, std::memory_order_seq_cst);
    while (!ready() && !paused() && !pool().failed()) pool().sleep_or_help(lock, ready);
    monitor_.waiting.store(false, std::memory_order_relaxed);
    if (!ready() && !paused()) throw *pool().reader_error();
  }
  if (!pool().leaves_a_core()) delivered_ns_ = now_ns();
  return paused() ? nullptr : &buffer;
}

// Sleeping and being woken costs about what a batch of tiny samples does. Where runners need every core, this one is
// theirs: for the samples, if these are tiny, else it is given up at once.
void DirectPlacement::wait_awake(const BatchBuffer& buffer) noexcept {
  const std::uint64_t begun = now_ns();
  if (pool().leaves_a_core()) {
    while (!buffer.ready() && !monitor_.is_paused() && now_ns() - begun < spin_ns)
      for (int i = 0; i < 64 && !buffer.ready(); ++i) relax();
  } else if (blocks_ == nullptr) {
    ChainRun* const run = pool().join(begun, begun - delivered_ns_ > busy_ns);
    if (run == nullptr) return;
    const std::uint64_t before = run->counters.totals.samples.get();
    const FloatMode standard;
    work_along(*run, buffer);
    pool().count_joined(run->counters.totals.samples.get() - before, now_ns() - begun);
  }
}

void DirectPlacement::add_to(RunTotals& totals) const {
  totals.kept = totals.samples;
  if (blocks_ != nullptr) totals.blocks = blocks_->counts();
}

}  // namespace penstock::detail
