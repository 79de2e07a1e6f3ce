#include "device_delivery.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "device_lease.hpp"
#include "device_ring.hpp"
#include "failure.hpp"

namespace penstock::detail {

namespace {

// What the submitter has made, in order: a batch, or the end of an epoch.
struct Submitted {
  DeviceSlot* batch = nullptr;
  std::optional<EpochEnd> end = {};
};

// A slot of the host's that the device reads.
struct Sent {
  Slot* slot;
  DeviceModel::Event* copied;
};

// Two threads beside the caller's, the only ones that call the device. The submitter takes batches from the engine as a
// consumer would, and enqueues their copies; the reaper gives their slots back to the engine once they are read. One
// thread for both would leave gaps between copies.
class DeviceDelivery final : public Delivery {
 public:
  DeviceDelivery(std::shared_ptr<DeviceModel> device, std::shared_ptr<Engine> engine,
                 std::shared_ptr<const PipelineData> data, const DeviceDeliveryOptions& options)
      : device_(std::move(device)),
        engine_(std::move(engine)),
        epochs_(options.epochs),
        settled_(data->settled()),
        ring_(std::make_shared<DeviceRing>(device_, std::move(data), engine_->slots().layout(), options.depth)) {
    const Entered entered(*device_);
    copies_ = device_->make_stream("copy", DeviceModel::Priority::normal);
    for (std::size_t i = 0; i < engine_->slots().depth(); ++i) copied_.push_back(device_->make_event());
    made_.reserve(2 * ring_->depth());
    sent_.reserve(copied_.size());
    stuck_.reserve(ring_->depth());
  }
  ~DeviceDelivery() override {
    DeviceDelivery::close();
    // The engine's slots go next: nothing may read them still. A device that fails has nothing in work.
    try {
      const Entered entered(*device_);
      device_->synchronize(copies_->ref());
      copies_.reset();
    } catch (...) {
    }
  }

  void check(StreamRef stream) const override { check_device_stream(*device_, stream); }

  void seek(const Cursor& cursor, const QuotaCount& count) override {
    Lock lock(ring_->mutex);
    paused_ = true;
    lock.unlock();
    engine_->interrupt();
    lock.lock();
    ring_->changed.notify_all();
    // Not for the device: what it reads still comes back to the engine when it has.
    ring_->changed.wait(lock, [this] { return !submitting_ && !(reaping_ && reaping_failed_); });
    recover(lock);
    give_up(lock);
    ring_->tell_of_lost(lock);
    ring_->clear_failure(lock);
    finished_ = false;
    epoch_ = cursor.epoch;
    lock.unlock();
    engine_->seek(cursor, count);
    lock.lock();
    begin_threads();
    paused_ = false;
    ring_->changed.notify_all();
  }

  BatchInfo* wait(std::uint64_t) override {
    Lock lock(ring_->mutex);
    for (;;) {
      if (engine_->stopped()) return nullptr;
      if (!made_.empty()) return made_.front().batch;  // none: an epoch's end
      if (ring_->failure(lock)) throw Error(*ring_->failure(lock));
      ring_->tell_of_lost(lock);
      if (starved_ && ring_->leased(lock) == ring_->usable(lock))
        throw LeasesExhausted(Errc::leases_exhausted, "the caller holds all " + std::to_string(ring_->leased(lock)) +
                                                          " batches on " + to_string(device_->device()) +
                                                          "; let some go, or raise `device_depth`");
      ring_->changed.wait(lock);
    }
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

  std::unique_ptr<Lease> make_lease() override { return std::make_unique<DeviceLease>(ring_); }

  void arrive(BatchInfo& batch, StreamRef stream) override {
    const DeviceModel::Event& ready = *static_cast<DeviceSlot&>(batch).ready;
    const Entered entered(*device_);
    if (stream.device() == host())
      device_->synchronize(ready);
    else
      device_->wait(stream, ready);
  }

  void take(Lease& lease, BatchInfo& batch, StreamRef stream) noexcept override {
    static_cast<DeviceLease&>(lease).take(static_cast<DeviceSlot&>(batch), stream);
    const Lock lock(ring_->mutex);
    made_.erase(made_.begin());
    ring_->lease(lock);
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
      closing_ = true;
    }
    ring_->changed.notify_all();
    // Before the engine, which has one consumer.
    if (submitter_.joinable()) submitter_.join();
    engine_->close();
    if (reaper_.joinable()) reaper_.join();
    Lock lock(ring_->mutex);
    give_up(lock);
  }

  void describe(Report& report) const override {
    report.device = to_string(device_->device()) + " (" + device_->name() + ")";
    report.memory.insert(report.memory.begin() + 1,
                         {"batches on " + to_string(device_->device()), ring_->depth(), ring_->layout().bytes()});
  }

 private:
  using Lock = DeviceRing::Lock;

  void begin_threads() {
    try {
      if (!submitter_.joinable()) submitter_ = std::thread([this] { submit(); });
      if (!reaper_.joinable()) reaper_ = std::thread([this] { reap(); });
    } catch (const std::system_error& error) {
      throw Error(Errc::limit_exceeded,
                  std::string("the two threads that serve a device could not be started: ") + error.what());
    }
  }

  // What was in the device's hands when it failed is ours again once it does nothing. @throws Error(device).
  void recover(Lock& lock) {
    if (!reaping_failed_ && stuck_.empty()) return;
    lock.unlock();
    {
      const Entered entered(*device_);
      device_->synchronize(copies_->ref());
    }
    lock.lock();
    for (const Sent& sent : sent_) engine_->release(*sent.slot);
    in_flight_ -= sent_.size();
    sent_.clear();
    reaping_failed_ = false;
    for (DeviceSlot* slot : stuck_) ring_->put_back(lock, *slot);
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

  bool may_submit() const noexcept {
    return !paused_ && !finished_ && !engine_->stopped() && in_flight_ < copied_.size() && ends_ < ring_->depth();
  }

  void submit() noexcept {
    Lock lock(ring_->mutex);
    bool entered = false;
    for (;;) {
      ring_->changed.wait(lock, [&] { return closing_ || (may_submit() && !ring_->failure(lock)); });
      if (closing_) return;
      submitting_ = true;
      try {
        if (!entered) {
          lock.unlock();
          static_cast<void>(device_->enter());
          lock.lock();
          entered = true;
        }
        submit_one(lock);
      } catch (...) {
        const std::optional<Error> error = described_error("device");
        if (!lock.owns_lock()) lock.lock();
        ring_->fail(lock, error);
      }
      submitting_ = false;
      ring_->changed.notify_all();
    }
  }

  void submit_one(Lock& lock) {
    lock.unlock();
    Slot* const from = engine_->wait(epoch_);
    if (from == nullptr) {
      std::optional<EpochEnd> end = engine_->take_epoch_end(epoch_);
      lock.lock();
      if (!end) return;  // interrupted, or stopped
      made_.push_back({.end = std::move(end)});
      ++ends_;
      return begin_epoch(epoch_ + 1);
    }
    lock.lock();
    if (!ring_->has_free(lock)) {
      starved_ = true;
      ring_->changed.notify_all();
      ring_->changed.wait(lock, [&] { return closing_ || paused_ || ring_->failure(lock) || ring_->has_free(lock); });
      starved_ = false;
    }
    if (closing_ || paused_ || ring_->failure(lock)) return;
    DeviceSlot& to = ring_->acquire(lock);
    lock.unlock();
    engine_->lease(*from);
    // What is known of the batch goes with it; the slot gets another's room for the next one's.
    std::swap(static_cast<BatchInfo&>(*from), static_cast<BatchInfo&>(to));
    const Sent sent{from, copied_event(*from)};
    try {
      enqueue(sent, to);
    } catch (...) {
      const std::optional<Error> error = described_error("device");
      lock.lock();
      // How much of it the device has in work is not known.
      ++in_flight_;
      sent_.push_back(sent);
      stuck_.push_back(&to);
      reaping_failed_ = true;
      ring_->fail(lock, error);
      return;
    }
    const std::uint64_t next = to.next.epoch;
    lock.lock();
    ++in_flight_;
    sent_.push_back(sent);
    made_.push_back({.batch = &to});
    if (!settled_ && next != epoch_) begin_epoch(next);
  }

  void begin_epoch(std::uint64_t epoch) noexcept {
    epoch_ = epoch;
    finished_ = epochs_ != 0 && epoch_ >= epochs_;
  }

  DeviceModel::Event* copied_event(const Slot& slot) const {
    const auto all = engine_->slots().all();
    const auto at = std::find_if(all.begin(), all.end(), [&](const auto& s) { return s.get() == &slot; });
    return copied_[static_cast<std::size_t>(at - all.begin())].get();
  }

  void enqueue(const Sent& sent, DeviceSlot& to) {
    const StreamRef copies = copies_->ref();
    for (std::size_t i = 0; i < to.users; ++i) device_->wait(copies, *to.released[i]);
    const std::size_t bytes = ring_->layout().bytes();
    // Of a batch whose rows found no room only what is known of it goes on.
    if (bytes != 0 && !to.overflow) device_->copy(to.data, sent.slot->data, bytes, copies);
    device_->record(*sent.copied, copies);
    device_->record(*to.ready, copies);
    to.users = 0;
  }

  // -- the reaper --

  void reap() noexcept {
    Lock lock(ring_->mutex);
    bool entered = false;
    for (;;) {
      ring_->changed.wait(lock, [this] { return (closing_ && (sent_.empty() || reaping_failed_)) || can_reap(); });
      if (!can_reap()) return;
      const Sent sent = sent_.front();
      reaping_ = true;
      lock.unlock();
      try {
        if (!entered) static_cast<void>(device_->enter());
        entered = true;
        device_->synchronize(*sent.copied);
        device_->host_writes(sent.slot->data, ring_->layout().bytes());
        engine_->release(*sent.slot);
        lock.lock();
        sent_.erase(sent_.begin());
        --in_flight_;
      } catch (...) {
        const std::optional<Error> error = described_error("device");
        lock.lock();
        reaping_failed_ = true;
        ring_->fail(lock, error);
      }
      reaping_ = false;
      ring_->changed.notify_all();
    }
  }
  bool can_reap() const noexcept { return !sent_.empty() && !reaping_failed_; }

  std::shared_ptr<DeviceModel> device_;
  std::shared_ptr<Engine> engine_;
  const std::uint64_t epochs_;
  const bool settled_;
  std::shared_ptr<DeviceRing> ring_;
  std::unique_ptr<DeviceModel::Stream> copies_;
  std::vector<std::unique_ptr<DeviceModel::Event>> copied_;  // of each of the engine's slots

  // Under the ring's mutex:
  std::vector<Submitted> made_;     // these never grow beyond what is reserved for them
  std::vector<Sent> sent_;          // oldest first
  std::vector<DeviceSlot*> stuck_;  // what a failed copy may write to
  std::size_t in_flight_ = 0;       // of the engine's slots, those the device has
  std::size_t ends_ = 0;            // of `made_`
  std::uint64_t epoch_ = 0;         // that is submitted; the submitter's while it submits
  bool paused_ = true, submitting_ = false, finished_ = false, closing_ = false;
  bool reaping_ = false;
  bool starved_ = false;         // there is a batch, and no slot for it
  bool reaping_failed_ = false;  // nothing is reaped before `recover`

  std::thread submitter_, reaper_;
};

}  // namespace

std::unique_ptr<Delivery> device_delivery(std::shared_ptr<DeviceModel> device, std::shared_ptr<Engine> engine,
                                          std::shared_ptr<const PipelineData> data,
                                          const DeviceDeliveryOptions& options) {
  return std::make_unique<DeviceDelivery>(std::move(device), std::move(engine), std::move(data), options);
}

}  // namespace penstock::detail
