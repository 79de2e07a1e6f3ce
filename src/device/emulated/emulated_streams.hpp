// SPDX-License-Identifier: Apache-2.0
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
  HappensBefore::Clock clock;  ///< only if orders are checked
};

/// One piece of work on an emulated stream.
struct Operation {
  enum class Kind : std::uint8_t { work, record, wait, look };  ///< look: work that takes no time
  Kind kind = Kind::work;
  std::function<void()> work = {};
  std::shared_ptr<Record> record = {};  ///< the record that is reached, or waited for
};

/// How far a stream has come. A thread can wait for it without allocating memory.
struct Progress {
  std::uint32_t enqueued = 0;          ///< number of operations; only for the thread that enqueues
  std::atomic<std::uint32_t> done{0};  ///< number of these that are done
  bool has_done(std::uint32_t count) const noexcept {
    return static_cast<std::int32_t>(done.load(std::memory_order_acquire) - count) >= 0;
  }
  void note_done() noexcept {
    done.fetch_add(1, std::memory_order_release);
    futex_wake_all(done);
  }
};

/// Performs an operation, on the thread of its stream. `wait` returns once a record is reached.
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

/// Streams of one device. They decide when enqueued work is done. `add`, `remove` and `enqueue` are for one thread at a
/// time.
class EmulatedStreams {
 public:
  virtual ~EmulatedStreams() = default;
  virtual std::size_t add() = 0;
  /// Removes a stream. Its number may be used again. REQUIRES: everything on it is done.
  virtual void remove(std::size_t stream) noexcept = 0;
  virtual void enqueue(std::size_t stream, Operation operation) = 0;
  virtual std::shared_ptr<Progress> progress(std::size_t stream) noexcept = 0;
  /// Returns once `count` operations of the stream are done. Any thread may call it while the stream exists.
  virtual void finish(std::size_t stream, const Progress& progress, std::uint32_t count) noexcept = 0;
  /// Returns once the record is reached. Any thread may call it.
  virtual void reach(const Record& record) = 0;
  /// Reports that a thread checks whether the record is reached. Without it, a thread that only checks might check for
  /// ever.
  virtual void look(const Record& record) = 0;
};

/// Returns streams that do nothing before a thread waits for it; that thread then does the work. This is the latest
/// possible moment. With a seed other than 0, each call that enqueues may also let one stream take a step, at random.
/// The same calls make the same steps.
std::unique_ptr<EmulatedStreams> late_streams(std::uint64_t seed);

/// Returns streams with one thread each. Before each step the thread waits for a random time of up to `max_delay_us`
/// microseconds.
std::unique_ptr<EmulatedStreams> threaded_streams(std::uint64_t seed, std::uint32_t max_delay_us);

}  // namespace penstock::detail
