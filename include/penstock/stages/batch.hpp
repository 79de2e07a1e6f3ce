#pragma once

#include <cstdint>
#include <string>

#include <penstock/detail/export.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// What becomes of the last, incomplete batch of an epoch.
enum class Tail : std::uint8_t {
  keep,  ///< the batch comes with fewer rows
  drop,  ///< the batch does not come
  pad,   ///< the batch comes whole: rows of zeros after the real ones, with mask 0 and index ~0
};

/// Settings of `batch`.
struct BatchOptions {
  Tail tail = Tail::keep;       ///< result option
  std::uint64_t max_bytes = 0;  ///< result option: a batch ends before the sample that would make it larger. What
                                ///< pads rows to one length counts; the gaps between ragged rows, which keep each
                                ///< row aligned in memory, do not. 0 = not bounded
  std::string tokens = {};      ///< result option: the field that `max_tokens` counts
  /// Result option: a batch ends before the first dimensions of the field `tokens` would sum up to more; for a padded
  /// field the sum is rows times the longest one; 0 = not bounded.
  std::uint64_t max_tokens = 0;
  /// Whose samples stand together.
  enum class By : std::uint8_t {
    order,  ///< samples that follow each other
    group,  ///< samples of one group that follow each other: a batch ends before the first sample of another group, or
            ///< of another pass over the data (see `SplitOptions::By::group`), as `bags` puts them one after the other.
            ///< Not with the policy `replace`, whose stand-ins are any group's
  };
  /// Result option: whose samples stand together.
  By by = By::order;
};

/// Puts at most `rows` consecutive samples together (of all ranks, where `for_rank` shares them): exactly as many, but
/// for an epoch's last batch, where nothing else bounds it. A sample that is over such a bound alone is a bad sample.
/// Fields whose shape varies must say what becomes of that (`ragged`, `pad`) or be left out (`drop_fields`). Ends
/// the per-sample part of a pipeline. A batch that is bounded by bytes, tokens or groups is complete with any number
/// of rows, so `tail` is `keep` then.
///
///     from(images) | batch(64)                             // the last batch of an epoch may have fewer rows
///     from(images) | batch(64, {.tail = Tail::drop})       // or is left out
///     from(texts) | pad("text") | batch(512, {.tokens = "text", .max_tokens = 16'384})
PENSTOCK_API Stage batch(std::uint64_t rows, BatchOptions options = {});

}  // namespace penstock
