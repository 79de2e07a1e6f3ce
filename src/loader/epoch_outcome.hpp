#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/stages/on_error.hpp>

#include "ring/batch_info.hpp"

namespace penstock::detail::runtime {

/// Whether anything can be learnt of the epoch that the caller reads. The caller's thread.
class EpochOutcome {
 public:
  /// `whole`: it is read from its beginning.
  void begin(bool whole) noexcept;
  /// What the first bad sample of it said.
  void note_bad(const std::vector<BadSample>& bad, std::uint64_t epoch);
  /// What a bucket window tells of, it tells with its first batch: rows say which are bad.
  void note_rows(const BatchInfo& batch) noexcept;
  /// What its end tells, beside its batches.
  void note_end(const SampleCounts& end) noexcept;
  /// What says so, where whatever was made failed, and nobody may look at masks. A stand-in did not fail.
  std::optional<Error> lost(OnError policy, std::uint64_t epoch) const;

 private:
  bool whole_ = true;
  bool good_ = false;      // a sample that did not fail
  std::uint64_t bad_ = 0;  // counted until there is a good one

  std::optional<Error> first_bad_;  // of the last epoch that had one, which was:
  std::uint64_t first_bad_of_ = 0;
};

}  // namespace penstock::detail::runtime
