// SPDX-License-Identifier: Apache-2.0
// A loader's memory, streams and events are its own from the beginning.
#pragma once

#include <cstdint>

#include "core/delivery/stamped_rows.hpp"
#include "core/device/counted_device.hpp"
#include "support/catch.hpp"

namespace help {

/// Whether a loader of a pipeline of `rows` rows takes memory, `streams` streams and events of the device in its first
/// epoch, and nothing in 50 later ones. `consumer`: the caller's stream.
inline void check_takes_no_more(CountedDevice& device, const ps::Pipeline& pipeline, std::uint64_t rows,
                                std::uint64_t streams, ps::StreamRef consumer) {
  ps::Loader loader(pipeline, {.device = device.device(), .threads = 2});
  const auto epoch = [&] {
    std::uint64_t got = 0;
    for (const ps::Batch& batch : loader.epoch(consumer)) got += batch.size();
    REQUIRE(got == rows);
  };
  epoch();
  const CountedDevice::Taken before = device.taken();
  CHECK(before.device_blocks > 0);
  CHECK(before.pinned_blocks > 0);
  CHECK(before.streams == streams);
  CHECK(before.events > 0);
  for (int i = 0; i < 50; ++i) epoch();
  CHECK(device.taken() == before);
}

}  // namespace help
