#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/counters.hpp"
#include "delivery/device_counts.hpp"
#include "device/device_model.hpp"

namespace penstock::detail::runtime {

/// Times stretches of a stream's work, as many at a time as there are timers; the next one that is timed stands for
/// those that were not. Never fails: where the device's clock does, nothing is timed any more. One thread at a time,
/// but for `counts`.
class TimedWork {
 public:
  /// More of them would time more stretches of a stream that has many in work; each costs the device some microseconds.
  static constexpr std::size_t timers = 4;
  /// Of a device that keeps no time nothing is timed. The device is entered.
  explicit TimedWork(DeviceModel& device);
  /// Nothing is timed.
  TimedWork() = default;

  /// A stretch begins with what is on the stream now. One that has begun, and not ended, is given up.
  void begin(StreamRef stream) noexcept;
  /// It ends, after so many bytes.
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
  std::size_t oldest_ = 0, ended_ = 0;  // those that ended, and were not read, from the oldest on
  std::uint64_t untimed_ = 0;           // stretches since the last one that was timed
  enum class Now : std::uint8_t { none, timed, untimed } now_ = Now::none;
  RelaxedCounter timed_, stood_for_, ns_, all_bytes_;
};

}  // namespace penstock::detail::runtime
