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

/// Times pieces of a stream's work, as many together as there are timers. The next timed piece stands for the untimed
/// ones before it. Never fails: if the device's clock fails, timing ends. One thread at a time, except for `counts`.
class TimedWork {
 public:
  /// More timers would time more pieces of a stream with much work; each costs the device a few microseconds.
  static constexpr std::size_t timers = 4;
  /// If the device has no clock, nothing is timed. The caller has entered the device.
  explicit TimedWork(DeviceModel& device);
  /// Times nothing.
  TimedWork() = default;

  /// Begins a piece after the present work on the stream. Drops a piece that has begun and not ended.
  void begin(StreamRef stream) noexcept;
  /// Ends the piece. `bytes`: its bytes.
  void end(StreamRef stream, std::size_t bytes = 0) noexcept;
  /// Any thread.
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
  std::size_t oldest_ = 0, ended_ = 0;  // pieces that ended and were not read, from the oldest on
  std::uint64_t untimed_ = 0;           // pieces since the last timed one
  enum class Now : std::uint8_t { none, timed, untimed } now_ = Now::none;
  RelaxedCounter timed_, stood_for_, ns_, all_bytes_;
};

}  // namespace penstock::detail::runtime
