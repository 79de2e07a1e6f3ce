// SPDX-License-Identifier: Apache-2.0
#include "loader/epoch_outcome.hpp"

#include <algorithm>
#include <span>
#include <string>

#include "pipeline/outcome.hpp"

namespace penstock::detail::runtime {

void EpochOutcome::begin(bool whole) noexcept {
  whole_ = whole;
  good_ = false;
  bad_ = 0;
}

void EpochOutcome::note_bad(const std::vector<BadSample>& bad, std::uint64_t epoch) {
  if (bad.empty() || (first_bad_ && first_bad_of_ == epoch)) return;
  first_bad_ = bad.front().error;
  first_bad_of_ = epoch;
}

void EpochOutcome::note_rows(const BatchInfo& batch) noexcept {
  if (good_) return;
  const auto masks = std::span(batch.mask).first(static_cast<std::size_t>(batch.valid));
  good_ = std::ranges::find(masks, 1) != masks.end();
  bad_ += masks.size();
}

void EpochOutcome::note_end(const SampleCounts& end) noexcept {
  const std::uint64_t bad = end.bad.size() + end.unlisted;
  good_ = good_ || end.samples > bad;
  bad_ += bad;
}

std::optional<Error> EpochOutcome::lost(OnError policy, std::uint64_t epoch) const {
  const bool drops = policy == OnError::drop;
  if (!whole_ || good_ || bad_ == 0 || (!drops && policy != OnError::mask)) return std::nullopt;
  const std::string cause = (drops ? "no batch came: all " : "no row is good: all ") + std::to_string(bad_) +
                            " samples of epoch " + std::to_string(epoch) + " were bad, and on_error " +
                            (drops ? "drops" : "masks") + " them";
  if (!first_bad_ || first_bad_of_ != epoch) return Error(Errc::quota_exceeded, cause);
  return error_at(*first_bad_, Errc::quota_exceeded, cause + "; the first one: " + first_bad_->cause());
}

}  // namespace penstock::detail::runtime
