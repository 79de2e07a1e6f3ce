#include "policy.hpp"

#include <algorithm>

namespace penstock::detail {

void PolicyLedger::account(std::vector<BadSample>& bad, std::uint64_t delivered_before) {
  if (bad.empty()) return;
  // Runners report in the order they come across; what counts is the order of the rows.
  std::ranges::stable_sort(bad, {}, &BadSample::row);
  std::uint64_t acted = acted_;
  for (const BadSample& b : bad) {
    if (b.fatal) throw b.error;
    ++acted;
    const std::uint64_t delivered = delivered_before + b.row + 1;
    const bool too_many = acted > policy_.max_count;
    const bool too_large_a_share =
        delivered >= least_for_share && static_cast<double>(acted) > policy_.max_share * static_cast<double>(delivered);
    if (too_many || too_large_a_share) {
      Error error(Errc::quota_exceeded, std::to_string(acted) + " bad samples in " + std::to_string(delivered) +
                                            ", more than on_error allows (" +
                                            (too_many ? "max_count " + std::to_string(policy_.max_count)
                                                      : "max_share " + std::to_string(policy_.max_share)) +
                                            "); the last one: " + b.error.cause());
      if (b.error.index()) error.with_index(*b.error.index());
      throw error.with_stage(b.error.stage())
          .with_source(b.error.source())
          .with_file(b.error.file())
          .with_key(b.error.key());
    }
    std::string message = std::string("bad sample: ") + b.error.what();
    // A batch that is read again, in a later epoch or after a resume, has nothing new to say.
    if (messages_.size() < most_messages && std::ranges::find(messages_, message) == messages_.end())
      messages_.push_back(std::move(message));
  }
  acted_here_ += acted - acted_;
  acted_ = acted;
}

}  // namespace penstock::detail
