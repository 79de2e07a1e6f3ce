#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/stages/on_error.hpp>

#include "ring/batch_ring.hpp"

namespace penstock::detail::runtime {

/// What a policy's quota goes by: bad samples, and all, so far in the run.
struct QuotaCount {
  std::uint64_t acted = 0, samples = 0;
};
/// More than the policy allows. `samples`: with the last bad one.
bool exceeds_quota(const ErrorPolicy& policy, const QuotaCount& count) noexcept;

/// So many bad samples of a batch are kept with what they say; beyond that they are counted.
inline constexpr std::size_t max_listed = 1000;

/// Counts bad samples in order, as batches are delivered, and ends the run where the policy says so.
class PolicyLedger {
 public:
  explicit PolicyLedger(const ErrorPolicy& policy) : policy_(policy) {}

  /// Takes note of a batch before it is delivered; `delivered_before` samples came before it; `unlisted` bad ones stand
  /// after the first `max_listed`. @throws the first fatal error of the batch in order, or Error(quota_exceeded) at
  /// the sample that was one too many.
  void account(std::vector<BadSample>& bad, std::uint64_t delivered_before, std::uint64_t unlisted = 0);
  std::uint64_t acted() const noexcept { return acted_; }
  void resume(std::uint64_t acted) noexcept { acted_ = acted; }
  /// Bad samples that this object saw itself.
  std::uint64_t acted_here() const noexcept { return acted_here_; }
  /// What the first bad samples said.
  const std::vector<std::string>& messages() const noexcept { return messages_; }

 private:
  static constexpr std::size_t max_messages = 10;
  ErrorPolicy policy_;
  std::uint64_t acted_ = 0, acted_here_ = 0;
  std::vector<std::string> messages_;
};

}  // namespace penstock::detail::runtime
