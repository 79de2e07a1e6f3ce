#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/counts.hpp"

namespace penstock::detail::runtime {

/// Stretches of a stream's work that were timed. Each stands for those before it that were not, as an earlier one was
/// in work still, so that `ns` and `bytes` are of all of them.
struct TimedCounts {
  std::uint64_t timed = 0;      ///< stretches that were timed
  std::uint64_t stood_for = 0;  ///< how many they stand for, themselves included
  std::uint64_t ns = 0, bytes = 0;
};

/// What was timed on the streams of one device.
struct DeviceCounts {
  std::string name;
  TimedCounts copies;   ///< copies of a batch, on the copy stream
  TimedCounts stages;   ///< the stages after `batch`, for a batch
  TimedCounts buffer;   ///< the copy stream waited for the memory that a batch goes to
  TimedCounts starved;  ///< the caller's stream had come to the call of `next()`, and waited for the batch
};

/// What the thread that sends batches to devices did, in nanoseconds.
struct SendCounts {
  std::uint64_t batch_ns = 0;  ///< it waited for a batch of the runners'
  std::uint64_t place_ns = 0;  ///< it had a batch, and waited for a buffer on the device
  std::uint64_t read_ns = 0;   ///< it waited until devices had read batches of the host's
  std::uint64_t call_ns = 0;   ///< it was in calls of the device
};

/// What was counted on the way to devices; on the host there are none.
struct DeliveryTimes {
  std::vector<DeviceCounts> devices;
  SendCounts sending;
};

/// What was counted after `before`.
inline DeliveryTimes since(DeliveryTimes now, const DeliveryTimes& before) {
  for (std::size_t i = 0; i < now.devices.size() && i < before.devices.size(); ++i) {
    for (const auto timed :
         {&DeviceCounts::copies, &DeviceCounts::stages, &DeviceCounts::buffer, &DeviceCounts::starved})
      subtract_counts(now.devices[i].*timed, before.devices[i].*timed);
  }
  subtract_counts(now.sending, before.sending);
  return now;
}

}  // namespace penstock::detail::runtime
