// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/counts.hpp"

namespace penstock::detail::runtime {

/// Timed pieces of a stream's work. A piece is not timed while all timers are in use. The next timed piece represents
/// the untimed pieces before it too, so `ns` and `bytes` estimate the sums over all pieces.
struct TimedCounts {
  std::uint64_t timed = 0;      ///< pieces that were timed
  std::uint64_t stood_for = 0;  ///< pieces that the timed pieces represent, including themselves
  std::uint64_t ns = 0, bytes = 0;
};

/// Times of the work on one device's streams.
struct DeviceCounts {
  std::string name;
  TimedCounts copies;   ///< copies of a batch, on the copy stream
  TimedCounts stages;   ///< the stages after `batch`, per batch
  TimedCounts buffer;   ///< waits of the copy stream for the memory of a batch
  TimedCounts starved;  ///< waits of the caller's stream for a batch, from the call of `next()` on
};

/// How the thread that sends batches to devices spent its time, in nanoseconds.
struct SendCounts {
  std::uint64_t batch_ns = 0;   ///< waiting for a batch from the runners
  std::uint64_t buffer_ns = 0;  ///< waiting, with a batch in hand, for a buffer on the device
  std::uint64_t read_ns = 0;    ///< waiting until devices had read batches in the host's memory
  std::uint64_t call_ns = 0;    ///< calls to devices
};

/// Times of sending batches to devices. `devices` is empty if batches are delivered on the host.
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
