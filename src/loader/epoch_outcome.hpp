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
  /// Begins an epoch. `whole`: the epoch is read from its beginning.
  void begin(bool whole) noexcept;
  /// Keeps the error of the epoch's first bad sample.
  void note_bad(const std::vector<BadSample>& bad, std::uint64_t epoch);
  /// Looks for a good row in the batch's mask. As long as the epoch has had no good row, counts the rows as bad. Does
  /// not use the batch's SampleCounts, because the first batch of a bucket window has the counts of the whole window.
  void note_rows(const BatchInfo& batch) noexcept;
  /// Counts the samples that the epoch's end reports. No batch has reported these samples.
  void note_end(const SampleCounts& end) noexcept;
  /// Returns an error if the epoch had samples, all of them failed, and `policy` drops or masks bad samples. Without
  /// the error, a caller that does not look at masks would not notice. Returns no error if the epoch was not read from
  /// its beginning.
  std::optional<Error> lost(OnError policy, std::uint64_t epoch) const;

 private:
  bool whole_ = true;
  bool good_ = false;      // the epoch had a sample that did not fail
  std::uint64_t bad_ = 0;  // number of bad samples; not used after a good sample

  std::optional<Error> first_bad_;  // first bad sample's error in epoch `first_bad_of_`
  std::uint64_t first_bad_of_ = 0;
};

}  // namespace penstock::detail::runtime
