#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include <penstock/error.hpp>

#include "base/failure.hpp"
#include "chain/chain.hpp"
#include "data/scratch.hpp"
#include "engine/runner_pool.hpp"
#include "write/write.hpp"

// Samples that share nothing, each of a record that is read on its own: what is there is not even read.
namespace penstock::detail {

namespace {

// What a sample has in the end, in memory of its own: a finished one stays while its runner goes on. The runner's
// memory, where it is made, is the same for each, and so in a cache.
class FinishedCells final : public Cells {
 public:
  // Returns their bytes.
  std::uint64_t copy(ChainRun& run) {
    arena_.reset();
    schema = run.schema;
    cells.resize(run.cells.size());
    std::uint64_t all = 0;
    for (std::size_t slot = 0; slot < cells.size(); ++slot) {
      const std::byte* const value = run.value(slot);
      const Shape& shape = run.cells[slot].shape;
      const std::size_t bytes = static_cast<std::size_t>(shape.elements()) * size_of((*schema)[slot].dtype);
      std::byte* const to = arena_.allocate(std::max<std::size_t>(bytes, 1));
      if (bytes != 0) std::memcpy(to, value, bytes);
      cells[slot] = {};
      cells[slot].data = to;
      cells[slot].shape = shape;
      cells[slot].writable = true;
      all += bytes;
    }
    return all;
  }

 protected:
  std::byte* scratch(std::size_t bytes) override { return arena_.allocate(bytes); }

 private:
  ScratchArena arena_;
};

// A sample on its way to the sink.
struct WriteEntry {
  enum class State : std::uint8_t { empty, waiting, running, done } state = State::empty;
  SinkItem item;
  std::unique_ptr<FinishedCells> values;
  std::optional<Error> error;
  bool broken = false;  // there was no memory to say what failed
  bool kept = true;     // false: filtered
  std::uint64_t bytes = 0;
};

// Samples in work, oldest first. The caller's thread admits and takes them; runners make them. A reader may be a file
// and a decoder, so there are as many as samples are made at once, not as many as wait.
class WriteWindow final : private RunnerWork {
 public:
  WriteWindow(std::shared_ptr<const PipelineData> data, std::size_t entries, std::size_t max_bytes, unsigned threads,
              Executor::Impl& executor, std::stop_token stop)
      : data_(std::move(data)),
        chain_(data_),
        entries_(entries),
        max_bytes_(max_bytes),
        stop_(std::move(stop)),
        executor_(executor),
        pool_(*this, *data_->source, monitor_, executor, threads) {
    monitor_.paused.store(false, std::memory_order_seq_cst);
  }
  ~WriteWindow() override {
    pool_.close_door();
    monitor_.paused.store(true, std::memory_order_seq_cst);
    Lock lock(monitor_.mutex);
    monitor_.closed = true;
    monitor_.changed.wait(lock, [this] { return pool_.idle(); });
  }
  WriteWindow(const WriteWindow&) = delete;
  WriteWindow& operator=(const WriteWindow&) = delete;

  bool full() const noexcept { return tail_ - head_ == entries_.size(); }
  // Worth filling up: where single samples came and went, runners would fall asleep and be woken for each.
  bool has_room() const noexcept {
    return entries_.size() - (tail_ - head_) >= std::max<std::size_t>(entries_.size() / 4, 1);
  }
  bool empty() const noexcept { return tail_ == head_; }
  std::uint64_t bytes() {
    const Lock lock(monitor_.mutex);
    return bytes_;
  }

  void admit(SinkItem item) {
    Lock lock(monitor_.mutex);
    WriteEntry& entry = at(tail_++);
    entry.item = std::move(item);
    entry.error.reset();
    entry.broken = false;
    entry.state = WriteEntry::State::waiting;
    pool_.wake(lock);
  }
  // In its place, a sample that nobody need make to know that it is bad.
  void admit_bad(SinkItem item, Error error) {
    const Lock lock(monitor_.mutex);
    WriteEntry& entry = at(tail_++);
    entry.item = std::move(item);
    entry.error = std::move(error);
    entry.broken = false;
    entry.bytes = 0;
    entry.state = WriteEntry::State::done;
  }
  // The oldest sample, once it is done; null where no reader can be opened at all.
  WriteEntry* oldest() {
    Lock lock(monitor_.mutex);
    const auto done = [this] { return at(head_).state == WriteEntry::State::done; };
    while (!done() && !pool_.failed()) pool_.sleep_or_help(lock, done);
    if (!done()) return nullptr;
    bytes_ -= at(head_).bytes;
    return &at(head_);
  }
  Error reader_error() {
    const Lock lock(monitor_.mutex);
    return *pool_.reader_error();
  }
  void pop() {
    Lock lock(monitor_.mutex);
    at(head_++).state = WriteEntry::State::empty;
    if (next_ < tail_) pool_.wake(lock);  // there may be room for bytes again
  }

 private:
  using Lock = Monitor::Lock;

  WriteEntry& at(std::uint64_t number) { return entries_[number % entries_.size()]; }

  std::unique_ptr<ChainRun> open_run() override {
    auto run = std::make_unique<ChainRun>(chain_, ~std::size_t{0}, data_->source->open_reader());
    run->stop = stop_;
    return run;
  }
  bool has_work() noexcept override {
    for (next_ = std::max(next_, head_); next_ < tail_; ++next_)
      if (at(next_).state == WriteEntry::State::waiting)
        return bytes_ < max_bytes_ || next_ == head_;  // the oldest is what makes room
    return false;
  }
  bool work(ChainRun& run) noexcept override {
    const Turn turn(executor_);
    while (!monitor_.is_paused() && make_one(run))
      if (turn.over()) return true;
    return false;
  }
  void help(ChainRun& run) noexcept override { make_one(run); }

  // False: none waits.
  bool make_one(ChainRun& run) noexcept {
    Lock lock(monitor_.mutex);
    if (!has_work()) return false;
    WriteEntry& entry = at(next_++);
    entry.state = WriteEntry::State::running;
    lock.unlock();
    make(entry, run);
    lock.lock();
    entry.state = WriteEntry::State::done;
    bytes_ += entry.bytes;
    monitor_.changed.notify_all();
    return true;
  }
  void make(WriteEntry& entry, ChainRun& run) noexcept {
    entry.bytes = 0;
    try {
      if (entry.values == nullptr) entry.values = std::make_unique<FinishedCells>();
      entry.kept = chain_.run(run, Place{0, entry.item.position, 0, 0}, entry.item.index, {});
      run.at = nullptr;
      if (entry.kept) entry.bytes = entry.values->copy(run);
    } catch (...) {
      try {
        entry.error = chain_.describe_failure(run, entry.item.index);
      } catch (...) {
        entry.broken = true;
      }
    }
    run.reader->pause();
  }

  std::shared_ptr<const PipelineData> data_;
  const Chain chain_;
  std::vector<WriteEntry> entries_;
  const std::size_t max_bytes_;
  const std::stop_token stop_;
  Executor::Impl& executor_;
  Monitor monitor_;
  // Under its mutex:
  std::uint64_t head_ = 0, tail_ = 0, next_ = 0;
  std::uint64_t bytes_ = 0;
  RunnerPool pool_;
};

}  // namespace

bool write_samples(WriteRun& run, const std::shared_ptr<const PipelineData>& shared, Executor::Impl& executor,
                   unsigned threads) {
  const PipelineData& data = *shared;
  const WriteOptions& options = run.options();
  WriteProgress& progress = run.progress;
  const std::size_t entries = options.max_in_flight != 0 ? options.max_in_flight : std::size_t{32} * threads;
  WriteWindow window(shared, entries, options.max_waiting_bytes, threads, executor, options.stop);
  const bool drops_bad = data.policy_value().policy == OnError::drop;
  PolicyLedger ledger(data.policy_value());
  WriteItems items(data);
  std::uint64_t position = 0;
  progress.total = data.size;
  run.open();

  // What the order, the keys or the sink say of samples to come waits until those before them are stored.
  std::optional<Error> ahead;
  const auto fill_window = [&] {
    if (!window.has_room()) return;
    while (!ahead && position < data.size && !window.full() &&
           (window.empty() || window.bytes() < options.max_waiting_bytes) && !options.stop.stop_requested()) {
      SinkItem item;
      bool there = false;
      try {
        item = items.at_position(position++);
        try {
          items.name(item);
        } catch (const Error& error) {
          if (!drops_bad || !error.sample_scoped()) throw;
          window.admit_bad(std::move(item), error);
          continue;
        }
        there = run.has(item);
      } catch (...) {
        ahead = current_error();
        return;
      }
      if (there) {
        ++progress.skipped;
        ++progress.done;
        if (options.progress && progress.skipped % options.commit_every == 0) options.progress(progress);
      } else {
        window.admit(std::move(item));
      }
    }
  };

  for (fill_window(); !window.empty(); fill_window()) {
    WriteEntry* const oldest = window.oldest();
    if (options.stop.stop_requested()) break;  // long work that saw it may have left its sample unfinished
    if (oldest == nullptr) {
      run.commit();
      throw window.reader_error();
    }
    WriteEntry& entry = *oldest;
    const bool drops = drops_bad && entry.error && entry.error->sample_scoped();
    if ((entry.error || entry.broken) && !drops) {
      run.commit();
      throw entry.error ? *entry.error : no_memory();
    }
    ++progress.done;
    if (drops) {
      ++progress.dropped;
      try {
        std::vector<BadSample> bad;
        bad.push_back({entry.item.position, std::move(*entry.error), false});
        ledger.account(bad, 0);
        if (options.on_drop) options.on_drop(bad.front().error);
      } catch (...) {
        run.commit();
        throw;
      }
    } else if (!entry.kept) {
      ++progress.filtered;
    } else {
      Sample sample(*entry.values);
      run.put(entry.item, sample, entry.bytes);
    }
    window.pop();
    run.commit_if_due();
  }
  run.commit();
  if (ahead && !options.stop.stop_requested()) throw *ahead;
  return progress.done == data.size;
}

}  // namespace penstock::detail
