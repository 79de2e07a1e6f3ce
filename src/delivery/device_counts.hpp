// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/counts.hpp"

namespace penstock::detail::runtime {

/// Timed pieces of a stream's work. A piece is not timed if an earlier one is still running; the next timed piece
/// stands for it too. So `ns` and `bytes` are those of all pieces.
struct TimedCounts {
  std::uint64_t timed = 0;      ///< pieces that were timed
  std::uint64_t stood_for = 0;  ///< pieces that they stand for, including themselves
  std::uint64_t ns = 0, bytes = 0;
};

/// Times of the streams of one device.
struct DeviceCounts {
  std::string name;
  TimedCounts copies;   ///< copies of a batch, on the copy stream
  TimedCounts stages;   ///< the stages after `batch`, per batch
  TimedCounts buffer;   ///< the copy stream waited for the memory of a batch
  TimedCounts starved;  ///< the caller's stream had reached the call of `next()` and waited for the batch
};

/// How the thread that sends batches to devices spent its time, in nanoseconds.
struct SendCounts {
  std::uint64_t batch_ns = 0;   ///< it waited for a batch from the runners
  std::uint64_t buffer_ns = 0;  ///< it had a batch, and waited for a buffer on the device
  std::uint64_t read_ns = 0;    ///< it waited until devices had read batches in the host's memory
  std::uint64_t call_ns = 0;    ///< it was in calls to the device
};

/// Counts of the way to devices; empty on the host.
struct DeliveryTimes {
  std::vector<DeviceCounts> devices;
  SendCounts sending;
};

/// Returns what was counted after `before`.
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
