// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

namespace penstock::detail {

/// A point in an epoch: the next batch, and the sample that this batch begins with.
struct Cursor {
  std::uint64_t epoch = 0;
  std::uint64_t number = 0;    ///< number of the batch in its epoch
  std::uint64_t position = 0;  ///< position of that sample; counted over all passes if `Rank::steps_per_epoch` is set
  std::uint32_t child = 0;
  std::uint16_t window_batches = 0;  ///< number of batches already made from the bucket window that begins here
  std::uint64_t failed_in_row = 0;   ///< for streams: how many consecutive samples failed just before that sample
  friend bool operator==(const Cursor&, const Cursor&) = default;
};

/// The position and child of a row's sample in its epoch.
struct RowPlace {
  std::uint64_t position = 0;
  std::uint32_t child = 0;
  friend auto operator<=>(const RowPlace&, const RowPlace&) = default;
};

}  // namespace penstock::detail
