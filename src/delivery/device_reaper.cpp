// SPDX-License-Identifier: Apache-2.0
#include "delivery/device_reaper.hpp"

#include <optional>

#include "base/failure.hpp"

namespace penstock::detail::runtime {

DeviceReaper::DeviceReaper(DeviceRing& ring, Engine& engine, const Lanes& lanes)
    : ring_(ring), engine_(engine), lanes_(lanes) {
  sent_.reserve(engine.ring().most());
  asked_.reserve(engine.ring().most());
}

void DeviceReaper::begin() {
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
}

void DeviceReaper::join() noexcept {
  if (thread_.joinable()) thread_.join();
}

void DeviceReaper::sent_in_part(const Lock& lock, const SentBuffer& buffer) noexcept {
  sent(lock, buffer);
  failed_ = true;
}

void DeviceReaper::recovered(const Lock&) noexcept {
  for (const SentBuffer& sent : sent_) engine_.release(*sent.buffer);
  sent_.clear();
  failed_ = false;
}

void DeviceReaper::run() noexcept {
  Lock lock(ring_.mutex);
  DeviceScope entry(ring_.devices());
  for (;;) {
    ring_.changed.wait(lock, [this] { return closing_ || can_ask(); });
    if (!can_ask()) return;
    busy_ = true;
    try {
      give_back_read(lock, entry);
    } catch (...) {
      const std::optional<Error> error = described_error("device");
      if (!lock.owns_lock()) lock.lock();
      failed_ = true;
      ring_.fail(lock, error);
    }
    busy_ = false;
    ring_.changed.notify_all();
  }
}

// Waits until the oldest buffer was read. Releases it, and the following buffers that were also read.
void DeviceReaper::give_back_read(Lock& lock, DeviceScope& entry) {
  const std::size_t oldest = sent_.front().number;
  lock.unlock();
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    entry.enter(i);
    lanes_[i]->wait_until_read(oldest);
  }
  lock.lock();
  // After a failure, only the oldest buffer is released here. The work on the newest buffer may not have been enqueued,
  // so its events may say nothing about the buffer.
  asked_.assign(sent_.begin(), failed_ ? sent_.begin() + 1 : sent_.end());
  lock.unlock();
  for (std::size_t i = 0; i < lanes_.size() && asked_.size() > 1; ++i) {
    entry.enter(i);
    std::size_t read = 1;
    while (read < asked_.size() && lanes_[i]->was_read(asked_[read].number)) ++read;
    asked_.resize(read);
  }
  for (const SentBuffer& read : asked_)
    for (const auto& lane : lanes_) lane->device().host_writes(read.buffer->data, engine_.ring().layout().bytes());
  for (const SentBuffer& read : asked_) engine_.release(*read.buffer);
  lock.lock();
  sent_.erase(sent_.begin(), sent_.begin() + static_cast<std::ptrdiff_t>(asked_.size()));
}

}  // namespace penstock::detail::runtime
