// SPDX-License-Identifier: Apache-2.0
#include "delivery/device_delivery.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/counters.hpp"
#include "base/failure.hpp"
#include "delivery/device_lane.hpp"
#include "delivery/device_lease.hpp"
#include "delivery/device_parts.hpp"
#include "delivery/device_reaper.hpp"
#include "delivery/device_ring.hpp"
#include "delivery/device_scope.hpp"
#include "delivery/host_delivery.hpp"

namespace penstock::detail::runtime {

namespace {

// A batch that the submitter has sent, or the end of an epoch.
struct Submitted {
  DeviceBatch* batch = nullptr;
  std::optional<EpochEnd> end = {};
};

// Adds the time of its scope to a counter. If the counter is null, the time is not counted.
class ScopeTimer {
 public:
  explicit ScopeTimer(RelaxedCounter* on) noexcept : on_(on), begun_(on == nullptr ? 0 : now_ns()) {}
  ScopeTimer(const ScopeTimer&) = delete;
  ScopeTimer& operator=(const ScopeTimer&) = delete;
  ~ScopeTimer() {
    if (on_ != nullptr) on_->add(now_ns() - begun_);
  }

 private:
  RelaxedCounter* on_;
  std::uint64_t begun_;
};

// Has two threads in addition to the caller's thread. The submitter takes batches from the engine, as its consumer, and
// enqueues their copies. The reaper gives the engine's buffers back. A single thread for both would leave gaps between
// copies.
class DeviceDelivery final : public Delivery {
 public:
  DeviceDelivery(DeviceModels devices, std::shared_ptr<Engine> engine, const DeviceDeliveryOptions& options)
      : engine_(std::move(engine)), reordered_(engine_->data().reordered()), staging_(options.staging) {
    const MemoryPlan& plan = engine_->setup().plan;
    ring_ = std::make_shared<DeviceRing>(std::move(devices), engine_->setup().data, engine_->ring().layout(),
                                         options.grows ? std::min(plan.device_depth, 2u) : plan.device_depth,
                                         plan.device_depth, options.memory);
    for (std::size_t i = 0; i < ring_->devices().size(); ++i)
      lanes_.push_back(std::make_unique<DeviceLane>(*ring_, i, engine_->ring().layout(), engine_->ring().most(), plan,
                                                    engine_->setup().trace.get()));
    made_.reserve(2 * ring_->most());
    reaper_.emplace(*ring_, *engine_, lanes_);
    stuck_.reserve(ring_->most());
  }
  ~DeviceDelivery() override {
    DeviceDelivery::close();
    lanes_.clear();  // waits until no device reads the engine's buffers, which are destroyed next
  }

  std::size_t parts() const noexcept override { return lanes_.size(); }
  void check(std::span<const StreamRef> streams) const override {
    for (std::size_t i = 0; i < lanes_.size(); ++i) check_device_stream(lanes_[i]->device(), streams[i]);
  }

  void seek(const Cursor& cursor, const QuotaCount& count) override {
    Lock lock(ring_->mutex);
    course_ = Course::paused;
    lock.unlock();
    engine_->interrupt();
    lock.lock();
    ring_->changed.notify_all();
    // Does not wait until devices have read the buffers that were sent. The engine gets these buffers back later.
    ring_->changed.wait(lock, [&] { return submitter_is_ == Submitter::idle && !reaper_->stuck(lock); });
    recover(lock);
    give_up(lock);
    ring_->tell_of_lost(lock);
    ring_->clear_failure(lock);
    after_failure_.reset();
    epoch_ = cursor.epoch;
    lock.unlock();
    engine_->seek(cursor, count);
    lock.lock();
    begin_threads();
    course_ = Course::running;
    ring_->changed.notify_all();
  }

  void ask(std::span<const StreamRef> streams) noexcept override {
    for (std::size_t i = 0; i < lanes_.size(); ++i) lanes_[i]->ask(streams[i]);
  }

  BatchInfo* wait(std::uint64_t) override {
    Lock lock(ring_->mutex);
    for (;;) {
      if (engine_->stopped()) return nullptr;
      ring_->tell_of_lost(lock);                       // before ready batches, so that a loss is reported at once
      if (!made_.empty()) return made_.front().batch;  // null at an epoch's end
      if (ring_->failure(lock)) throw Error(*ring_->failure(lock));
      if (submitter_is_ == Submitter::starved && ring_->leased(lock) == ring_->usable(lock)) {
        if (grow(lock)) continue;
        throw LeasesExhausted(Errc::leases_exhausted, "the caller holds all " + std::to_string(ring_->leased(lock)) +
                                                          " batches on " + names_of(ring_->devices()) +
                                                          "; let some go, or raise `device_depth`" + why_not_);
      }
      ring_->changed.wait(lock);
    }
  }

  std::optional<Cursor> after_failure() const override {
    const Lock lock(ring_->mutex);
    return ring_->failure(lock) ? after_failure_ : std::nullopt;
  }

  std::optional<EpochEnd> take_epoch_end(std::uint64_t epoch) override {
    const Lock lock(ring_->mutex);
    if (engine_->stopped() || made_.empty() || !made_.front().end || made_.front().end->epoch != epoch)
      return std::nullopt;
    std::optional<EpochEnd> end = std::move(made_.front().end);
    made_.erase(made_.begin());
    --ends_;
    ring_->changed.notify_all();
    return end;
  }

  std::unique_ptr<Lease> make_lease(std::size_t part) override { return std::make_unique<DeviceLease>(ring_, part); }

  void arrive(BatchInfo& batch, std::span<const StreamRef> streams) override {
    for (std::size_t i = 0; i < lanes_.size(); ++i) lanes_[i]->arrive(static_cast<DeviceBatch&>(batch), streams[i]);
  }

  void take(std::span<const std::unique_ptr<Lease>> leases, BatchInfo& batch,
            std::span<const StreamRef> streams) noexcept override {
    auto& buffer = static_cast<DeviceBatch&>(batch);
    for (std::size_t i = 0; i < lanes_.size(); ++i) static_cast<DeviceLease&>(*leases[i]).take(buffer, streams[i]);
    const Lock lock(ring_->mutex);
    made_.erase(made_.begin());
    ring_->lease(lock, buffer);
  }

  void skip(BatchInfo& batch) noexcept override {
    const Lock lock(ring_->mutex);
    made_.erase(made_.begin());
    ring_->put_back(lock, static_cast<DeviceBatch&>(batch));
  }

  void stop() noexcept override {
    engine_->stop();
    { const Lock lock(ring_->mutex); }
    ring_->changed.notify_all();
  }

  void close() noexcept override {
    stop();
    {
      const Lock lock(ring_->mutex);
      course_ = Course::closing;
      reaper_->close(lock);
    }
    ring_->changed.notify_all();
    // The submitter must end before the engine is closed, because it is the engine's consumer.
    if (submitter_.joinable()) submitter_.join();
    engine_->close();
    reaper_->join();
    Lock lock(ring_->mutex);
    give_up(lock);
  }

  DeliveryTimes times() const override {
    DeliveryTimes times;
    if (!lanes_[0]->device().is_host())
      for (const auto& lane : lanes_) times.devices.push_back(lane->counts());
    times.sending = {for_batch_.get(), for_place_.get(), for_reading_.get(), in_calls_.get()};
    return times;
  }

  void describe(Report& report) const override {
    if (lanes_[0]->device().is_host())
      describe_host(report);
    else
      report.device = names_of(ring_->devices()) + " (" + lanes_[0]->device().name() + ")";
    std::size_t depth = 0;
    {
      const Lock lock(ring_->mutex);
      depth = ring_->depth(lock);
    }
    if (staging_ != nullptr)
      if (std::string note = staging_->note(); !note.empty()) report.notes.push_back(std::move(note));
    for (std::size_t i = lanes_.size(); i-- > 0;) lanes_[i]->describe(report, depth);
    if (depth < ring_->most())
      report.notes.push_back("on the device are " + std::to_string(depth) + " batches of " +
                             std::to_string(ring_->most()) + " there may be: no caller had to wait for more");
  }

 private:
  using Lock = DeviceRing::Lock;
  // What the submitter should send.
  enum class Course : std::uint8_t {
    paused,    // nothing, until `seek` has set where to begin
    running,   // every batch
    finished,  // nothing, because the last epoch was sent
    closing,   // nothing any more
  };
  enum class Submitter : std::uint8_t {
    idle,
    busy,
    starved,  // it has a batch, and no buffer on the device is free
  };

  void begin_threads() {
    try {
      if (!submitter_.joinable()) submitter_ = std::thread([this] { submit(); });
      reaper_->begin();
    } catch (const std::system_error& error) {
      throw Error(Errc::limit_exceeded,
                  std::string("the two threads that serve a device could not be started: ") + error.what());
    }
  }

  // Allocates one more batch on the device. Returns false if the ring has its largest size, or if there is no memory.
  bool grow(Lock& lock) {
    if (!ring_->can_grow(lock)) return false;
    lock.unlock();
    bool grown = true;
    try {
      ring_->grow();
      why_not_.clear();
    } catch (const Error& error) {
      if (error.code() != Errc::out_of_memory) throw;
      why_not_ = "; there was no memory for more: " + error.cause();
      grown = false;
    }
    lock.lock();
    return grown;
  }

  // After a failure, waits until all work of the lanes has ended, and takes back all buffers that this work could still
  // use. @throws Error(device).
  void recover(Lock& lock) {
    if (!reaper_->failed(lock) && stuck_.empty()) return;
    lock.unlock();
    for (const auto& lane : lanes_) lane->recover();
    lock.lock();
    reaper_->recovered(lock);
    for (DeviceBatch* buffer : stuck_) ring_->put_back(lock, *buffer);
    stuck_.clear();
    ring_->changed.notify_all();
  }

  void give_up(Lock& lock) noexcept {
    for (const Submitted& made : made_)
      if (made.batch != nullptr) ring_->put_back(lock, *made.batch);
    made_.clear();
    ends_ = 0;
  }

  // -- the submitter --

  bool may_submit(const Lock& lock) const noexcept {
    return course_ == Course::running && !engine_->stopped() && reaper_->reading(lock) < engine_->ring().depth() &&
           ends_ < ring_->most();
  }

  // Returns whether the submitter must drop the batch that it has.
  bool must_leave(const Lock& lock) const {
    return course_ == Course::paused || course_ == Course::closing || ring_->failure(lock);
  }

  void submit() noexcept {
    Lock lock(ring_->mutex);
    DeviceScope entry(ring_->devices());
    for (;;) {
      {
        const bool all_are_in_reading = course_ == Course::running && reaper_->reading(lock) >= engine_->ring().depth();
        const ScopeTimer waiting(all_are_in_reading ? &for_reading_ : nullptr);
        ring_->changed.wait(lock,
                            [&] { return course_ == Course::closing || (may_submit(lock) && !ring_->failure(lock)); });
      }
      if (course_ == Course::closing) return;
      submitter_is_ = Submitter::busy;
      try {
        submit_one(lock, entry);
      } catch (...) {
        const std::optional<Error> error = described_error("device");
        if (!lock.owns_lock()) lock.lock();
        ring_->fail(lock, error);
      }
      submitter_is_ = Submitter::idle;
      ring_->changed.notify_all();
    }
  }

  void submit_one(Lock& lock, DeviceScope& entry) {
    lock.unlock();
    BatchBuffer* from = nullptr;
    try {
      const ScopeTimer waiting(&for_batch_);
      from = engine_->wait(epoch_);
    } catch (const LeasesExhausted&) {  // the engine's ring was made smaller meanwhile; the reaper will return buffers
      lock.lock();
      return;
    }
    if (from == nullptr) {
      std::optional<EpochEnd> end = engine_->take_epoch_end(epoch_);
      lock.lock();
      if (!end) return;  // the engine was interrupted or stopped
      made_.push_back({.end = std::move(end)});
      ++ends_;
      return begin_epoch(epoch_ + 1);
    }
    lock.lock();
    if (!ring_->has_free(lock)) {
      const ScopeTimer waiting(&for_place_);
      submitter_is_ = Submitter::starved;
      ring_->changed.notify_all();
      ring_->changed.wait(lock, [&] { return must_leave(lock) || ring_->has_free(lock); });
      submitter_is_ = Submitter::busy;
    }
    if (must_leave(lock)) return;
    DeviceBatch& to = ring_->acquire(lock);
    lock.unlock();
    engine_->lease(*from);
    // Moves the BatchInfo to the device's batch. The engine's buffer gets the memory of an old BatchInfo for its next
    // batch.
    std::swap(static_cast<BatchInfo&>(*from), static_cast<BatchInfo&>(to));
    const SentBuffer sent{from, from->place};
    try {
      const ScopeTimer calling(&in_calls_);
      if (lanes_.size() > 1) share_out(to, engine_->ring().layout(), ring_->made_layout());
      for (std::size_t i = 0; i < lanes_.size(); ++i) {
        entry.enter(i);
        lanes_[i]->enqueue(from->data, sent.number, to);
      }
    } catch (...) {
      const std::optional<Error> error = described_error("device");
      lock.lock();
      // It is unknown how much of the batch's work was enqueued.
      reaper_->sent_in_part(lock, sent);
      stuck_.push_back(&to);
      if (!ring_->failure(lock)) after_failure_ = to.next;
      ring_->fail(lock, error);
      return;
    }
    const std::uint64_t next = to.next.epoch;
    lock.lock();
    reaper_->sent(lock, sent);
    made_.push_back({.batch = &to});
    if (!reordered_ && next != epoch_) begin_epoch(next);
  }

  void begin_epoch(std::uint64_t epoch) noexcept {
    epoch_ = epoch;
    const std::uint64_t epochs = engine_->setup().epochs;
    if (course_ == Course::running && epochs != 0 && epoch_ >= epochs) course_ = Course::finished;
  }

  std::shared_ptr<Engine> engine_;
  const bool reordered_;
  const std::shared_ptr<const StagingMemory> staging_;
  std::shared_ptr<DeviceRing> ring_;
  std::vector<std::unique_ptr<DeviceLane>> lanes_;  // one lane per device

  // Guarded by the ring's mutex:
  std::vector<Submitted> made_;      // like `stuck_`, never has more elements than were reserved
  std::vector<DeviceBatch*> stuck_;  // batches to which a failed copy may still write
  std::size_t ends_ = 0;             // how many elements of `made_` are ends of epochs
  std::uint64_t epoch_ = 0;          // the epoch that is sent; only the submitter uses it, unless the submitter is idle
  Course course_ = Course::paused;
  Submitter submitter_is_ = Submitter::idle;
  std::optional<Cursor> after_failure_;  // cursor after a batch that failed while it was sent
  std::string why_not_;                  // why the ring did not grow; only the caller's thread uses it

  RelaxedCounter for_batch_, for_place_, for_reading_, in_calls_;  // only the submitter adds to these
  std::optional<DeviceReaper> reaper_;
  std::thread submitter_;
};

}  // namespace

std::unique_ptr<Delivery> device_delivery(DeviceModels devices, std::shared_ptr<Engine> engine,
                                          const DeviceDeliveryOptions& options) {
  return std::make_unique<DeviceDelivery>(std::move(devices), std::move(engine), options);
}

}  // namespace penstock::detail::runtime
