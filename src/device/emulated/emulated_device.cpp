// SPDX-License-Identifier: Apache-2.0
#include "emulated_device.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <iterator>
#include <map>
#include <thread>
#include <utility>

#include <penstock/error.hpp>

#include "base/clock.hpp"
#include "device/staging_memory.hpp"

namespace penstock::detail {

struct EmulatedDevice::StreamState {
  std::size_t number = 0;         // the stream's number in `streams_`
  RaceDetector::Actor actor = 0;  // the stream's actor; used only if `orders_` is set
  bool captures = false;          // whether the stream is being captured into a graph
  std::size_t captured = 0;       // number of steps captured so far
  const char* spoilt = nullptr;   // what spoilt the capture; null if nothing did
  std::uint64_t since = 0;        // number of streams that were made before this stream
};

struct EmulatedDevice::OwnEvent final : Event {
  std::shared_ptr<StreamPoint> last;  // null if the event was never recorded
};

// Each `begin` makes new variables for the two times, because the stream may still write to the earlier variables.
class EmulatedDevice::OwnTimer final : public Timer {
 public:
  explicit OwnTimer(EmulatedDevice& device) : device_(device) {}
  void begin(StreamRef stream) override {
    begin_ = std::make_shared<std::atomic<std::uint64_t>>(0);
    end_ = std::make_shared<std::atomic<std::uint64_t>>(0);
    device_.put_time(stream, begin_);
  }
  void end(StreamRef stream) override { device_.put_time(stream, end_); }
  std::optional<std::uint64_t> read() override {
    if (end_ == nullptr) return std::nullopt;
    const std::uint64_t begin = begin_->load(std::memory_order_relaxed), end = end_->load(std::memory_order_relaxed);
    if (begin == 0 || end == 0) return std::nullopt;
    return end - std::min(begin, end);
  }

 private:
  EmulatedDevice& device_;
  std::shared_ptr<std::atomic<std::uint64_t>> begin_, end_;
};

// -- memory --

class EmulatedDevice::Memory final : public MemoryResource {
 public:
  Memory(EmulatedDevice& device, MemoryKind kind, std::size_t limit)
      : device_(device), kind_(kind), limited_(host_memory(), limit == 0 ? ~std::size_t{0} : limit) {}

  void* allocate(std::size_t bytes, std::size_t align) override {
    {
      const std::lock_guard lock(device_.mutex_);
      device_.call(kind_ == MemoryKind::device ? "taking device memory" : "taking pinned memory");
    }
    if (kind_ == MemoryKind::pinned && device_.options_.refuses_to_pin)
      throw CannotPin(Errc::out_of_memory, "asking for " + std::to_string(bytes) +
                                               " bytes of pinned memory, which is refused as was asked for");
    // The entry for `blocks_` is made first, so that nothing can fail after the memory is taken.
    std::map<const std::byte*, std::size_t> made;
    auto entry = made.extract(made.emplace(nullptr, bytes).first);
    void* data = nullptr;
    try {
      data = limited_.allocate(bytes, align);
    } catch (const Error& error) {
      if (!error.cause().starts_with("the limit")) throw;  // the host has no more memory
      const char* const option = kind_ == MemoryKind::device ? "max_device_bytes" : "max_pinned_bytes";
      throw Error(error.code(), std::string("`EmulatedGpuOptions::") + option + "`: " + error.cause());
    }
    std::memset(data, 0xCD, bytes);
    entry.key() = static_cast<std::byte*>(data);
    const std::lock_guard lock(blocks_mutex_);
    blocks_.insert(std::move(entry));
    return data;
  }
  // A GPU's pool does not wait, so the caller must have waited for all users of the memory. If the caller has not, a
  // device that checks reports a finding.
  void deallocate(void* data, std::size_t bytes, std::size_t align) noexcept override {
    {
      const std::lock_guard lock(device_.mutex_);
      try {
        if (device_.orders_ && !device_.has_failed_.load()) device_.orders_->host_use({data, bytes, true});
      } catch (...) {  // no memory for the check
      }
      if (device_.orders_) device_.orders_->forget(data, bytes);
    }
    device_.drain();
    {
      const std::lock_guard lock(blocks_mutex_);
      blocks_.erase(static_cast<std::byte*>(data));
    }
    limited_.deallocate(data, bytes, align);
  }
  MemoryKind kind() const noexcept override { return kind_; }
  std::size_t used() const noexcept { return limited_.used(); }
  bool holds(const void* at) const {
    const std::lock_guard lock(blocks_mutex_);
    const auto after = blocks_.upper_bound(static_cast<const std::byte*>(at));
    if (after == blocks_.begin()) return false;
    const auto& [begin, bytes] = *std::prev(after);
    return static_cast<const std::byte*>(at) < begin + bytes;
  }

 private:
  EmulatedDevice& device_;
  MemoryKind kind_;
  LimitResource limited_;
  mutable std::mutex blocks_mutex_;
  std::map<const std::byte*, std::size_t> blocks_;
};

// -- streams --

class EmulatedDevice::OwnStream final : public Stream {
 public:
  explicit OwnStream(EmulatedDevice& device) : device_(device) {}
  // REQUIRES: the caller holds the device's mutex. If this function throws, nothing has changed.
  void begin(const char* name) {
    device_.open_.reserve(device_.open_.size() + 1);
    state_->number = device_.streams_->add();
    try {
      if (device_.orders_) state_->actor = device_.orders_->add_stream(name);
    } catch (...) {
      device_.streams_->remove(state_->number);
      throw;
    }
    state_->since = device_.begun_++;
    device_.open_.push_back(state_.get());
    begun_ = true;
  }
  ~OwnStream() override {
    if (!begun_) return;
    device_.finish(*state_);
    const std::lock_guard lock(device_.mutex_);
    std::erase(device_.open_, state_.get());
    device_.streams_->remove(state_->number);
    if (device_.orders_) device_.orders_->remove_stream(state_->actor);
  }
  StreamRef ref() const noexcept override { return StreamRef::of(state_.get(), device_.device()); }

 private:
  EmulatedDevice& device_;
  const std::unique_ptr<StreamState> state_ = std::make_unique<StreamState>();
  bool begun_ = false;
};

EmulatedDevice::EmulatedDevice(Device device, const EmulatedOptions& options)
    : device_(device),
      options_(options),
      device_memory_(std::make_unique<Memory>(*this, MemoryKind::device, options.max_device_bytes)),
      pinned_memory_(std::make_unique<Memory>(*this, MemoryKind::pinned, options.max_pinned_bytes)),
      streams_(options.mode == EmulatedOptions::Mode::late ? late_streams(options.seed)
                                                           : threaded_streams(options.seed, options.max_delay_us)) {
  if (options.checked) orders_.emplace();
}
EmulatedDevice::~EmulatedDevice() = default;

std::string EmulatedDevice::name() const {
  return options_.mode == EmulatedOptions::Mode::late ? "emulated, as late as can be" : "emulated";
}
MemoryResource& EmulatedDevice::device_memory() noexcept { return *device_memory_; }
MemoryResource& EmulatedDevice::pinned_memory() noexcept { return *pinned_memory_; }

// REQUIRES: the caller holds `mutex_`.
void EmulatedDevice::call(const char* what) {
  ++calls_;
  if (has_failed_.load(std::memory_order_acquire)) {
    const std::lock_guard lock(failed_mutex_);
    throw Error(Errc::device, std::string(what) + ": the device failed before: " + failed_);
  }
  const EmulatedOptions::Fault& fault = options_.fault;
  if (fault.call == 0 || calls_ < fault.call || calls_ - fault.call >= fault.count) return;
  throw Error(Errc::device, std::string(what) + " failed, as was asked for (call " + std::to_string(calls_) + ")");
}

void EmulatedDevice::fail(const char* what, const char* why) noexcept {
  const std::lock_guard lock(failed_mutex_);
  if (has_failed_.load(std::memory_order_relaxed)) return;
  try {
    failed_ = std::string(what) + ": " + why;
  } catch (...) {  // no memory to say why
  }
  has_failed_.store(true, std::memory_order_release);
}

namespace {

// For each thread, CUDA keeps a stack of the contexts that the thread has entered. Correct code never nests its calls
// of `enter` deeper than `most_entered`.
constexpr int most_entered = 6;
thread_local std::map<const void*, int> entered_by_thread;

}  // namespace

int EmulatedDevice::enter() {
  const std::lock_guard lock(mutex_);
  call("choosing the device");
  if (++entered_by_thread[this] > most_entered && orders_)
    orders_->find("a thread enters the device again and again, and does not leave it");
  return 0;
}
void EmulatedDevice::leave(int) noexcept {
  const auto known = entered_by_thread.find(this);
  if (known != entered_by_thread.end() && --known->second == 0) entered_by_thread.erase(known);
}

std::unique_ptr<DeviceModel::Stream> EmulatedDevice::make_stream(const char* name, Priority) {
  const std::lock_guard lock(mutex_);
  call("making a stream");
  auto stream = std::make_unique<OwnStream>(*this);
  stream->begin(name);
  return stream;
}

std::unique_ptr<DeviceModel::Event> EmulatedDevice::make_event() {
  const std::lock_guard lock(mutex_);
  call("making an event");
  return std::make_unique<OwnEvent>();
}

std::unique_ptr<DeviceModel::Timer> EmulatedDevice::make_timer() {
  if (options_.mode == EmulatedOptions::Mode::late) return nullptr;
  return std::make_unique<OwnTimer>(*this);
}

// -- calls that enqueue work --

// REQUIRES: the caller holds `mutex_`.
EmulatedDevice::StreamState& EmulatedDevice::state_of(StreamRef stream) const {
  const auto found = std::find(open_.begin(), open_.end(), stream.handle());
  if (found == open_.end())
    throw Error(Errc::device, "the stream is gone: streams must outlive the batches that are used on them");
  return **found;
}

// REQUIRES: the caller holds `mutex_`.
void EmulatedDevice::put_work(StreamState& stream, const char* name, std::function<void()> work,
                              std::initializer_list<MemoryUse> uses) {
  if (orders_) {
    orders_->enqueue(stream.actor);
    for (const MemoryUse& use : uses) orders_->use(stream.actor, use, name);
  }
  auto guarded = [this, name, work = std::move(work)] {
    if (has_failed_.load(std::memory_order_relaxed)) return;
    try {
      work();
    } catch (const std::exception& error) {
      fail(name, error.what());
    } catch (...) {
      fail(name, "an exception that is no std::exception");
    }
  };
  streams_->enqueue(stream.number, {.kind = Operation::Kind::work, .work = std::move(guarded)});
}

void EmulatedDevice::launch(StreamRef stream, const char* name, std::function<void()> work,
                            std::initializer_list<MemoryUse> uses) {
  const std::lock_guard lock(mutex_);
  call(name);
  StreamState& state = state_of(stream);
  if (state.captures) {
    ++state.captured;
    return;
  }
  put_work(state, name, std::move(work), uses);
}

void EmulatedDevice::copy(void* to, const void* from, std::size_t bytes, StreamRef stream) {
  const std::lock_guard lock(mutex_);
  call("enqueueing a copy");
  StreamState& state = state_of(stream);
  if (spoils(state, "a copy")) return;
  // The limit applies to all copies except those within the device's memory.
  const bool over_link = !device_memory_->holds(to) || !device_memory_->holds(from);
  const auto limit = static_cast<double>(over_link ? options_.max_copy_bytes_per_s : 0);
  const std::uint64_t least_ns = limit == 0 ? 0 : static_cast<std::uint64_t>(static_cast<double>(bytes) * 1e9 / limit);
  put_work(state, "copy",
           [to, from, bytes, least_ns] {
             const std::uint64_t begun = now_ns();
             if (bytes != 0) std::memcpy(to, from, bytes);
             if (const std::uint64_t took = now_ns() - begun; took < least_ns)
               std::this_thread::sleep_for(std::chrono::nanoseconds(least_ns - took));
           },
           {{from, bytes, false}, {to, bytes, true}});
}

// This function is not counted as a call that may fail, and it orders nothing. So a timer does not change what happens.
void EmulatedDevice::put_time(StreamRef stream, std::shared_ptr<std::atomic<std::uint64_t>> at) {
  const std::lock_guard lock(mutex_);
  const StreamState& state = state_of(stream);
  if (state.captures) return;
  streams_->enqueue(state.number, {.kind = Operation::Kind::look,
                                   .work = [at = std::move(at)] { at->store(now_ns(), std::memory_order_relaxed); }});
}

// REQUIRES: the caller holds `mutex_`.
std::shared_ptr<StreamPoint> EmulatedDevice::put_point(StreamState& stream) {
  auto point = std::make_shared<StreamPoint>();
  point->stream = stream.number;
  if (orders_) {
    orders_->enqueue(stream.actor);
    point->clock = orders_->now(stream.actor);
  }
  streams_->enqueue(stream.number, {.kind = Operation::Kind::record, .point = point});
  return point;
}

void EmulatedDevice::record(Event& event, StreamRef stream) {
  const std::lock_guard lock(mutex_);
  call("recording an event");
  StreamState& state = state_of(stream);
  if (spoils(state, "an event")) return;
  static_cast<OwnEvent&>(event).last = put_point(state);
}

void EmulatedDevice::wait(StreamRef stream, const Event& event) {
  const std::lock_guard lock(mutex_);
  call("having a stream wait");
  const std::shared_ptr<StreamPoint>& last = static_cast<const OwnEvent&>(event).last;
  StreamState& state = state_of(stream);
  if (spoils(state, "a wait for an event"))
    throw Error(Errc::device, "having a stream wait: the stream is being captured");
  if (orders_) {
    orders_->enqueue(state.actor);
    if (last == nullptr) orders_->find("a stream waits for an event that was never recorded");
    if (last != nullptr) orders_->wait(state.actor, last->clock);
  }
  if (last != nullptr) streams_->enqueue(state.number, {.kind = Operation::Kind::wait, .point = last});
}

// -- calls for which the host waits --

void EmulatedDevice::reach(const std::shared_ptr<StreamPoint>& point) {
  streams_->reach(*point);
  if (!orders_) return;
  const std::lock_guard lock(mutex_);
  orders_->wait(RaceDetector::host, point->clock);
}

void EmulatedDevice::synchronize(const Event& event) {
  std::shared_ptr<StreamPoint> last;
  {
    const std::lock_guard lock(mutex_);
    call("waiting for an event");
    last = static_cast<const OwnEvent&>(event).last;
    if (last == nullptr && orders_) orders_->find("the host waits for an event that was never recorded");
  }
  if (last != nullptr) reach(last);
  const std::lock_guard lock(mutex_);
  if (has_failed_.load(std::memory_order_acquire)) call("waiting for an event");
}

void EmulatedDevice::synchronize(StreamRef stream) {
  std::shared_ptr<StreamPoint> end;
  {
    const std::lock_guard lock(mutex_);
    call("waiting for a stream");
    StreamState& state = state_of(stream);
    if (spoils(state, "the host's wait for the stream"))
      throw Error(Errc::device, "waiting for a stream: it is being captured");
    end = put_point(state);
  }
  reach(end);
  const std::lock_guard lock(mutex_);
  if (has_failed_.load(std::memory_order_acquire)) call("waiting for a stream");
}

bool EmulatedDevice::reached(const Event& event) {
  std::shared_ptr<StreamPoint> last;
  {
    const std::lock_guard lock(mutex_);
    call("asking an event");
    last = static_cast<const OwnEvent&>(event).last;
  }
  if (last == nullptr) return true;
  streams_->look(*last);
  if (last->reached.load(std::memory_order_acquire) == 0) return false;
  const std::lock_guard lock(mutex_);
  if (orders_) orders_->wait(RaceDetector::host, last->clock);
  return true;
}

bool EmulatedDevice::settle() noexcept {
  bool captures = false;
  {
    const std::lock_guard lock(mutex_);
    for (StreamState* stream : open_) captures = spoils(*stream, "the host's wait for the device") || captures;
  }
  if (!captures) drain();
  return !captures;
}

// -- graphs --

// REQUIRES: the caller holds `mutex_`. If the stream is being captured, notes that `what` has spoilt the capture.
// Returns whether the stream is being captured.
bool EmulatedDevice::spoils(StreamState& stream, const char* what) noexcept {
  if (stream.captures && stream.spoilt == nullptr) stream.spoilt = what;
  return stream.captures;
}

bool EmulatedDevice::captures(StreamRef stream) {
  const std::lock_guard lock(mutex_);
  call("asking whether a stream is captured");
  return state_of(stream).captures;
}

void EmulatedDevice::begin_capture(StreamRef stream) {
  const std::lock_guard lock(mutex_);
  StreamState& state = state_of(stream);
  if (state.captures) throw Error(Errc::invalid_argument, "the stream is being captured already");
  state.captures = true;
  state.captured = 0;
  state.spoilt = nullptr;
}

std::size_t EmulatedDevice::end_capture(StreamRef stream) {
  const std::lock_guard lock(mutex_);
  StreamState& state = state_of(stream);
  if (!state.captures) throw Error(Errc::invalid_argument, "the stream is not being captured");
  state.captures = false;
  if (state.spoilt != nullptr) throw Error(Errc::device, std::string("the capture was spoilt by ") + state.spoilt);
  return state.captured;
}

// Waits until the stream's work is done. The caller owns the stream, so the stream exists until this function returns.
void EmulatedDevice::finish(const StreamState& stream) noexcept {
  std::shared_ptr<Progress> progress;
  std::uint32_t count = 0;
  {
    const std::lock_guard lock(mutex_);
    progress = streams_->progress(stream.number);
    count = progress->enqueued;
  }
  streams_->finish(stream.number, *progress, count);
}

// Waits until all work on all streams is done, so that no work still uses memory that is about to be freed. This wait
// is not recorded in `orders_`. The function allocates no memory, because a thread that frees memory may have no memory
// left.
void EmulatedDevice::drain() noexcept {
  for (std::uint64_t from = 0;;) {
    std::shared_ptr<Progress> progress;
    std::size_t number = 0;
    std::uint32_t count = 0;
    {
      const std::lock_guard lock(mutex_);
      const auto next =
          std::find_if(open_.begin(), open_.end(), [&](const StreamState* s) { return s->since >= from; });
      if (next == open_.end()) return;
      number = (*next)->number;
      from = (*next)->since + 1;
      progress = streams_->progress(number);
      count = progress->enqueued;
    }
    streams_->finish(number, *progress, count);
  }
}

void EmulatedDevice::host_reads(const void* data, std::size_t bytes) {
  if (!orders_) return;
  const std::lock_guard lock(mutex_);
  orders_->host_use({data, bytes, false});
}
void EmulatedDevice::host_writes(const void* data, std::size_t bytes) {
  if (!orders_) return;
  const std::lock_guard lock(mutex_);
  orders_->host_use({data, bytes, true});
}

std::uint64_t EmulatedDevice::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}
std::size_t EmulatedDevice::used(MemoryKind kind) const noexcept {
  return (kind == MemoryKind::pinned ? pinned_memory_ : device_memory_)->used();
}
std::vector<std::string> EmulatedDevice::findings() const {
  const std::lock_guard lock(mutex_);
  return orders_ ? orders_->findings() : std::vector<std::string>{};
}

}  // namespace penstock::detail
