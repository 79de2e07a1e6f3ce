// SPDX-License-Identifier: Apache-2.0
#include "ring/policy.hpp"

#include <algorithm>
#include <utility>

#include "pipeline/outcome.hpp"

namespace penstock::detail::runtime {

bool exceeds_quota(const ErrorPolicy& policy, const QuotaCount& count) noexcept {
  constexpr std::uint64_t min_for_share = 1000;
  return count.acted > policy.max_count ||
         (count.samples >= min_for_share &&
          static_cast<double>(count.acted) > policy.max_share * static_cast<double>(count.samples));
}

void BadSampleLedger::account(std::vector<BadSample>& bad, std::uint64_t delivered_before, std::uint64_t unlisted) {
  if (bad.empty()) return;
  // Runners report bad samples in any order; the quota counts them in the order of their rows.
  std::ranges::stable_sort(bad, {}, &BadSample::row);
  std::uint64_t acted = acted_;
  for (std::size_t i = 0; i < bad.size(); ++i) {
    const BadSample& b = bad[i];
    if (i == max_listed) acted += std::exchange(unlisted, 0);
    if (b.fatal) throw b.error;
    ++acted;
    const std::uint64_t delivered = delivered_before + b.row + 1;
    if (exceeds_quota(policy_, {acted, delivered})) {
      const bool too_many = acted > policy_.max_count;
      throw error_at(b.error, Errc::quota_exceeded,
                     std::to_string(acted) + " bad samples in " + std::to_string(delivered) +
                         ", more than on_error allows (" +
                         (too_many ? "max_count " + std::to_string(policy_.max_count)
                                   : "max_share " + std::to_string(policy_.max_share)) +
                         "); the last one: " + b.error.cause());
    }
    std::string message = std::string("bad sample: ") + b.error.what();
    // A batch that is read again, in a later epoch or after a resume, yields the same messages again.
    if (messages_.size() < max_messages && std::ranges::find(messages_, message) == messages_.end())
      messages_.push_back(std::move(message));
  }
  acted += unlisted;
  acted_here_ += acted - acted_;
  acted_ = acted;
}

}  // namespace penstock::detail::runtime
