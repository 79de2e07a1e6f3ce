#include "engine/engine.hpp"

#include <algorithm>
#include <chrono>

#include "base/clock.hpp"
#include "base/cores.hpp"
#include "base/failure.hpp"
#include "base/relax.hpp"

namespace penstock::detail {

namespace {
constexpr std::uint64_t spin_ns = 20'000;
}

Engine::Engine(std::shared_ptr<const PipelineData> data, const EngineOptions& options, Executor::Impl& executor)
    : door_(std::make_shared<Door>()),
      data_(std::move(data)),
      chain_(data_),
      options_(options),
      executor_(&executor),
      ring_(data_->schema, data_->most_rows(), options.depth,
            options.buffer_memory != nullptr ? *options.buffer_memory : *options.memory, options.buffer_limit,
            options.memory),
      rows_(data_->most_rows()),
      steps_(data_->steps()),
      tickets_(rows_, options.threads),
      advises_(data_->source->wants_advice()),
      by_ordinal_(options.depth, nullptr),
      may_spin_(options.threads < usable_cores()) {
  door_->engine = this;
  if (const BlockModel* const model = data_->source->block_model(); model != nullptr) {
    // Of a reordered pipeline, what is in flight are entries, or the records that share something.
    const std::size_t in_flight = !data_->reordered()           ? options.depth * static_cast<std::size_t>(rows_)
                                  : options.shared_records != 0 ? options.shared_records
                                                                : options.entries;
    blocks_ = std::make_unique<BlockSchedule>(*model, options.block_limit, in_flight, in_flight, *options.memory,
                                              data_->reordered() ? std::vector<std::size_t>() : place_bytes());
  }
  if (data_->reordered()) {
    ReorderedOptions reordered;
    reordered.threads = options.threads;
    reordered.entries = options.entries;
    reordered.shared_records = options.shared_records;
    reordered.scratch_limit = options.scratch_limit;
    reordered.shared_record_limit = options.shared_record_limit;
    reordered.entry_limit = options.entry_limit;
    reordered.epochs = options.epochs;
    reordered.memory = options.memory;
    reordered.blocks = blocks_.get();
    reordered.skips = options.skips;
    reordered.stop = stop_source_.get_token();
    ReorderedHost& host = *this;
    reordered_ = std::make_unique<Reordered>(data_, chain_, reordered, ring_, host);
    ends_.reserve(options.depth);
    if (options.keeps_places)
      for (const auto& buffer : ring_.all()) buffer->places.resize(rows_);
  }
  runs_.reserve(options.threads + std::size_t{1});
  idle_runs_.reserve(options.threads + std::size_t{1});
}

// Gives every free buffer to the next batch and raises the limit: the only place where work is issued. Orders are a
// user's code and may be slow, so the mutex is let go while they are asked; one thread does it at a time, and sees what
// became free meanwhile, but not for ever.
void Engine::admit(Lock& lock) noexcept {
  if (data_->reordered()) {
    if (reordered_ == nullptr) return;  // the loader is gone
    reordered_->reorder_buffer().stalled().store(false, std::memory_order_seq_cst);
    if (!closed_ && !paused() && reordered_->has_work()) wake(lock);
    return;
  }
  if (admitting_) return;
  admitting_ = true;
  for (unsigned most = options_.depth; most != 0; --most) {
    if (paused_.load(std::memory_order_relaxed) || closed_ || order_error_ || steps_ == 0) break;
    if (options_.epochs != 0 && cursor_.epoch >= options_.epochs) break;
    BatchBuffer* const buffer = ring_.acquire();
    if (buffer == nullptr) break;
    lock.unlock();
    bool failed = false;
    std::optional<Error> error;
    try {
      prepare(*buffer);
      if (blocks_ != nullptr) blocks_->prepare(buffer->valid);
    } catch (...) {
      failed = true;
      error = described_error("order");
    }
    lock.lock();
    if (failed || paused_.load(std::memory_order_relaxed)) {
      ring_.release(*buffer);
      if (failed) order_error_.emplace(error ? std::move(*error) : std::move(spare_));
      break;
    }
    const std::uint64_t ordinal = admitted_.load(std::memory_order_relaxed);
    by_ordinal_[ordinal % by_ordinal_.size()] = buffer;
    cursor_ = buffer->next;
    admitted_.store(ordinal + 1, std::memory_order_release);
    if (blocks_ != nullptr)
      blocks_->issue(ordinal * rows_, buffer->valid, rows_);
    else
      tickets_.raise((ordinal + 1) * rows_);
    wake(lock);
    changed_.notify_all();
  }
  admitting_ = false;
  changed_.notify_all();
}

// Which samples are in the batch: positions, source indices, mask.
void Engine::prepare(BatchBuffer& buffer) {
  buffer.arena.reset();
  const RankRows part = data_->rank_rows(cursor_);
  buffer.epoch = cursor_.epoch;
  buffer.number = cursor_.number;
  buffer.first = part.first;
  buffer.valid = buffer.samples = part.valid;
  buffer.rows = part.rows;
  buffer.next = data_->next_batch(cursor_);
  data_->fill_batch(buffer.epoch, buffer.first, {buffer.indices.data(), buffer.valid});
  std::fill(buffer.indices.begin() + static_cast<std::ptrdiff_t>(buffer.valid), buffer.indices.end(),
            ~std::uint64_t{0});
  std::fill_n(buffer.mask.begin(), buffer.valid, std::uint8_t{1});
  std::fill(buffer.mask.begin() + static_cast<std::ptrdiff_t>(buffer.valid), buffer.mask.end(), std::uint8_t{0});
  buffer.left.store(static_cast<std::uint32_t>(rows_) + (advises_ ? 1 : 0), std::memory_order_relaxed);
}

void Engine::wake(Lock&) noexcept {
  while (scheduled_ < most_runners() && submit_runner()) ++scheduled_;
}

// As many as have, or may get, a reader.
std::size_t Engine::most_runners() const noexcept {
  return no_more_readers_ ? std::max<std::size_t>(runs_.size() + opening_, 1) : options_.threads;
}

// A loader can go while its tasks still wait for a thread: they find the door closed. A task that is through it holds
// the mutex until it counts as running, so close() waits for it. False where there is no memory for a task: the caller
// makes the samples then.
bool Engine::submit_runner() noexcept {
  try {
    executor_->submit([door = door_] {
      std::unique_lock at_door(door->mutex);
      if (door->engine == nullptr) return;
      Engine& engine = *door->engine;
      Lock lock(engine.mutex_);
      at_door.unlock();
      engine.runner_main(lock);
    });
  } catch (...) {
    return false;
  }
  return true;
}

void Engine::seek(Cursor cursor, const QuotaCount& count) {
  Lock lock(mutex_);
  paused_.store(true, std::memory_order_seq_cst);
  changed_.wait(lock, [this] { return running_ == 0 && !admitting_; });
  for (std::uint64_t o = delivered_; o < admitted_.load(std::memory_order_relaxed); ++o) ring_.release(buffer_of(o));
  if (reordered_ != nullptr) {
    if (BatchBuffer* const open = reordered_->open_batch_buffer(); open != nullptr) ring_.release(*open);
    reordered_->reset(cursor, count);
    ends_.clear();
  }
  tickets_.reset();
  if (blocks_ != nullptr) blocks_->reset(feed(cursor));
  admitted_.store(0, std::memory_order_relaxed);
  advised_.store(0, std::memory_order_relaxed);
  delivered_ = 0;
  cursor_ = cursor;
  failed_ = false;
  order_error_.reset();
  no_more_readers_ = false;
  reader_error_.reset();
  if (spare_.cause().empty()) spare_ = no_memory();
  paused_.store(false, std::memory_order_seq_cst);
  // A stop says so before it pauses, so that one of the two is seen.
  if (stopped_.load(std::memory_order_seq_cst)) paused_.store(true, std::memory_order_seq_cst);
  started_ = true;
  admit(lock);
}

BatchBuffer* Engine::wait(std::uint64_t epoch) {
  if (reordered_ != nullptr) return wait_reordered(epoch);
  Lock lock(mutex_, std::defer_lock);
  if (delivered_ == admitted_.load(std::memory_order_acquire)) {
    lock.lock();
    admit(lock);
    changed_.wait(
        lock, [this] { return !admitting_ || paused() || delivered_ != admitted_.load(std::memory_order_relaxed); });
    if (paused()) return nullptr;
    if (delivered_ == admitted_.load(std::memory_order_acquire)) {
      if (order_error_) throw *order_error_;
      throw leases_exhausted();
    }
    lock.unlock();
  }
  BatchBuffer& buffer = buffer_of(delivered_);
  const auto ready = [&] { return buffer.state.load(std::memory_order_seq_cst) == BufferState::ready; };
  // Sleeping and being woken costs about what a batch of tiny samples does. Where runners need every core, this one is
  // theirs.
  if (may_spin_)
    for (const std::uint64_t begun = now_ns(); !ready() && !paused() && now_ns() - begun < spin_ns;)
      for (int i = 0; i < 64 && !ready(); ++i) relax();
  if (ready()) return paused() ? nullptr : &buffer;
  lock.lock();
  waiting_.store(true, std::memory_order_seq_cst);
  while (!ready() && !paused() && !failed_) sleep_or_help(lock, ready);
  waiting_.store(false, std::memory_order_relaxed);
  if (paused()) return nullptr;
  if (!ready()) throw *reader_error_;
  return &buffer;
}

LeasesExhausted Engine::leases_exhausted() const {
  return {Errc::leases_exhausted, "the caller holds all " + std::to_string(ring_.depth()) +
                                      " batches of the ring; let some go, or raise `depth`"};
}

void Engine::lease(BatchBuffer& buffer) {
  const Lock lock(mutex_);
  ring_.lease(buffer);
  ++delivered_;
  ++leased_;
}

void Engine::release(BatchBuffer& buffer) noexcept {
  Lock lock(mutex_);
  ring_.release(buffer);
  --leased_;
  admit(lock);
}

void Engine::stop() noexcept {
  // A sample whose work saw the request may be unfinished, so whoever takes it must see that all is over.
  stopped_.store(true, std::memory_order_seq_cst);
  paused_.store(true, std::memory_order_seq_cst);
  stop_source_.request_stop();
  { const Lock lock(mutex_); }
  changed_.notify_all();
}

void Engine::interrupt() noexcept {
  {
    const Lock lock(mutex_);
    paused_.store(true, std::memory_order_seq_cst);
  }
  changed_.notify_all();
}

void Engine::close() noexcept {
  stop();
  {
    const std::lock_guard at_door(door_->mutex);
    door_->engine = nullptr;
  }
  std::vector<std::unique_ptr<ChainRun>> runs;  // readers and streams are a user's: they go without the mutex
  std::unique_ptr<BlockSchedule> blocks;
  std::unique_ptr<Reordered> reordered;
  Lock lock(mutex_);
  closed_ = true;
  changed_.wait(lock, [this] { return running_ == 0 && !admitting_; });
  idle_runs_.clear();
  runs.swap(runs_);
  reordered.swap(reordered_);
  blocks.swap(blocks_);
  lock.unlock();
}

Engine::Totals Engine::totals() const {
  const Lock lock(mutex_);
  Totals t;
  t.steps.resize(chain_.steps().size());
  for (const auto& run : runs_) {
    for (std::size_t i = 0; i < t.steps.size(); ++i) {
      t.steps[i].cpu_ns += run->counters[i].cpu_ns.get();
      t.steps[i].bytes += run->counters[i].bytes.get();
      t.steps[i].wait_ns += run->counters[i].wait_ns.get();
    }
    t.samples += run->totals.samples.get();
    t.recalled += run->totals.recalled.get() + run->parents.recalled.get();
    t.measured += run->totals.measured.get();
    t.wall_ns += run->totals.wall_ns.get();
    t.delay_ns += run->delay.delay_ns();
    t.delay_measured_ns += run->delay.measured_ns();
    t.stood_for += run->totals.stood_for.get();
    t.copied_bytes += run->totals.copied_bytes.get();
    t.copied_bytes += run->parents.copied_bytes.get();
    t.copied_bytes += run->reads.copied_bytes.get();
    t.wall_ns += run->parents.wall_ns.get() + run->reads.wall_ns.get();
    t.parents += run->parents.samples.get();
    t.parents_stood_for += run->parents.stood_for.get();
    t.reads += run->reads.samples.get();
    t.shared_record_bytes = std::max<std::size_t>(
        t.shared_record_bytes, std::max(run->parents.scratch_bytes.get(), run->reads.scratch_bytes.get()));
    t.reads_stood_for += run->reads.stood_for.get();
    t.scratch_bytes = std::max<std::size_t>(t.scratch_bytes, run->totals.scratch_bytes.get());
  }
  t.kept = t.samples;
  if (reordered_ != nullptr) {
    t.kept = reordered_->reorder_buffer().kept();
    t.entries = reordered_->reorder_buffer().rows();
    t.entry_bytes = reordered_->reorder_buffer().bytes_each() + reordered_->reorder_buffer().most_appended();
    t.copied_bytes += reordered_->reorder_buffer().appended_bytes();
    t.copied_bytes += t.kept * ring_.layout().row().row_bytes();
    t.shared_records = reordered_->shared_records() != nullptr ? reordered_->shared_records()->size() : 0;
  }
  if (blocks_ != nullptr) t.blocks = blocks_->counts();
  t.buffer_bytes = ring_.layout().bytes() + ring_.appended_bytes();
  t.busy_ns = busy_ns_ + running_ * now_ns();
  t.helped = helped_;
  t.threads_seen = threads_seen_;
  t.readers = runs_.size();
  if (reader_error_) t.reader_error = reader_error_->what();
  return t;
}

}  // namespace penstock::detail
