// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace penstock::detail::runtime {

/// Measurements over a few batches, during which settings did not change.
struct TuneWindow {
  double rate = 0;        ///< samples per second
  double wait_share = 0;  ///< time that the caller spent in `next()`, as a share of all time
  // Shares of the runners' time, except `waiting`:
  double no_batch = 0;  ///< no buffer was free, or all runners waited for one slow sample
  double no_entry = 0;  ///< finished samples waited for older samples, and no entry was free
  double in_work = 0;   ///< runners made samples
  double waiting = 0;   ///< share of `in_work` in which runners did not compute
  /// Share of `in_work` that twice the memory for blocks would save; 0 to 1.
  double saved_by_blocks = 0;
  /// Whether `saved_by_blocks` is reliable. False if the window loaded blocks, the loads so far could not fill the
  /// memory several times, and the memory for blocks may still be raised.
  bool blocks_known = true;
};

}  // namespace penstock::detail::runtime
