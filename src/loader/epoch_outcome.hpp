// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/stages/on_error.hpp>

#include "ring/batch_info.hpp"

namespace penstock::detail::runtime {

/// Decides whether the epoch that the caller reads had any good sample. The caller's thread.
class EpochOutcome {
 public:
  /// `whole`: the epoch is read from its beginning.
  void begin(bool whole) noexcept;
  /// Keeps the error of the epoch's first bad sample.
  void note_bad(const std::vector<BadSample>& bad, std::uint64_t epoch);
  /// Counts the batch's rows by its mask. The counts of a bucket window all come with its first batch, so only rows
  /// show which samples are bad.
  void note_rows(const BatchInfo& batch) noexcept;
  /// Counts what the end of the epoch reports, in addition to its batches.
  void note_end(const SampleCounts& end) noexcept;
  /// Returns an error if everything that was made failed under a policy that only drops or masks; the caller may not
  /// look at masks. A stand-in did not fail.
  std::optional<Error> lost(OnError policy, std::uint64_t epoch) const;

 private:
  bool whole_ = true;
  bool good_ = false;      // there was a sample that did not fail
  std::uint64_t bad_ = 0;  // bad samples before the first good one

  std::optional<Error> first_bad_;  // belongs to the last epoch that had one, number:
  std::uint64_t first_bad_of_ = 0;
};

}  // namespace penstock::detail::runtime
