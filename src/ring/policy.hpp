// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/stages/on_error.hpp>

#include "ring/batch_ring.hpp"

namespace penstock::detail::runtime {

/// What a policy's quota has counted so far in the run. `acted`: bad samples. `samples`: all samples.
struct QuotaCount {
  std::uint64_t acted = 0, samples = 0;
};
/// Returns whether there are more bad samples than the policy allows. `count` includes the latest bad sample.
bool exceeds_quota(const ErrorPolicy& policy, const QuotaCount& count) noexcept;

/// How many errors of bad samples a batch keeps. Further bad samples are only counted, unless
/// `RunSetup::lists_all_bad` is set.
inline constexpr std::size_t max_listed = 1000;

/// Counts bad samples in order, as batches are delivered. Ends the run if the policy requires it.
class BadSampleLedger {
 public:
  explicit BadSampleLedger(const ErrorPolicy& policy) : policy_(policy) {}

  /// Counts the bad samples of a batch before it is delivered. `delivered_before`: number of samples before this batch.
  /// `unlisted`: how many bad samples came after the first `max_listed` and are not in `bad`. @throws the batch's first
  /// fatal error in order, or Error(quota_exceeded) at the first sample beyond the quota.
  void account(std::vector<BadSample>& bad, std::uint64_t delivered_before, std::uint64_t unlisted = 0);
  std::uint64_t acted() const noexcept { return acted_; }
  void resume(std::uint64_t acted) noexcept { acted_ = acted; }
  /// Returns how many bad samples this object counted, without the number that `resume` set.
  std::uint64_t acted_here() const noexcept { return acted_here_; }
  /// Returns the messages of the first bad samples: at most 10, each once.
  const std::vector<std::string>& messages() const noexcept { return messages_; }

 private:
  static constexpr std::size_t max_messages = 10;
  ErrorPolicy policy_;
  std::uint64_t acted_ = 0, acted_here_ = 0;
  std::vector<std::string> messages_;
};

}  // namespace penstock::detail::runtime
