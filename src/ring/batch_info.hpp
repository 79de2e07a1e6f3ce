// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/tensor.hpp>

#include "data/cursor.hpp"

namespace penstock::detail::runtime {

struct BadSample {
  std::uint64_t row;
  Error error;
  bool fatal;  ///< no policy can act on it
};

/// The record that was read instead of a bad sample. It is entered into `indices` only when the batch is delivered,
/// because other threads read from that list.
struct Replaced {
  std::uint64_t row, index;
};

/// A field whose rows were padded to the length of the longest.
struct PaddedRows {
  std::byte* data = nullptr;
  std::int64_t longest = 0;
};

/// Counts of the samples of a batch, or of the samples after an epoch's last batch.
struct SampleCounts {
  std::uint64_t samples = 0;   ///< samples with a row, and dropped bad samples
  std::uint64_t filtered = 0;  ///< samples that a filter left out; not part of `samples`
  std::uint64_t skipped = 0;   ///< those of `samples` that were skipped, not made
  std::vector<BadSample> bad;  ///< bad samples, with their errors
  std::uint64_t unlisted = 0;  ///< further bad samples, too many to keep their errors
  bool unreported = false;     ///< memory ran out while an error of one of them was kept

  /// Moves everything to `to` and leaves nothing here. `to` keeps its memory for bad samples.
  void hand_over(SampleCounts& to) noexcept {
    to.bad.clear();
    to.bad.swap(bad);
    to.samples = std::exchange(samples, 0);
    to.filtered = std::exchange(filtered, 0);
    to.skipped = std::exchange(skipped, 0);
    to.unlisted = std::exchange(unlisted, 0);
    to.unreported = std::exchange(unreported, false);
  }
};

/// What is known about one batch, wherever its fields are in memory.
struct BatchInfo : SampleCounts {
  std::uint64_t epoch = 0, number = 0, first = 0;
  std::uint64_t valid = 0;   ///< rows that are samples
  std::uint64_t of_all = 0;  ///< `valid` of all parts, if this is one device's part
  std::uint64_t rows = 0;    ///< rows delivered: `valid` and padding
  Cursor next;               ///< cursor after it
  std::vector<std::uint64_t> indices;
  std::vector<std::uint8_t> mask;
  std::vector<Replaced> replaced;
  std::optional<Error> overflow;  ///< why its rows found no room
  // Rows of the fields that are not dense: all rows of one field, then all rows of the next.
  std::vector<RaggedRow> varying;
  std::vector<std::int64_t> lengths;
  std::vector<PaddedRows> padded;
};

}  // namespace penstock::detail::runtime
