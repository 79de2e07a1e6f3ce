// SPDX-License-Identifier: Apache-2.0
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "emulated_streams.hpp"
#include "small_random.hpp"

namespace penstock::detail {

namespace {

class LateStreams final : public EmulatedStreams {
 public:
  explicit LateStreams(std::uint64_t seed) : random_(seed), steps_by_chance_(seed != 0) {}

  std::size_t add() override {
    const std::lock_guard lock(mutex_);
    if (!removed_.empty()) {
      const std::size_t again = removed_.back();
      removed_.pop_back();
      return again;
    }
    removed_.reserve(streams_.size() + 1);
    streams_.emplace_back();
    return streams_.size() - 1;
  }
  void remove(std::size_t stream) noexcept override {
    const std::lock_guard lock(mutex_);
    removed_.push_back(stream);
  }
  void enqueue(std::size_t stream, Operation operation) override {
    const std::lock_guard lock(mutex_);
    streams_[stream].operations.push_back(std::move(operation));
    ++streams_[stream].progress->enqueued;
    if (!steps_by_chance_ || random_.below(3) != 0) return;
    const std::size_t chosen = random_.below(streams_.size());
    if (!streams_[chosen].operations.empty()) step(chosen);
  }
  std::shared_ptr<Progress> progress(std::size_t stream) noexcept override {
    const std::lock_guard lock(mutex_);
    return streams_[stream].progress;
  }
  void finish(std::size_t stream, const Progress& progress, std::uint32_t count) noexcept override {
    const std::lock_guard lock(mutex_);
    while (!progress.has_done(count)) step(stream);
  }
  void reach(const StreamPoint& point) override {
    const std::lock_guard lock(mutex_);
    run_to(point);
  }
  void look(const StreamPoint& point) override {
    const std::lock_guard lock(mutex_);
    if (point.reached.load(std::memory_order_relaxed) == 0) step(point.stream);
  }

 private:
  // A step may call `run_to` again for the point it waits for. That point was enqueued before the wait, so the
  // recursion ends.
  void run_to(const StreamPoint& point) {
    while (point.reached.load(std::memory_order_relaxed) == 0) step(point.stream);
  }
  void step(std::size_t stream) {
    Operation operation = std::move(streams_[stream].operations.front());
    streams_[stream].operations.pop_front();
    perform(operation, [this](const StreamPoint& point) { run_to(point); });
    streams_[stream].progress->note_done();
  }

  struct LateStream {
    std::deque<Operation> operations;
    std::shared_ptr<Progress> progress = std::make_shared<Progress>();
  };

  std::mutex mutex_;
  std::deque<LateStream> streams_;
  std::vector<std::size_t> removed_;
  SmallRandom random_;
  bool steps_by_chance_;
};

}  // namespace

std::unique_ptr<EmulatedStreams> late_streams(std::uint64_t seed) { return std::make_unique<LateStreams>(seed); }

}  // namespace penstock::detail
