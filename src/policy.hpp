#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/batch_stage.hpp>

#include "slots.hpp"

namespace penstock::detail {

/// Counts bad samples in order, as batches are delivered, and ends the run where the policy says so.
class PolicyLedger {
 public:
  explicit PolicyLedger(const ErrorPolicy& policy) : policy_(policy) {}

  /// Takes note of a batch before it is delivered; `delivered_before` samples came before it. @throws the first fatal
  /// error of the batch in order, or Error(quota_exceeded) at the sample that was one too many.
  void account(std::vector<BadSample>& bad, std::uint64_t delivered_before);
  std::uint64_t acted() const noexcept { return acted_; }
  void resume(std::uint64_t acted) noexcept { acted_ = acted; }
  /// Of those, what this object saw itself.
  std::uint64_t acted_here() const noexcept { return acted_here_; }
  /// What the first bad samples said.
  const std::vector<std::string>& messages() const noexcept { return messages_; }

 private:
  static constexpr std::size_t most_messages = 10;
  static constexpr std::uint64_t least_for_share = 1000;
  ErrorPolicy policy_;
  std::uint64_t acted_ = 0, acted_here_ = 0;
  std::vector<std::string> messages_;
};

}  // namespace penstock::detail
