// SPDX-License-Identifier: Apache-2.0
#include "delivery/timed_work.hpp"

#include <optional>
#include <utility>

namespace penstock::detail::runtime {

TimedWork::TimedWork(DeviceModel& device) {
  while (stretches_.size() < timers) {
    std::unique_ptr<DeviceModel::Timer> timer = device.make_timer();
    if (timer == nullptr) return;
    stretches_.push_back({.timer = std::move(timer)});
  }
}

void TimedWork::take_ended() {
  while (ended_ != 0) {
    const Stretch& oldest = stretch(oldest_);
    const std::optional<std::uint64_t> ns = oldest.timer->read();
    if (!ns) return;
    ++oldest_;
    --ended_;
    // The counters are not changed together, so a thread that reads between the changes sees only some of the
    // new values.
    stood_for_.add(oldest.stands_for);
    ns_.add(oldest.stands_for * *ns);
    all_bytes_.add(oldest.stands_for * oldest.bytes);
    timed_.add(1);
  }
}

void TimedWork::begin(StreamRef stream) noexcept {
  if (stretches_.empty()) return;
  try {
    take_ended();
    state_ = ended_ == stretches_.size() ? PieceState::untimed : PieceState::timed;
    if (state_ == PieceState::timed) stretch(oldest_ + ended_).timer->begin(stream);
  } catch (...) {
    stretches_.clear();
  }
}

void TimedWork::end(StreamRef stream, std::size_t bytes) noexcept {
  if (stretches_.empty()) return;
  const PieceState was = std::exchange(state_, PieceState::none);
  if (was == PieceState::untimed) ++untimed_;
  if (was != PieceState::timed) return;
  try {
    Stretch& last = stretch(oldest_ + ended_);
    last.timer->end(stream);
    last.bytes = bytes;
    last.stands_for = 1 + std::exchange(untimed_, 0);
    ++ended_;
  } catch (...) {
    stretches_.clear();
  }
}

TimedCounts TimedWork::counts() const noexcept { return {timed_.get(), stood_for_.get(), ns_.get(), all_bytes_.get()}; }

}  // namespace penstock::detail::runtime
