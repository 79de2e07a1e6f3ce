#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "futex.hpp"
#include "happens_before.hpp"

namespace penstock::detail {

/// A point on an emulated stream.
struct Record {
  std::atomic<std::uint32_t> reached{0};
  std::size_t stream = 0;
  HappensBefore::Clock clock;  ///< where orders are checked
};

/// What is put on an emulated stream.
struct Operation {
  enum class Kind : std::uint8_t { work, record, wait, look };  ///< look: work that takes no time
  Kind kind = Kind::work;
  std::function<void()> work = {};
  std::shared_ptr<Record> record = {};  ///< record that is reached, or waited for
};

/// How far a stream has come: it can be waited for without memory.
struct Progress {
  std::uint32_t enqueued = 0;          ///< whoever enqueues
  std::atomic<std::uint32_t> done{0};  ///< of these
  bool has_done(std::uint32_t count) const noexcept {
    return static_cast<std::int32_t>(done.load(std::memory_order_acquire) - count) >= 0;
  }
  void note_done() noexcept {
    done.fetch_add(1, std::memory_order_release);
    futex_wake_all(done);
  }
};

/// Does it, on the thread of its stream; `wait` returns once a record is reached.
template <class Wait>
void perform(Operation& operation, Wait&& wait) {
  switch (operation.kind) {
    case Operation::Kind::work:
    case Operation::Kind::look:
      operation.work();
      break;
    case Operation::Kind::record:
      operation.record->reached.store(1, std::memory_order_release);
      futex_wake_all(operation.record->reached);
      break;
    case Operation::Kind::wait:
      wait(*operation.record);
      break;
  }
}

/// Streams of one device: when what is enqueued gets done. `add`, `remove` and `enqueue` one thread at a time.
class EmulatedStreams {
 public:
  virtual ~EmulatedStreams() = default;
  virtual std::size_t add() = 0;
  /// One on which everything is done. Another one may get its number.
  virtual void remove(std::size_t stream) noexcept = 0;
  virtual void enqueue(std::size_t stream, Operation operation) = 0;
  virtual std::shared_ptr<Progress> progress(std::size_t stream) noexcept = 0;
  /// Returns once so many of what was enqueued there are done. Any thread, while the stream is there.
  virtual void finish(std::size_t stream, const Progress& progress, std::uint32_t count) noexcept = 0;
  /// Returns once it is reached. Any thread.
  virtual void reach(const Record& record) = 0;
  /// Somebody looks whether it is: without it, who only looks might look for ever.
  virtual void look(const Record& record) = 0;
};

/// Nothing is done before somebody waits for it, on the thread that does: the latest moment there is. With a seed other
/// than 0, whenever something is enqueued, one stream may take a step, by chance. The same calls make the same steps.
std::unique_ptr<EmulatedStreams> late_streams(std::uint64_t seed);

/// A thread for each stream, which takes up to so many microseconds, by chance, before each step.
std::unique_ptr<EmulatedStreams> threaded_streams(std::uint64_t seed, std::uint32_t max_delay_us);

}  // namespace penstock::detail
