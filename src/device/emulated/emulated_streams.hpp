// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "futex.hpp"
#include "race_detector.hpp"

namespace penstock::detail {

/// A point on an emulated stream.
struct StreamPoint {
  std::atomic<std::uint32_t> reached{0};
  std::size_t stream = 0;
  RaceDetector::Clock clock;  ///< used only with `EmulatedGpuOptions::checked`
};

/// One piece of work on an emulated stream.
struct Operation {
  enum class Kind : std::uint8_t { work, record, wait, look };  ///< `look`: work without a delay before it
  Kind kind = Kind::work;
  std::function<void()> work = {};
  std::shared_ptr<StreamPoint> point = {};  ///< the point that this operation reaches or waits for
};

/// How far a stream has come. A thread can wait for progress without allocating memory.
struct Progress {
  std::uint32_t enqueued = 0;          ///< number of enqueued operations; used only by one thread at a time, like
                                       ///< `EmulatedStreams::enqueue`
  std::atomic<std::uint32_t> done{0};  ///< number of operations that are done
  bool has_done(std::uint32_t count) const noexcept {
    return static_cast<std::int32_t>(done.load(std::memory_order_acquire) - count) >= 0;
  }
  void note_done() noexcept {
    done.fetch_add(1, std::memory_order_release);
    futex_wake_all(done);
  }
};

/// Performs an operation on the calling thread. `wait(point)` must wait until the point is reached.
template <class Wait>
void perform(Operation& operation, Wait&& wait) {
  switch (operation.kind) {
    case Operation::Kind::work:
    case Operation::Kind::look:
      operation.work();
      break;
    case Operation::Kind::record:
      operation.point->reached.store(1, std::memory_order_release);
      futex_wake_all(operation.point->reached);
      break;
    case Operation::Kind::wait:
      wait(*operation.point);
      break;
  }
}

/// The streams of one device. A derived class decides when enqueued work is done. One thread at a time may call `add`,
/// `remove`, `enqueue` and `progress`.
class EmulatedStreams {
 public:
  virtual ~EmulatedStreams() = default;
  virtual std::size_t add() = 0;
  /// Removes a stream. Its number may be used again. REQUIRES: everything on it is done.
  virtual void remove(std::size_t stream) noexcept = 0;
  virtual void enqueue(std::size_t stream, Operation operation) = 0;
  virtual std::shared_ptr<Progress> progress(std::size_t stream) noexcept = 0;
  /// Waits until the first `count` operations of the stream are done. Any thread may call it while the stream exists.
  virtual void finish(std::size_t stream, const Progress& progress, std::uint32_t count) noexcept = 0;
  /// Waits until the point is reached. Any thread may call it.
  virtual void reach(const StreamPoint& point) = 0;
  /// A thread calls this when it checks whether the point is reached. Streams that work only while a thread waits take
  /// a step then. Otherwise the thread might check for ever.
  virtual void look(const StreamPoint& point) = 0;
};

/// Returns streams that do work as late as possible: only when a thread waits for it or calls `look`. That thread does
/// the work. With a seed other than 0, each `enqueue` may also let one stream take a step, at random. The same calls
/// with the same seed take the same steps.
std::unique_ptr<EmulatedStreams> late_streams(std::uint64_t seed);

/// Returns streams with one thread each. If `max_delay_us` is not 0, the thread waits before each operation except a
/// `look`, for a random time of less than `max_delay_us` microseconds.
std::unique_ptr<EmulatedStreams> threaded_streams(std::uint64_t seed, std::uint32_t max_delay_us);

}  // namespace penstock::detail
