#pragma once

#include <cstdint>

namespace penstock::detail::runtime {

/// What was measured over some batches, made with settings that did not change meanwhile.
struct TuneWindow {
  double rate = 0;        ///< samples a second
  double wait_share = 0;  ///< share of the time that the caller spent in `next()`
  // Shares of the runners' time:
  double no_batch = 0;  ///< they had none to write to, or all waited for one slow sample
  double no_entry = 0;  ///< samples waited for older ones, and none was left for others
  double in_work = 0;   ///< they made samples
  double waiting = 0;   ///< of `in_work`, what they spent without computing
  /// What would be saved of the time in which they were in work, were there twice the memory for blocks; 0 to 1.
  double saved_by_blocks = 0;
  /// Whether that says enough: so many blocks were loaded that the memory was filled some times over.
  bool blocks_known = true;
};

}  // namespace penstock::detail::runtime
