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
  bool fatal;  ///< no policy could act on it
};

/// What was read instead of a bad sample. Entered into `indices` only when the batch is delivered, as that list is
/// what other threads read from.
struct Replaced {
  std::uint64_t row, index;
};

/// A field whose rows were made as long as the longest.
struct PaddedRows {
  std::byte* data = nullptr;
  std::int64_t longest = 0;
};

/// What became of the samples that a batch stands for, or of those after an epoch's last batch.
struct SampleCounts {
  std::uint64_t samples = 0;   ///< those that have rows, and bad ones that were dropped
  std::uint64_t filtered = 0;  ///< beside those, left out by a filter
  std::uint64_t skipped = 0;   ///< those of `samples` of which nothing was to be made
  std::vector<BadSample> bad;  ///< bad samples, with what they say
  std::uint64_t unlisted = 0;  ///< bad ones after those, too many to keep what they say
  bool unreported = false;     ///< there was no memory to say what one of them said

  /// Everything goes to `to`, and nothing is left here. The memory of `to` for bad samples stays in use.
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

/// What is known about one batch, wherever its fields are.
struct BatchInfo : SampleCounts {
  std::uint64_t epoch = 0, number = 0, first = 0;
  std::uint64_t valid = 0;   ///< rows that are samples
  std::uint64_t of_all = 0;  ///< `valid` of all parts, where this is one device's part
  std::uint64_t rows = 0;    ///< rows delivered: `valid`, and padding
  Cursor next;               ///< cursor after it
  std::vector<std::uint64_t> indices;
  std::vector<std::uint8_t> mask;
  std::vector<Replaced> replaced;
  std::optional<Error> overflow;  ///< its rows found no room
  // Rows of the fields that are not dense, all rows of one field after those of the other:
  std::vector<RaggedRow> varying;
  std::vector<std::int64_t> lengths;
  std::vector<PaddedRows> padded;
};

}  // namespace penstock::detail::runtime
