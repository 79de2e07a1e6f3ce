#include "blocks/block_plan.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace penstock::detail {

namespace {
// Blocks without a known next use go first, and of those the one that was used longest ago.
constexpr std::uint64_t never = std::uint64_t{1} << 63;
// Room of a record of more is not kept: in time all of thousands would have as much.
constexpr std::size_t usual_blocks = 32;
constexpr std::uint64_t max_uses = 1u << 14;  // uses of blocks that are known ahead: some hundred bytes each
}  // namespace

BlockPlan::BlockPlan(const BlockModel& model, std::size_t limit_bytes, std::uint64_t lookahead,
                     std::vector<std::size_t> destination_bytes, std::uint64_t at_least)
    : model_(model),
      record_limit_(limit_bytes),
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
  planned_ = in_batch_end_ = fetched_uses_ = upcoming_uses_ = 0;
  by_next_use_.clear();
  gone_by_next_use_.clear();
  bytes_ = gone_bytes_ = 0;
  for (auto at = known_.begin(); at != known_.end();) {
    Known& block = at->second;
    if (!block.stays || !keeps(at->first)) {
      at = known_.erase(at);
      continue;
    }
    block.uses = 0;
    block.last_use = 0;
    block.key = key_of(block, 0);
    by_next_use_.emplace(block.key, at->first);
    bytes_ += block.bytes;
    ++at;
  }
}

void BlockPlan::prepare(std::uint64_t count) noexcept {
  try {
    // `max_uses` bounds what is known behind the `count` samples, so their own uses are left out: how far it looks
    // ahead follows from the samples alone, not from `count`.
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

// What it needs. Where the source can't say that, its reader will tell why.
void BlockPlan::describe(Upcoming& next) const {
  next.blocks.clear();
  next.distinct.clear();
  next.bytes = 0;
  next.rows.reset();
  next.known = false;
  try {
    model_.blocks_of(next.index, next.blocks);
    for (const std::uint64_t block : next.blocks) next.distinct.push_back({block});
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
    for (const Block& needed : upcoming_.back().distinct) note_use(use, needed);
  }
}

BlockPlan::Known& BlockPlan::known(std::uint64_t block) {
  if (nodes_.empty() || known_.contains(block)) return known_[block];
  auto node = std::move(nodes_.back());
  nodes_.pop_back();
  node.key() = block;
  node.mapped() = {};
  return known_.insert(std::move(node)).position->second;
}

// The uses of a block in sight are a chain: each sample knows the next one.
void BlockPlan::note_use(std::uint64_t sample, const Block& needed) {
  Known& block = known(needed.number);
  if (block.uses++ != 0) {
    std::vector<Block>& before = upcoming_[static_cast<std::size_t>(block.farthest_use - planned_)].distinct;
    std::ranges::lower_bound(before, needed.number, {}, &Block::number)->next_use = sample;
  } else {
    block.next_use = sample;
    if (block.stays || block.gone) {
      auto& of_next_use = block.stays ? by_next_use_ : gone_by_next_use_;
      of_next_use.erase({block.key, needed.number});
      block.key = sample;
      of_next_use.emplace(sample, needed.number);
    }
  }
  block.farthest_use = sample;
}

std::uint64_t BlockPlan::key_of(const Known& block, std::uint64_t last_use) noexcept {
  return block.uses != 0 ? block.next_use : never + (never >> 1) - last_use;
}

// True where this sample and those after it are the rows of the block, side by side in the batch, of which `left` are
// to come, and no other is known to need it.
bool BlockPlan::can_go_into_batch(const Upcoming& now, const Known& block, std::uint64_t left) const {
  if (!now.rows || now.rows->first != now.index) return false;
  const auto& [field, first, records] = *now.rows;
  const std::uint64_t number = now.distinct.front().number;
  const std::size_t bytes = now.distinct.front().bytes;
  if (records == 0 || records > left || records - 1 > upcoming_.size() || bytes % records != 0) return false;
  if (field >= destination_bytes_.size() || destination_bytes_[field] == 0 ||
      destination_bytes_[field] != bytes / records)
    return false;
  if (block.uses < records - 1) return false;
  std::uint64_t use_after = block.next_use;
  for (std::uint64_t n = 1; n < records; ++n) {
    const Upcoming& next = upcoming_[n - 1];
    if (next.index != first + n || next.distinct.size() != 1 || next.distinct.front().number != number) return false;
    use_after = next.distinct.front().next_use;
  }
  return block.uses == records - 1 || !has_room_before(bytes, use_after);
}

bool BlockPlan::next(std::uint64_t left, Sample& out) {
  look_ahead();
  if (upcoming_.empty()) return false;
  Upcoming now = std::move(upcoming_.front());
  upcoming_.pop_front();
  upcoming_uses_ -= now.distinct.size();
  const std::uint64_t use = planned_++;
  now_.clear();
  no_longer_gone_.clear();
  for (const Block& needed : now.distinct) {
    Known& block = known_.find(needed.number)->second;
    --block.uses;
    block.next_use = needed.next_use;
    now_.push_back(&block);
  }
  const bool known = now.known;
  if (known) {
    take_gone(now);
    plan(now, use, left, out);
    note_gone(now, use, out);
    for (const std::uint64_t block : out.evicted) forget(block);
    for (const std::uint64_t block : no_longer_gone_) forget(block);
  }
  for (const Block& needed : now.distinct) forget(needed.number);
  out.blocks.swap(now.blocks);
  if (std::max(now.blocks.capacity(), now.distinct.capacity()) <= usual_blocks) spare_.push_back(std::move(now));
  return known;
}

// Where nothing is known of a block any more.
void BlockPlan::forget(std::uint64_t block) {
  const auto found = known_.find(block);
  if (found != known_.end() && found->second.uses == 0 && !found->second.stays && !found->second.gone)
    nodes_.push_back(known_.extract(found));
}

// A block that makes room, or would have to with twice the memory.
void BlockPlan::remember(std::uint64_t number, Known& block) {
  block.gone = true;
  gone_by_next_use_.emplace(block.key, number);
  gone_bytes_ += block.bytes;
  while (gone_bytes_ > limit_) {
    const auto farthest = std::prev(gone_by_next_use_.end());
    Known& dropped = known_.find(farthest->second)->second;
    dropped.gone = false;
    gone_bytes_ -= dropped.bytes;
    no_longer_gone_.push_back(farthest->second);
    gone_by_next_use_.erase(farthest);
  }
}

void BlockPlan::take_gone(const Upcoming& now) {
  taken_.clear();
  for (std::size_t n = 0; n < now_.size(); ++n) {
    Known& block = *now_[n];
    if (!block.gone) continue;
    block.gone = false;
    gone_by_next_use_.erase({block.key, now.distinct[n].number});
    gone_bytes_ -= block.bytes;
    taken_.push_back(n);
  }
}

// With twice the memory they would have been there. What was decoded into the batch, or done without, still is.
void BlockPlan::note_gone(const Upcoming& now, std::uint64_t use, const Sample& out) {
  const bool into_batch = out.in_batch && out.needs.front().loads;
  for (const std::size_t n : taken_) {
    Known& block = *now_[n];
    if (block.stays || into_batch) ++saved_;
    if (block.stays) continue;
    block.last_use = use + 1;
    block.key = key_of(block, block.last_use);
    remember(now.distinct[n].number, block);
  }
}

void BlockPlan::plan(Upcoming& now, std::uint64_t use, std::uint64_t left, Sample& out) {
  out.index = now.index;
  out.needs.clear();
  out.evicted.clear();
  out.in_batch.reset();
  out.too_large = now.bytes > record_limit_ ? now.bytes : 0;
  if (out.too_large != 0) return;

  if (plan_in_batch(now, use, left, out)) return;
  Room room{0, now.bytes};
  list_needs(now, room, out.needs);
  leave_spare_blocks(now, room, out.needs);
  make_room(room.missing, out.evicted);
  add_spare_blocks(now, room, out);
  std::ranges::sort(out.needs, {}, &Need::block);
  note_needs(now, use, out.needs);
}

// Its only block goes into the batch, or went there for a sample before it.
bool BlockPlan::plan_in_batch(const Upcoming& now, std::uint64_t use, std::uint64_t left, Sample& out) {
  const bool goes_on = use < in_batch_end_;
  const bool begins = !goes_on && bytes_ + now.bytes > limit_ && now.rows && !now_.front()->stays &&
                      can_go_into_batch(now, *now_.front(), left);
  if (!goes_on && !begins) return false;
  if (begins) {
    in_batch_end_ = use + now.rows->records;
    in_batch_field_ = now.rows->field;
  }
  out.in_batch = in_batch_field_;
  out.needs.push_back({now.distinct.front().number, now.distinct.front().bytes, begins});
  return true;
}

// What it can't do without, and what is there. Its own blocks are not what makes room.
void BlockPlan::list_needs(const Upcoming& now, Room& room, std::vector<Need>& needs) {
  for (std::size_t n = 0; n < now_.size(); ++n) {
    const Block& needed = now.distinct[n];
    const bool stays = now_[n]->stays;
    if (stays) {
      by_next_use_.erase({now_[n]->key, needed.number});
      if (needed.spare) room.own += needed.bytes;
    } else if (needed.spare) {
      continue;
    } else {
      room.missing += needed.bytes;
    }
    needs.push_back({needed.number, needed.bytes, !stays});
  }
}

// Those that are there and can be done without may be in the way of what it can't do without.
void BlockPlan::leave_spare_blocks(const Upcoming& now, Room& room, std::vector<Need>& needs) {
  for (auto need = needs.end(); room.own > limit_ && need != needs.begin();) {
    --need;
    const auto needed = std::ranges::lower_bound(now.distinct, need->block, {}, &Block::number);
    if (!needed->spare) continue;
    room.own -= needed->bytes;
    Known& block = *now_[static_cast<std::size_t>(needed - now.distinct.begin())];
    block.key = key_of(block, block.last_use);
    by_next_use_.emplace(block.key, need->block);
    need = needs.erase(need);
  }
}

// What it could do without is loaded where that is worth it.
void BlockPlan::add_spare_blocks(const Upcoming& now, Room& room, Sample& out) {
  for (std::size_t n = 0; n < now_.size(); ++n) {
    const auto& [number, bytes, spare, next_use] = now.distinct[n];
    const Known& block = *now_[n];
    if (!spare || block.stays || bytes > limit_ - room.own) continue;
    // Two parts cost about what a whole block does, and need no memory.
    const bool is_free = bytes_ + room.missing + bytes <= limit_;
    if (!is_free && (block.uses < 2 || !has_room_before(room.missing + bytes, block.next_use))) continue;
    make_room(room.missing + bytes, out.evicted);
    out.needs.push_back({number, bytes, true});
    room.missing += bytes;
    room.own += bytes;
  }
}

// They are there after it. `needs`: by number.
void BlockPlan::note_needs(const Upcoming& now, std::uint64_t use, const std::vector<Need>& needs) {
  std::size_t n = 0;
  for (const Need& need : needs) {
    while (now.distinct[n].number != need.block) ++n;
    Known& block = *now_[n];
    if (need.loads) {
      block.stays = true;
      block.bytes = need.bytes;
      bytes_ += need.bytes;
    }
    block.last_use = use + 1;
    block.key = key_of(block, block.last_use);
    by_next_use_.emplace(block.key, need.block);
  }
}

// There is room for so many bytes, or would be without blocks whose next use comes after that one.
bool BlockPlan::has_room_before(std::size_t bytes, std::uint64_t key) const {
  if (bytes_ + bytes <= limit_) return true;
  if (key >= never) return false;
  std::size_t freed = 0;
  for (auto at = by_next_use_.rbegin(); bytes_ - freed + bytes > limit_; ++at) {
    if (at == by_next_use_.rend() || at->first <= key) return false;
    freed += known_.find(at->second)->second.bytes;
  }
  return true;
}

void BlockPlan::make_room(std::size_t bytes, std::vector<std::uint64_t>& evicted) {
  while (bytes_ + bytes > limit_) {
    const auto farthest = std::prev(by_next_use_.end());
    Known& block = known_.find(farthest->second)->second;
    evicted.push_back(farthest->second);
    bytes_ -= block.bytes;
    block.stays = false;
    by_next_use_.erase(farthest);
    remember(evicted.back(), block);
  }
}

}  // namespace penstock::detail
