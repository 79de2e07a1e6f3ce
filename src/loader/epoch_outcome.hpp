// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/stages/on_error.hpp>

#include "ring/batch_info.hpp"

namespace penstock::detail::runtime {

/// Finds out whether the epoch that the caller reads had a good sample. Only the caller's thread uses it.
class EpochOutcome {
 public:
  /// `whole`: the epoch is read from its beginning.
  void begin(bool whole) noexcept;
  /// Keeps the error of the epoch's first bad sample.
  void note_bad(const std::vector<BadSample>& bad, std::uint64_t epoch);
  /// Counts good and bad rows by the batch's mask. SampleCounts don't show a batch's bad samples, because the first
  /// batch of a bucket window has the counts of the whole window.
  void note_rows(const BatchInfo& batch) noexcept;
  /// Counts the samples that the epoch's end reports in addition to its batches.
  void note_end(const SampleCounts& end) noexcept;
  /// Returns an error if all samples of the epoch failed under a policy that drops or masks. Without the error, a
  /// caller that does not look at masks would not notice. A sample with a stand-in did not fail.
  std::optional<Error> lost(OnError policy, std::uint64_t epoch) const;

 private:
  bool whole_ = true;
  bool good_ = false;      // the epoch had a sample that did not fail
  std::uint64_t bad_ = 0;  // number of bad samples before the first good sample

  std::optional<Error> first_bad_;  // first bad sample's error in epoch `first_bad_of_`
  std::uint64_t first_bad_of_ = 0;
};

}  // namespace penstock::detail::runtime
