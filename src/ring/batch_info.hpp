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
  bool fatal;  ///< the run ends under every policy
};

/// The record that was read instead of a bad sample. `index` is entered into the batch's `indices` only when the batch
/// is delivered, because other threads read `indices` until then.
struct ReplacedRow {
  std::uint64_t row, index;
};

/// A field's rows, padded to the length of the longest row.
struct PaddedToLongest {
  std::byte* data = nullptr;
  std::int64_t longest = 0;
};

/// Counts of the samples of a batch, or of the samples after an epoch's last batch.
struct SampleCounts {
  std::uint64_t samples = 0;   ///< samples with a row, skipped samples, and dropped bad samples
  std::uint64_t filtered = 0;  ///< samples that a filter left out; not part of `samples`
  std::uint64_t skipped = 0;   ///< how many of `samples` were skipped instead of made
  std::vector<BadSample> bad;  ///< the first bad samples, with their errors
  std::uint64_t unlisted = 0;  ///< number of further bad samples, whose errors are not kept
  bool unreported = false;     ///< memory ran out, so that a bad sample's error is missing

  /// Moves the counts to `to` and clears them here. `to` gives its memory for bad samples to this object.
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

/// What is known about one batch, in the host's memory or on a device.
struct BatchInfo : SampleCounts {
  std::uint64_t epoch = 0, number = 0, first = 0;
  std::uint64_t valid = 0;   ///< number of rows that are samples
  std::uint64_t of_all = 0;  ///< `valid` of the whole batch, if this is one device's part
  std::uint64_t rows = 0;    ///< number of delivered rows: `valid` plus padding
  Cursor next;               ///< cursor after the batch
  std::vector<std::uint64_t> indices;
  std::vector<std::uint8_t> mask;
  std::vector<ReplacedRow> replaced;
  std::optional<Error> overflow;  ///< why the batch's memory had no room for its rows
  // `varying` and `lengths` have all rows of the first field that is not dense, followed by all rows of the next such
  // field.
  std::vector<RaggedRow> varying;
  std::vector<std::int64_t> lengths;
  std::vector<PaddedToLongest> padded;
};

}  // namespace penstock::detail::runtime
