#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "delivery/device_counts.hpp"
#include "device/device_model.hpp"

namespace penstock::detail {

/// Times stretches of a stream's work: one at a time, so that of several in work at once only the first is timed. The
/// next one that is, stands for the others: where a stream has much in work few are timed, and where it has none all
/// are. Never fails: where the device's clock does, nothing is timed any more. One thread at a time, but for `counts`.
class TimedWork {
 public:
  /// Null: nothing is timed.
  explicit TimedWork(std::unique_ptr<DeviceModel::Timer> timer) : timer_(std::move(timer)) {}

  /// A stretch begins with what is on the stream now. One that has begun, and not ended, is given up.
  void begin(StreamRef stream) noexcept;
  /// It ends, after so many bytes.
  void end(StreamRef stream, std::size_t bytes = 0) noexcept;
  /// Any thread.
  TimedCounts counts() const noexcept;

 private:
  enum class Is : std::uint8_t { idle, begun, ended };
  bool take();

  std::unique_ptr<DeviceModel::Timer> timer_;
  Is is_ = Is::idle;
  std::size_t bytes_ = 0;         // bytes of the stretch that ended
  std::uint64_t untimed_ = 0;     // stretches since the last one that was timed
  std::uint64_t stands_for_ = 0;  // of the one in work
  std::atomic<std::uint64_t> timed_{0}, stood_for_{0}, ns_{0}, all_bytes_{0};
};

}  // namespace penstock::detail
