// SPDX-License-Identifier: Apache-2.0
#include "blocks/block_announcements.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace penstock::detail::runtime {

namespace {
// One call looks at no more samples, because the issuing thread has other work.
constexpr std::uint64_t samples_at_once = std::uint64_t{1} << 15;
// If nearly all blocks are in memory, it looks no farther ahead than this.
constexpr std::uint64_t samples_in_sight = std::uint64_t{1} << 18;
}  // namespace

// Withdraws the announcements of coming samples, and announces nothing more.
void BlockAnnouncements::stop() noexcept {
  if (!withdrawn_.empty()) model_.will_not_load(withdrawn_);
  withdrawn_.clear();
  news_.clear();
  for (const auto& [block, seen] : seen_)
    if (seen.announced && seen.told) model_.will_not_load({&block, 1});
  seen_.clear();
  announced_ = announced_bytes_ = 0;
  feed_ = nullptr;
  fed_.clear();
  fed_at_ = 0;
}

void BlockAnnouncements::withdraw() noexcept {
  stop();
  for (const auto& [block, times] : due_)
    for (std::uint64_t n = 0; n < times; ++n) model_.will_not_load({&block, 1});
  due_.clear();
}

void BlockAnnouncements::reset(Feed feed) noexcept {
  withdraw();
  feed_ = std::move(feed);
  next_ = 0;
}

// Fetches indices from the feed. Returns false if no sample is left.
bool BlockAnnouncements::fetch() {
  if (fed_at_ < fed_.size()) return true;
  fed_.clear();
  fed_at_ = 0;
  if (feed_) feed_(fed_);
  return !fed_.empty();
}

void BlockAnnouncements::look_ahead(std::uint64_t planned, const std::function<bool(std::uint64_t)>& has) noexcept {
  try {
    const std::uint64_t end = std::min(next_ + samples_at_once, planned + samples_in_sight);
    while (next_ < end && announced_ < most_.blocks && announced_bytes_ < most_.bytes && fetch()) {
      const std::uint64_t index = fed_[fed_at_++], sample = next_++;
      if (sample < planned) continue;  // the plan was faster
      ids_.clear();
      try {
        model_.blocks_of(index, ids_);
      } catch (...) {  // the record's reader will report why
        continue;
      }
      for (const std::uint64_t block : ids_) see(block, sample, has);
    }
    tell();
  } catch (...) {
    // An order that fails here fails again when the samples are issued, and reports the error then. Without memory,
    // nothing is announced.
    stop();
  }
}

// Tells the source what has changed.
void BlockAnnouncements::tell() noexcept {
  if (!withdrawn_.empty()) model_.will_not_load(withdrawn_);
  withdrawn_.clear();
  // Of what was to be announced, a part may have been loaded since.
  std::erase_if(news_, [this](std::uint64_t block) {
    const auto seen = seen_.find(block);
    if (seen == seen_.end() || !seen->second.announced || seen->second.told) return true;
    seen->second.told = true;
    return false;
  });
  if (!news_.empty()) model_.will_load(news_);
  news_.clear();
}

void BlockAnnouncements::see(std::uint64_t block, std::uint64_t sample, const std::function<bool(std::uint64_t)>& has) {
  Seen& seen = seen_[block];
  seen.last_use = sample;
  if (!seen.announced && !has(block)) announce(block, seen);
}

void BlockAnnouncements::announce(std::uint64_t block, Seen& seen) {
  seen.bytes = model_.block_bytes(block);
  news_.push_back(block);
  seen.announced = true;
  seen.told = false;
  ++announced_;
  announced_bytes_ += seen.bytes;
}

void BlockAnnouncements::forget(Seen& seen) noexcept {
  if (!seen.announced) return;
  seen.announced = false;
  --announced_;
  announced_bytes_ -= seen.bytes;
}

bool BlockAnnouncements::loads(std::uint64_t block) noexcept {
  const auto seen = seen_.find(block);
  if (seen == seen_.end() || !seen->second.announced) return false;
  bool ends = seen->second.told;
  try {
    if (ends) ++due_[block];
  } catch (...) {  // no memory: stays announced if the run ends before the load
    ends = false;
  }
  forget(seen->second);
  return ends;
}

void BlockAnnouncements::loaded(std::uint64_t block) noexcept {
  if (const auto due = due_.find(block); due != due_.end() && --due->second == 0) due_.erase(due);
}

void BlockAnnouncements::evicted(std::uint64_t block, std::uint64_t sample) noexcept {
  const auto seen = seen_.find(block);
  if (seen == seen_.end() || seen->second.announced || seen->second.last_use <= sample) return;
  if (announced_ >= most_.blocks || announced_bytes_ >= most_.bytes) return;
  try {
    announce(block, seen->second);
  } catch (...) {  // no memory, or the source can't return the block's size
  }
}

void BlockAnnouncements::planned(const std::vector<std::uint64_t>& blocks, std::uint64_t sample) noexcept {
  for (const std::uint64_t block : blocks) {
    const auto seen = seen_.find(block);
    if (seen == seen_.end() || seen->second.last_use > sample) continue;
    if (seen->second.announced) {
      if (seen->second.told) {
        try {
          withdrawn_.push_back(block);
        } catch (...) {  // no memory: stays announced until the run ends
          continue;
        }
      }
      forget(seen->second);
    }
    seen_.erase(seen);
  }
}

}  // namespace penstock::detail::runtime
