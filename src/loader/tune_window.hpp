// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace penstock::detail::runtime {

/// Measurements over a few batches, made with settings that did not change during that time.
struct TuneWindow {
  double rate = 0;        ///< samples per second
  double wait_share = 0;  ///< share of the time that the caller spent in `next()`
  // Shares of the runners' time:
  double no_batch = 0;  ///< they had no batch to write to, or all waited for one slow sample
  double no_entry = 0;  ///< samples waited for older ones, and no entry was left for others
  double in_work = 0;   ///< they made samples
  double waiting = 0;   ///< the part of `in_work` that they spent without computing
  /// Share of `in_work` that twice the memory for blocks would save; 0 to 1.
  double saved_by_blocks = 0;
  /// Whether that share is reliable: enough blocks were loaded to fill the memory several times.
  bool blocks_known = true;
};

}  // namespace penstock::detail::runtime
