#include "blocks/block_plan.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace penstock::detail {

namespace {
// Blocks without a known next use go first, and of those the one that was used longest ago.
constexpr std::uint64_t never = std::uint64_t{1} << 63;
constexpr std::uint64_t max_uses = 1u << 14;  // of blocks that are known ahead: some hundred bytes each
}  // namespace

BlockPlan::BlockPlan(const BlockModel& model, std::size_t limit_bytes, std::uint64_t lookahead,
                     std::vector<std::size_t> destination_bytes, std::uint64_t at_least)
    : model_(model),
      limit_(limit_bytes),
      lookahead_(lookahead),
      at_least_(std::min(lookahead, at_least)),
      destination_bytes_(std::move(destination_bytes)) {}

void BlockPlan::reset(Feed feed, const std::function<bool(std::uint64_t block)>& keeps) {
  feed_ = std::move(feed);
  fed_.clear();
  fed_at_ = 0;
  fetched_.clear();
  upcoming_.clear();
  next_uses_.clear();
  planned_ = in_batch_end_ = fetched_uses_ = upcoming_uses_ = 0;
  by_next_use_.clear();
  bytes_ = 0;
  for (auto at = stays_.begin(); at != stays_.end();) {
    Stay& stay = at->second;
    if (!keeps(at->first)) {
      at = stays_.erase(at);
      continue;
    }
    stay.last_use = 0;
    stay.key = key_of(at->first, 0);
    by_next_use_.emplace(stay.key, at->first);
    bytes_ += stay.bytes;
    ++at;
  }
}

void BlockPlan::prepare(std::uint64_t count) noexcept {
  try {
    // Of the sample after those, as much as it is to know: it follows from the samples alone, not from `count`.
    std::uint64_t before = 0;
    for (std::uint64_t n = 0; n < count && n < upcoming_.size() + fetched_.size(); ++n)
      before += (n < upcoming_.size() ? upcoming_[n] : fetched_[n - upcoming_.size()]).distinct.size();
    const auto known = [&] { return upcoming_.size() + fetched_.size(); };
    while (known() < count + lookahead_ &&
           (known() < count + 1 + at_least_ || upcoming_uses_ + fetched_uses_ < before + max_uses)) {
      const bool counts = known() < count;
      if (!fetch()) break;
      if (counts) before += fetched_.back().distinct.size();
    }
  } catch (...) {  // an order that fails does so again when it is asked for the samples themselves
    feed_ = nullptr;
    fed_.clear();
    fed_at_ = 0;
  }
}

// One more sample of the feed. False: there are no more.
bool BlockPlan::fetch() {
  if (fed_at_ == fed_.size()) {
    std::vector<std::uint64_t> more;
    if (feed_) feed_(more);
    if (more.empty()) return false;
    fed_ = std::move(more);
    fed_at_ = 0;
  }
  Upcoming next;
  next.index = fed_[fed_at_];
  describe(next);
  fetched_uses_ += next.distinct.size();
  fetched_.push_back(std::move(next));
  ++fed_at_;
  return true;
}

// What it needs. Where the source can't say that, its reader will tell why.
void BlockPlan::describe(Upcoming& next) const {
  try {
    model_.blocks_of(next.index, next.blocks);
    for (const std::uint64_t block : next.blocks) next.distinct.push_back({block, 0, false});
    std::ranges::sort(next.distinct, {}, &Block::number);
    const auto same = [](const Block& a, const Block& b) { return a.number == b.number; };
    next.distinct.erase(std::unique(next.distinct.begin(), next.distinct.end(), same), next.distinct.end());
    for (Block& block : next.distinct) {
      block.bytes = static_cast<std::size_t>(model_.block_bytes(block.number));
      block.spare = model_.can_do_without(block.number);
      if (block.spare) continue;
      if (__builtin_add_overflow(next.bytes, block.bytes, &next.bytes))
        next.bytes = std::numeric_limits<std::size_t>::max();
      if (next.bytes == std::numeric_limits<std::size_t>::max()) break;
    }
    if (!destination_bytes_.empty() && next.distinct.size() == 1 && !next.distinct.front().spare)
      next.rows = model_.rows_of(next.distinct.front().number);
    next.known = true;
  } catch (...) {
    next.blocks.clear();
    next.distinct.clear();
  }
}

// The plan knows so many samples ahead, however many are fetched.
void BlockPlan::look_ahead() {
  while (upcoming_.size() < 1 + lookahead_ && (upcoming_.size() < 1 + at_least_ || upcoming_uses_ < max_uses) &&
         !fetched_.empty()) {
    const std::uint64_t use = planned_ + upcoming_.size();
    upcoming_.push_back(std::move(fetched_.front()));
    fetched_.pop_front();
    fetched_uses_ -= upcoming_.back().distinct.size();
    upcoming_uses_ += upcoming_.back().distinct.size();
    for (const Block& needed : upcoming_.back().distinct) {
      const std::uint64_t block = needed.number;
      std::deque<std::uint64_t>& uses = next_uses_[block];
      uses.push_back(use);
      if (uses.size() != 1) continue;
      const auto found = stays_.find(block);
      if (found == stays_.end()) continue;
      by_next_use_.erase({found->second.key, block});
      found->second.key = use;
      by_next_use_.emplace(use, block);
    }
  }
}

std::uint64_t BlockPlan::key_of(std::uint64_t block, std::uint64_t last_use) const {
  const auto uses = next_uses_.find(block);
  return uses != next_uses_.end() && !uses->second.empty() ? uses->second.front() : never + (never >> 1) - last_use;
}

std::size_t BlockPlan::uses_in_sight(std::uint64_t block) const {
  const auto uses = next_uses_.find(block);
  return uses == next_uses_.end() ? 0 : uses->second.size();
}

// True where this sample and those after it are the rows of the block, side by side in the batch, of which `left` are
// to come, and no other is known to need it.
bool BlockPlan::can_go_into_batch(const Upcoming& now, std::uint64_t left) const {
  if (!now.rows || now.rows->first != now.index) return false;
  const auto& [field, first, records] = *now.rows;
  const std::uint64_t block = now.distinct.front().number;
  const std::size_t bytes = now.distinct.front().bytes;
  if (records == 0 || records > left || records - 1 > upcoming_.size() || bytes % records != 0) return false;
  if (field >= destination_bytes_.size() || destination_bytes_[field] == 0 ||
      destination_bytes_[field] != bytes / records)
    return false;
  const auto uses = next_uses_.find(block);
  const std::size_t known = uses == next_uses_.end() ? 0 : uses->second.size();
  if (known < records - 1) return false;
  if (known > records - 1 && has_room_before(bytes, uses->second[records - 1])) return false;
  for (std::uint64_t n = 1; n < records; ++n) {
    const Upcoming& next = upcoming_[n - 1];
    if (next.index != first + n || next.distinct.size() != 1 || next.distinct.front().number != block) return false;
  }
  return true;
}

bool BlockPlan::next(std::uint64_t left, Sample& out) {
  look_ahead();
  if (upcoming_.empty()) return false;
  Upcoming now = std::move(upcoming_.front());
  upcoming_.pop_front();
  upcoming_uses_ -= now.distinct.size();
  const std::uint64_t use = planned_++;
  for (const Block& block : now.distinct) {
    const auto uses = next_uses_.find(block.number);
    uses->second.pop_front();
    if (uses->second.empty()) next_uses_.erase(uses);
  }
  if (!now.known) return false;
  out.index = now.index;
  out.blocks = std::move(now.blocks);
  out.needs.clear();
  out.evicted.clear();
  out.in_batch.reset();
  out.too_large = now.bytes > limit_ ? now.bytes : 0;
  if (out.too_large != 0) return true;

  const bool goes_on_in_batch = use < in_batch_end_;
  const bool begins_in_batch = !goes_on_in_batch && bytes_ + now.bytes > limit_ && now.rows &&
                               !stays_.contains(now.distinct.front().number) && can_go_into_batch(now, left);
  if (begins_in_batch) {
    in_batch_end_ = use + now.rows->records;
    in_batch_field_ = now.rows->field;
  }
  if (goes_on_in_batch || begins_in_batch) {
    out.in_batch = in_batch_field_;
    out.needs.push_back({now.distinct.front().number, now.distinct.front().bytes, begins_in_batch});
    return true;
  }

  // Its own blocks are not what makes room.
  std::size_t missing = 0, own = now.bytes;
  for (const auto& [block, bytes, spare] : now.distinct) {
    const auto found = stays_.find(block);
    if (found != stays_.end()) {
      by_next_use_.erase({found->second.key, block});
      if (spare) own += bytes;
    } else if (spare) {
      continue;
    } else {
      missing += bytes;
    }
    out.needs.push_back({block, bytes, found == stays_.end()});
  }
  // Those that are there and can be done without may be in the way of what it can't do without.
  for (auto need = out.needs.end(); own > limit_ && need != out.needs.begin();) {
    --need;
    const auto block = std::ranges::lower_bound(now.distinct, need->block, {}, &Block::number);
    if (!block->spare) continue;
    own -= block->bytes;
    Stay& stay = stays_.find(need->block)->second;
    stay.key = key_of(need->block, stay.last_use);
    by_next_use_.emplace(stay.key, need->block);
    need = out.needs.erase(need);
  }
  make_room(missing, out.evicted);
  for (const auto& [block, bytes, spare] : now.distinct) {
    if (!spare || stays_.contains(block) || bytes > limit_ - own) continue;
    // Two parts cost about what a whole block does, and need no memory.
    const bool is_free = bytes_ + missing + bytes <= limit_;
    if (!is_free && (uses_in_sight(block) < 2 || !has_room_before(missing + bytes, key_of(block, 0)))) continue;
    make_room(missing + bytes, out.evicted);
    out.needs.push_back({block, bytes, true});
    missing += bytes;
    own += bytes;
  }
  std::ranges::sort(out.needs, {}, &Need::block);
  for (const Need& need : out.needs) {
    Stay& stay = stays_[need.block];
    if (need.loads) {
      stay.bytes = need.bytes;
      bytes_ += need.bytes;
    }
    stay.last_use = use + 1;
    stay.key = key_of(need.block, stay.last_use);
    by_next_use_.emplace(stay.key, need.block);
  }
  return true;
}

// There is room for so many bytes, or would be without blocks whose next use comes after that one.
bool BlockPlan::has_room_before(std::size_t bytes, std::uint64_t key) const {
  if (bytes_ + bytes <= limit_) return true;
  if (key >= never) return false;
  std::size_t freed = 0;
  for (auto at = by_next_use_.rbegin(); bytes_ - freed + bytes > limit_; ++at) {
    if (at == by_next_use_.rend() || at->first <= key) return false;
    freed += stays_.find(at->second)->second.bytes;
  }
  return true;
}

void BlockPlan::make_room(std::size_t bytes, std::vector<std::uint64_t>& evicted) {
  while (bytes_ + bytes > limit_) {
    const auto farthest = std::prev(by_next_use_.end());
    const auto found = stays_.find(farthest->second);
    evicted.push_back(farthest->second);
    bytes_ -= found->second.bytes;
    by_next_use_.erase(farthest);
    stays_.erase(found);
  }
}

}  // namespace penstock::detail
