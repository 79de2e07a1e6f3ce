// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <penstock/detail/export.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// What happens to the last batch of an epoch if it is incomplete.
enum class Tail : std::uint8_t {
  keep,  ///< the batch is delivered with fewer rows
  drop,  ///< the batch is dropped
  pad,   ///< the batch is filled up with rows of zeros, which have mask 0 and index ~0
};

/// Settings of `batch`. All are result options.
struct BatchOptions {
  /// What happens to an incomplete last batch. Must be `keep` with `max_bytes`, `max_tokens` or `By::group`.
  Tail tail = Tail::keep;
  /// Limit in bytes per batch: a batch ends before the sample that would exceed it. Padding to a common length counts.
  /// The gaps between ragged rows, which keep each row aligned in memory, do not count. Default (0): no limit.
  std::uint64_t max_bytes = 0;
  /// The field whose elements `max_tokens` limits. Set both options or neither.
  std::string tokens = {};
  /// Limit on the tokens of a batch. A row has as many tokens as the first dimension of the field `tokens`, after
  /// padding. A batch ends before the sample that would exceed the limit. Default (0): no limit.
  std::uint64_t max_tokens = 0;
  /// Which samples share a batch.
  enum class By : std::uint8_t {
    order,  ///< consecutive samples
    /// Consecutive samples of one group (see `SplitOptions::By::group`), for instance the bags that `bags` makes. A
    /// batch ends before the first sample of another group, or of another pass over the data. The policy `replace` is
    /// not allowed, because a record that replaces another may be of any group.
    group,
  };
  /// Which samples share a batch.
  By by = By::order;
};

/// Puts consecutive samples together, at most `rows` per batch. With `for_rank`, `rows` counts the rows of all ranks.
/// Without `max_bytes`, `max_tokens` and `By::group`, each batch has exactly `rows` rows, except perhaps the last batch
/// of an epoch. With one of these options, a batch is complete with any number of rows, so `tail` must be `keep`.
/// A sample that exceeds `max_bytes` or `max_tokens` by itself is a bad sample.
/// A field of varying shape must have `ragged` or `pad`, or be left out before this stage (`drop_fields`).
/// This stage ends the per-sample part of a pipeline.
///
///     from(images) | batch(64)                             // the last batch of an epoch may have fewer rows
///     from(images) | batch(64, {.tail = Tail::drop})       // a batch with fewer rows is dropped
///     from(texts) | pad("text") | batch(512, {.tokens = "text", .max_tokens = 16'384})
PENSTOCK_API Stage batch(std::uint64_t rows, BatchOptions options = {});

}  // namespace penstock
