// SPDX-License-Identifier: Apache-2.0
#include "blocks/upcoming_samples.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace penstock::detail::runtime {

namespace {
// Memory of a sample with more blocks than this is not reused. If it were reused, thousands of samples could have that
// much memory after some time.
constexpr std::size_t usual_blocks = 32;
// The plan stops looking ahead when the samples in sight have this many uses of blocks, but not before `at_least`
// samples are in sight. Each use takes a few hundred bytes.
constexpr std::uint64_t max_uses = 1u << 14;
}  // namespace

UpcomingSamples::UpcomingSamples(const BlockModel& model, std::uint64_t lookahead, std::uint64_t at_least,
                                 bool asks_rows)
    : model_(model), lookahead_(lookahead), at_least_(std::min(lookahead, at_least)), asks_rows_(asks_rows) {}

void UpcomingSamples::reset(Feed feed) {
  feed_ = std::move(feed);
  fed_.clear();
  fed_at_ = 0;
  fetched_.clear();
  in_sight_.clear();
  next_ = fetched_uses_ = uses_in_sight_ = 0;
}

void UpcomingSamples::prepare(std::uint64_t count) noexcept {
  try {
    // `max_uses` limits only the uses after the first `count` samples. So how far the plan can look ahead depends on
    // the samples and not on `count`.
    std::uint64_t before = 0;
    for (std::uint64_t n = 0; n < count && n < known(); ++n)
      before += (n < in_sight_.size() ? in_sight_[n] : fetched_[n - in_sight_.size()]).distinct.size();
    while (known() < count + lookahead_ &&
           (known() < count + 1 + at_least_ || uses_in_sight_ + fetched_uses_ < before + max_uses)) {
      const bool counts = known() < count;
      if (!fetch()) break;
      if (counts) before += fetched_.back().distinct.size();
    }
  } catch (...) {  // an order that fails here fails again when the samples are issued, and reports the error then
    feed_ = nullptr;
    fed_.clear();
    fed_at_ = 0;
  }
}

// Fetches one more sample of the feed. Returns false if no sample is left.
bool UpcomingSamples::fetch() {
  if (fed_at_ == fed_.size()) {
    std::vector<std::uint64_t> more;
    if (feed_) feed_(more);
    if (more.empty()) return false;
    fed_ = std::move(more);
    fed_at_ = 0;
  }
  UpcomingSample next;
  if (!spare_.empty()) {
    next = std::move(spare_.back());
    spare_.pop_back();
  }
  next.index = fed_[fed_at_];
  describe(next);
  fetched_uses_ += next.distinct.size();
  fetched_.push_back(std::move(next));
  ++fed_at_;
  return true;
}

// Asks the source which blocks the sample needs. If the source fails here, its reader will report why.
void UpcomingSamples::describe(UpcomingSample& next) const {
  next.blocks.clear();
  next.distinct.clear();
  next.bytes = 0;
  next.rows.reset();
  next.known = false;
  try {
    model_.blocks_of(next.index, next.blocks);
    for (const std::uint64_t block : next.blocks) next.distinct.push_back({block});
    std::ranges::sort(next.distinct, {}, &UpcomingBlock::number);
    const auto same = [](const UpcomingBlock& a, const UpcomingBlock& b) { return a.number == b.number; };
    next.distinct.erase(std::unique(next.distinct.begin(), next.distinct.end(), same), next.distinct.end());
    for (UpcomingBlock& block : next.distinct) {
      block.bytes = static_cast<std::size_t>(model_.block_bytes(block.number));
      block.spare = model_.can_do_without(block.number);
      if (block.spare) continue;
      if (__builtin_add_overflow(next.bytes, block.bytes, &next.bytes))
        next.bytes = std::numeric_limits<std::size_t>::max();
      if (next.bytes == std::numeric_limits<std::size_t>::max()) break;
    }
    if (asks_rows_ && next.distinct.size() == 1 && !next.distinct.front().spare)
      next.rows = model_.rows_of(next.distinct.front().number);
    next.known = true;
  } catch (...) {
    next.blocks.clear();
    next.distinct.clear();
  }
}

// Both limits count only what is in sight, because how many samples come into sight must not depend on how many are
// fetched.
bool UpcomingSamples::look_ahead() {
  if (in_sight_.size() >= 1 + lookahead_ || fetched_.empty()) return false;
  if (in_sight_.size() >= 1 + at_least_ && uses_in_sight_ >= max_uses) return false;
  in_sight_.push_back(std::move(fetched_.front()));
  fetched_.pop_front();
  fetched_uses_ -= last().distinct.size();
  uses_in_sight_ += last().distinct.size();
  return true;
}

UpcomingBlock& UpcomingSamples::block_of(std::uint64_t sample, std::uint64_t block) noexcept {
  std::vector<UpcomingBlock>& blocks = in_sight_[static_cast<std::size_t>(sample - next_)].distinct;
  return *std::ranges::lower_bound(blocks, block, {}, &UpcomingBlock::number);
}

UpcomingSample UpcomingSamples::take() {
  UpcomingSample now = std::move(in_sight_.front());
  in_sight_.pop_front();
  uses_in_sight_ -= now.distinct.size();
  ++next_;
  return now;
}

void UpcomingSamples::give_back(UpcomingSample sample) {
  if (std::max(sample.blocks.capacity(), sample.distinct.capacity()) <= usual_blocks)
    spare_.push_back(std::move(sample));
}

}  // namespace penstock::detail::runtime
