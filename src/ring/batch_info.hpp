#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/tensor.hpp>

#include "data/cursor.hpp"

namespace penstock::detail {

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

/// What is known about one batch, wherever its fields are.
struct BatchInfo {
  std::uint64_t epoch = 0, number = 0, first = 0;
  std::uint64_t valid = 0;     ///< rows that are samples
  std::uint64_t of_all = 0;    ///< of one device's part: `valid` of all parts
  std::uint64_t rows = 0;      ///< rows delivered: `valid`, and padding
  std::uint64_t samples = 0;   ///< `valid`, and bad ones that were dropped
  std::uint64_t filtered = 0;  ///< beside those, left out by a filter
  std::uint64_t skipped = 0;   ///< of `samples`, those of which nothing was to be made
  Cursor next;                 ///< after it
  std::vector<std::uint64_t> indices;
  std::vector<std::uint8_t> mask;
  std::vector<BadSample> bad;
  std::uint64_t unlisted = 0;  ///< bad ones after those, too many to keep what they say
  std::vector<Replaced> replaced;
  bool unreported = false;        ///< a row could not even be reported bad
  std::optional<Error> overflow;  ///< its rows found no room
  // Rows of the fields that are not dense, all rows of one field after those of the other:
  std::vector<RaggedRow> varying;
  std::vector<std::int64_t> lengths;
  std::vector<PaddedRows> padded;
};

}  // namespace penstock::detail
