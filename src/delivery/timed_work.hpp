// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/counters.hpp"
#include "delivery/device_counts.hpp"
#include "device/device_model.hpp"

namespace penstock::detail::runtime {

/// Times pieces of a stream's work. A piece is not timed while all timers are in use; the next timed piece represents
/// the untimed pieces before it. If the device's clock fails, timing ends without an error. One thread at a time may
/// use it, except `counts`.
class TimedWork {
 public:
  /// With more timers, more pieces would be timed on a stream with much work, but each timed piece costs the device a
  /// few microseconds.
  static constexpr std::size_t timers = 4;
  /// If the device has no clock, nothing is timed. The caller must have entered the device.
  explicit TimedWork(DeviceModel& device);
  /// Times nothing.
  TimedWork() = default;

  /// Begins a piece after the present work on the stream. Drops the last piece if it has not ended.
  void begin(StreamRef stream) noexcept;
  /// Ends the piece. `bytes`: how many bytes the piece moved.
  void end(StreamRef stream, std::size_t bytes = 0) noexcept;
  /// Any thread may call this.
  TimedCounts counts() const noexcept;

 private:
  struct Stretch {
    std::unique_ptr<DeviceModel::Timer> timer;
    std::size_t bytes = 0;
    std::uint64_t stands_for = 1;
  };
  void take_ended();
  Stretch& stretch(std::size_t number) noexcept { return stretches_[number % stretches_.size()]; }

  std::vector<Stretch> stretches_;
  // `oldest_`: number of the oldest timed piece whose time was not read yet. `ended_`: how many timed pieces have ended
  // but were not read yet.
  std::size_t oldest_ = 0, ended_ = 0;
  std::uint64_t untimed_ = 0;  // untimed pieces since the last timed piece
  enum class PieceState : std::uint8_t { none, timed, untimed } state_ = PieceState::none;
  RelaxedCounter timed_, stood_for_, ns_, all_bytes_;
};

}  // namespace penstock::detail::runtime
