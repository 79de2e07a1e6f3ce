#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include <penstock/error.hpp>

#include "base/failure.hpp"
#include "chain/chain.hpp"
#include "write/write.hpp"

// Samples that share nothing, each of a record that is read on its own: what is there is not even read.
namespace penstock::detail {

namespace {

// A sample on its way to the sink: its own working state, so that a finished one stays while its runner goes on.
struct WindowCell {
  enum class State : std::uint8_t { empty, waiting, running, done } state = State::empty;
  SinkItem item;
  std::unique_ptr<ChainRun> run;
  std::optional<Error> error;
  bool broken = false;  // there was no memory to say what failed
  bool kept = true;     // false: filtered
  std::uint64_t bytes = 0;
};

// Samples in work, oldest first. The caller's thread admits and takes them; tasks run them. A reader may be a file and
// a decoder, so there are as many as samples are run at once, not as many as wait.
class WriteWindow {
 public:
  WriteWindow(std::shared_ptr<const PipelineData> data, std::size_t cells, std::size_t most_bytes, unsigned threads,
              Executor::Impl& executor, std::stop_token stop)
      : door_(std::make_shared<Door>()),
        data_(std::move(data)),
        chain_(data_),
        cells_(cells),
        most_bytes_(most_bytes),
        threads_(threads),
        executor_(executor),
        stop_(std::move(stop)) {
    door_->window = this;
    idle_readers_.reserve(threads + std::size_t{1});  // tasks, and the caller
  }

  bool full() const noexcept { return tail_ - head_ == cells_.size(); }
  bool empty() const noexcept { return tail_ == head_; }
  std::uint64_t bytes() {
    const std::unique_lock lock(mutex_);
    return bytes_;
  }

  void admit(SinkItem item) {
    const std::unique_lock lock(mutex_);
    WindowCell& cell = at(tail_++);
    cell.item = std::move(item);
    cell.error.reset();
    cell.broken = false;
    cell.state = WindowCell::State::waiting;
    wake();
  }
  // In its place, a sample that nobody need make to know that it is bad.
  void admit_bad(SinkItem item, Error error) {
    const std::unique_lock lock(mutex_);
    WindowCell& cell = at(tail_++);
    cell.item = std::move(item);
    cell.error = std::move(error);
    cell.broken = false;
    cell.bytes = 0;
    cell.state = WindowCell::State::done;
  }
  // The oldest sample, once it is done. Runs samples itself while no task does.
  WindowCell& oldest() {
    std::unique_lock lock(mutex_);
    while (at(head_).state != WindowCell::State::done) {
      using namespace std::chrono_literals;
      // Once it had to help and still no task runs, it goes on without waiting in between.
      if ((alone_ && running_ == 0) || changed_.wait_for(lock, 5ms) == std::cv_status::timeout) alone_ = run_one(lock);
    }
    bytes_ -= at(head_).bytes;
    return at(head_);
  }
  void pop() {
    const std::unique_lock lock(mutex_);
    at(head_++).state = WindowCell::State::empty;
    if (next_ < tail_) wake();  // there may be room for bytes again
  }
  // When this returns, no task is in here, and none comes in.
  void close() noexcept {
    {
      const std::lock_guard at_door(door_->mutex);
      door_->window = nullptr;
    }
    std::unique_lock lock(mutex_);
    closed_ = true;
    changed_.wait(lock, [this] { return inside_ == 0; });
  }

 private:
  // How tasks come in. They hold the door alone, so that none that waits for a thread keeps what the window was given.
  struct Door {
    std::mutex mutex;
    WriteWindow* window = nullptr;
  };

  WindowCell& at(std::uint64_t number) { return cells_[number % cells_.size()]; }

  void wake() noexcept {
    if (tasks_ == threads_) return;
    try {
      executor_.submit([door = door_] {
        std::unique_lock at_door(door->mutex);
        if (door->window == nullptr) return;
        WriteWindow& window = *door->window;
        std::unique_lock lock(window.mutex_);
        at_door.unlock();
        window.work(lock);
      });
      ++tasks_;
    } catch (...) {  // no memory for a task: the caller makes the samples
    }
  }
  void work(std::unique_lock<std::mutex>& lock) noexcept {
    ++inside_;
    alone_ = false;
    const auto begun = std::chrono::steady_clock::now();
    bool gives_way = false;
    while (!gives_way && run_one(lock))
      gives_way = executor_.waiting() != 0 && std::chrono::steady_clock::now() - begun > Executor::Impl::turn;
    --tasks_;
    if (gives_way && !closed_) wake();
    --inside_;
    changed_.notify_all();
  }
  // A reader that nobody uses, or a new one. None: those there are do the work, and this thread is one too many; or,
  // with `error`, there is none at all.
  std::unique_ptr<ReaderModel> lease_reader(std::unique_lock<std::mutex>& lock, std::optional<Error>& error,
                                            bool& broken) noexcept {
    std::unique_ptr<ReaderModel> reader;
    if (!idle_readers_.empty()) {
      reader = std::move(idle_readers_.back());
      idle_readers_.pop_back();
      return reader;
    }
    if (no_more_readers_) return nullptr;
    ++readers_;
    lock.unlock();
    try {
      reader = data_->source->open_reader();
    } catch (...) {
      error = described_error("read", data_->source.get());
      broken = !error;
    }
    lock.lock();
    if (reader != nullptr) return reader;
    if (--readers_ != 0) {
      no_more_readers_ = true;
      error.reset();
      broken = false;
    }
    return nullptr;
  }
  bool waits() noexcept {
    for (next_ = std::max(next_, head_); next_ < tail_; ++next_)
      if (at(next_).state == WindowCell::State::waiting)
        return bytes_ < most_bytes_ || next_ == head_;  // the oldest is what makes room
    return false;
  }
  bool run_one(std::unique_lock<std::mutex>& lock) noexcept {
    if (closed_ || !waits()) return false;
    std::optional<Error> error;
    bool broken = false;
    std::unique_ptr<ReaderModel> reader = lease_reader(lock, error, broken);
    if (reader == nullptr && !error && !broken) return false;
    if (closed_ || !waits()) {
      if (reader != nullptr) idle_readers_.push_back(std::move(reader));
      return false;
    }
    WindowCell& cell = at(next_++);
    cell.state = WindowCell::State::running;
    ++running_;
    lock.unlock();
    if (reader != nullptr) {
      make(cell, reader);
    } else {
      cell.error = std::move(error);
      cell.broken = broken;
      cell.bytes = 0;
    }
    lock.lock();
    if (reader != nullptr) idle_readers_.push_back(std::move(reader));
    --running_;
    cell.state = WindowCell::State::done;
    bytes_ += cell.bytes;
    changed_.notify_all();
    return true;
  }
  void make(WindowCell& cell, std::unique_ptr<ReaderModel>& reader) noexcept {
    cell.bytes = 0;
    try {
      if (cell.run == nullptr) {
        cell.run = std::make_unique<ChainRun>(chain_, ~std::size_t{0}, nullptr);
        cell.run->stop = stop_;
      }
      std::swap(cell.run->reader, reader);
      cell.kept = chain_.run(*cell.run, Place{0, cell.item.position, 0, 0}, cell.item.index, {});
      cell.run->at = nullptr;
      // The reader goes on to another sample, and what it gave to view goes with it.
      for (std::size_t slot = 0; cell.kept && slot < cell.run->cells.size(); ++slot) {
        cell.run->own(slot);
        cell.bytes += cell.run->cells[slot].shape.elements() * size_of((*cell.run->schema)[slot].dtype);
      }
    } catch (...) {
      try {
        cell.error = cell.run != nullptr ? chain_.describe_failure(*cell.run, cell.item.index) : current_error();
      } catch (...) {
        cell.broken = true;
      }
    }
    if (reader == nullptr) std::swap(cell.run->reader, reader);
    reader->pause();
  }

  std::shared_ptr<Door> door_;
  std::shared_ptr<const PipelineData> data_;
  Chain chain_;
  std::vector<WindowCell> cells_;
  std::vector<std::unique_ptr<ReaderModel>> idle_readers_;
  std::size_t most_bytes_;
  unsigned threads_;
  Executor::Impl& executor_;
  std::stop_token stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t head_ = 0, tail_ = 0, next_ = 0;
  std::uint64_t bytes_ = 0;
  unsigned tasks_ = 0, running_ = 0;  // tasks: waiting for a thread, or in here
  unsigned inside_ = 0;
  unsigned readers_ = 0;  // open, or being opened
  bool closed_ = false, alone_ = false, no_more_readers_ = false;
};

// Closes the window on every way out.
struct WindowClosing {
  WriteWindow& window;
  ~WindowClosing() { window.close(); }
};

}  // namespace

bool write_samples(WriteRun& run, const std::shared_ptr<const PipelineData>& shared, Executor::Impl& executor,
                   unsigned threads) {
  const PipelineData& data = *shared;
  const WriteOptions& options = run.options();
  WriteProgress& progress = run.progress;
  const std::size_t cells = options.window != 0 ? options.window : std::size_t{8} * threads;
  WriteWindow window(shared, cells, options.window_bytes, threads, executor, options.stop);
  const WindowClosing closing{window};
  const bool drops_bad = data.policy_value().policy == OnError::drop;
  PolicyLedger ledger(data.policy_value());
  WriteItems items(data);
  std::uint64_t position = 0;
  progress.total = data.size;
  run.open();

  // What the order, the keys or the sink say of samples to come waits until those before them are stored.
  std::optional<Error> ahead;
  const auto fill_window = [&] {
    while (!ahead && position < data.size && !window.full() &&
           (window.empty() || window.bytes() < options.window_bytes) && !options.stop.stop_requested()) {
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
    WindowCell& cell = window.oldest();
    if (options.stop.stop_requested()) break;  // long work that saw it may have left its sample unfinished
    const bool drops = drops_bad && cell.error && cell.error->sample_scoped();
    if ((cell.error || cell.broken) && !drops) {
      run.commit();
      throw cell.error ? *cell.error : no_memory();
    }
    ++progress.done;
    if (drops) {
      ++progress.dropped;
      try {
        std::vector<BadSample> bad;
        bad.push_back({cell.item.position, std::move(*cell.error), false});
        ledger.account(bad, 0);
      } catch (...) {
        run.commit();
        throw;
      }
    } else if (!cell.kept) {
      ++progress.filtered;
    } else {
      Sample sample(*cell.run);
      run.put(cell.item, sample, cell.bytes);
    }
    window.pop();
    run.commit_if_due();
  }
  run.commit();
  if (ahead && !options.stop.stop_requested()) throw *ahead;
  return progress.done == data.size;
}

}  // namespace penstock::detail
