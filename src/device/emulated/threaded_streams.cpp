// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <penstock/error.hpp>

#include "emulated_streams.hpp"
#include "one_way_queue.hpp"
#include "small_random.hpp"

namespace penstock::detail {

namespace {

void wait_for(const StreamPoint& point) noexcept {
  while (point.reached.load(std::memory_order_acquire) == 0) futex_wait(point.reached, 0);
}

class ThreadedStream {
 public:
  ThreadedStream(std::uint64_t seed, std::uint32_t max_delay_us)
      : random_(seed), max_delay_us_(max_delay_us), thread_([this] { run(); }) {}
  // The thread does all enqueued work before it ends.
  ~ThreadedStream() {
    closing_.store(true, std::memory_order_release);
    operations_.ring();
    thread_.join();
  }
  void enqueue(Operation operation) {
    operations_.push(std::move(operation));
    ++progress_->enqueued;
  }
  const std::shared_ptr<Progress>& progress() const noexcept { return progress_; }

 private:
  void run() {
    for (;;) {
      const std::uint32_t bell = operations_.bell();
      const bool closing = closing_.load(std::memory_order_acquire);
      Operation* const operation = operations_.front();
      if (operation != nullptr) {
        if (max_delay_us_ != 0 && operation->kind != Operation::Kind::look)
          std::this_thread::sleep_for(std::chrono::microseconds(random_.below(max_delay_us_)));
        perform(*operation, wait_for);
        operations_.pop();
        progress_->note_done();
      } else if (closing) {
        return;
      } else {
        operations_.sleep(bell);
      }
    }
  }

  OneWayQueue<Operation> operations_;
  const std::shared_ptr<Progress> progress_ = std::make_shared<Progress>();
  std::atomic<bool> closing_{false};
  SmallRandom random_;
  std::uint32_t max_delay_us_;
  std::thread thread_;  // the last member, because the thread uses the others
};

class ThreadedStreams final : public EmulatedStreams {
 public:
  ThreadedStreams(std::uint64_t seed, std::uint32_t max_delay_us) : seed_(seed), max_delay_us_(max_delay_us) {}
  std::size_t add() override {
    const auto unused = std::find(streams_.begin(), streams_.end(), nullptr);
    const auto number = static_cast<std::size_t>(unused - streams_.begin());
    if (unused == streams_.end()) streams_.emplace_back();
    try {
      streams_[number] = std::make_unique<ThreadedStream>(seed_ + made_++ * 0x2545f4914f6cdd1d, max_delay_us_);
    } catch (const std::system_error& error) {
      throw Error(Errc::limit_exceeded,
                  std::string("the thread of an emulated stream could not be started: ") + error.what());
    }
    return number;
  }
  void remove(std::size_t stream) noexcept override { streams_[stream].reset(); }
  void enqueue(std::size_t stream, Operation operation) override { streams_[stream]->enqueue(std::move(operation)); }
  std::shared_ptr<Progress> progress(std::size_t stream) noexcept override { return streams_[stream]->progress(); }
  void finish(std::size_t, const Progress& progress, std::uint32_t count) noexcept override {
    while (!progress.has_done(count)) {
      const std::uint32_t done = progress.done.load(std::memory_order_acquire);
      if (!progress.has_done(count)) futex_wait(progress.done, done);
    }
  }
  void reach(const StreamPoint& point) override { wait_for(point); }
  void look(const StreamPoint&) override {}

 private:
  std::uint64_t seed_;
  std::uint32_t max_delay_us_;
  std::uint64_t made_ = 0;
  std::vector<std::unique_ptr<ThreadedStream>> streams_;
};

}  // namespace

std::unique_ptr<EmulatedStreams> threaded_streams(std::uint64_t seed, std::uint32_t max_delay_us) {
  return std::make_unique<ThreadedStreams>(seed, max_delay_us);
}

}  // namespace penstock::detail
