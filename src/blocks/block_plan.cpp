// SPDX-License-Identifier: Apache-2.0
#include "blocks/block_plan.hpp"

#include <algorithm>
#include <utility>

namespace penstock::detail::runtime {

BlockPlan::BlockPlan(const BlockModel& model, std::size_t limit_bytes, std::uint64_t lookahead,
                     std::vector<std::size_t> destination_bytes, std::uint64_t at_least)
    : record_limit_(limit_bytes),
      limit_(limit_bytes),
      destination_bytes_(std::move(destination_bytes)),
      upcoming_(model, lookahead, at_least, !destination_bytes_.empty()) {}

void BlockPlan::reset(Feed feed, const std::function<bool(std::uint64_t block)>& keeps) {
  upcoming_.reset(std::move(feed));
  in_batch_end_ = 0;
  in_memory_.clear();
  gone_.clear();
  known_.keep([&](std::uint64_t number, KnownBlock& block) {
    if (!block.stays || !keeps(number)) return false;
    block.uses = block.last_use = 0;
    block.set_key();
    in_memory_.add(number, block);
    return true;
  });
}

void BlockPlan::look_ahead() {
  while (upcoming_.look_ahead()) {
    const std::uint64_t use = upcoming_.next() + upcoming_.size() - 1;
    for (const UpcomingBlock& needed : upcoming_.last().distinct) note_use(use, needed);
  }
}

// The known uses of a block form a list: each sample that needs the block notes the next sample that needs it.
void BlockPlan::note_use(std::uint64_t sample, const UpcomingBlock& needed) {
  KnownBlock& block = known_[needed.number];
  if (block.uses++ != 0) {
    upcoming_.block_of(block.farthest_use, needed.number).next_use = sample;
  } else {
    block.next_use = sample;
    if (block.stays || block.gone) {
      BlocksByNextUse& of_next_use = block.stays ? in_memory_ : gone_;
      of_next_use.pin(needed.number, block);
      block.key = sample;
      of_next_use.unpin(needed.number, block);
    }
  }
  block.farthest_use = sample;
}

// Returns whether the block can be decoded into the batch. For this, the sample and the next samples of the batch
// must be exactly the rows of the block. If a later use of the block is known, loading it into memory must also evict
// a block that is needed no later than that use. `left`: number of samples of the batch that are not planned yet.
bool BlockPlan::can_go_into_batch(const UpcomingSample& now, const KnownBlock& block, std::uint64_t left) const {
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
    const UpcomingSample& next = upcoming_[n - 1];
    if (next.index != first + n || next.distinct.size() != 1 || next.distinct.front().number != number) return false;
    use_after = next.distinct.front().next_use;
  }
  return block.uses == records - 1 || !has_room_before(bytes, use_after);
}

bool BlockPlan::next(std::uint64_t left, SamplePlan& out) {
  look_ahead();
  if (upcoming_.empty()) return false;
  const std::uint64_t use = upcoming_.next();
  UpcomingSample now = upcoming_.take();
  now_.clear();
  no_longer_gone_.clear();
  for (const UpcomingBlock& needed : now.distinct) {
    KnownBlock& block = known_.at(needed.number);
    --block.uses;
    block.next_use = needed.next_use;
    now_.push_back(&block);
  }
  const bool known = now.known;
  if (known) {
    take_gone(now);
    plan(now, use, left, out);
    note_gone(now, use, out);
    for (const std::uint64_t block : out.evicted) known_.forget_if_unused(block);
    for (const std::uint64_t block : no_longer_gone_) known_.forget_if_unused(block);
  }
  for (const UpcomingBlock& needed : now.distinct) known_.forget_if_unused(needed.number);
  out.blocks.swap(now.blocks);
  upcoming_.give_back(std::move(now));
  return known;
}

// Adds a block that is not in memory to `gone_`. Then drops the blocks with the farthest next uses from `gone_` until
// the other blocks of `gone_` are within the limit.
void BlockPlan::remember(std::uint64_t number, KnownBlock& block) {
  block.gone = true;
  gone_.add(number, block);
  while (gone_.bytes() > limit_) {
    const std::uint64_t farthest = gone_.farthest();
    KnownBlock& dropped = known_.at(farthest);
    dropped.gone = false;
    gone_.remove(farthest, dropped);
    no_longer_gone_.push_back(farthest);
  }
}

void BlockPlan::take_gone(const UpcomingSample& now) {
  taken_.clear();
  for (std::size_t n = 0; n < now_.size(); ++n) {
    KnownBlock& block = *now_[n];
    if (!block.gone) continue;
    block.gone = false;
    gone_.remove(now.distinct[n].number, block);
    taken_.push_back(n);
  }
}

// Counts, in `saved_`, the loads of the blocks in `taken_`, which would not have been needed with twice the memory.
// Puts the blocks that are still not in memory back into `gone_`.
void BlockPlan::note_gone(const UpcomingSample& now, std::uint64_t use, const SamplePlan& out) {
  const bool into_batch = out.in_batch && out.needs.front().loads;
  for (const std::size_t n : taken_) {
    KnownBlock& block = *now_[n];
    if (block.stays || into_batch) ++saved_;
    if (block.stays) continue;
    block.last_use = use + 1;
    block.set_key();
    remember(now.distinct[n].number, block);
  }
}

void BlockPlan::plan(const UpcomingSample& now, std::uint64_t use, std::uint64_t left, SamplePlan& out) {
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

// Handles a sample whose only block is decoded into the batch, for this sample or for an earlier sample. Returns false
// otherwise.
bool BlockPlan::plan_in_batch(const UpcomingSample& now, std::uint64_t use, std::uint64_t left, SamplePlan& out) {
  const bool goes_on = use < in_batch_end_;
  const bool begins = !goes_on && in_memory_.bytes() + now.bytes > limit_ && now.rows && !now_.front()->stays &&
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

// Lists the sample's blocks that are in memory or must be loaded. Leaves out blocks that are not in memory and that the
// record can do without. Pins the blocks in memory, so that the sample's own blocks are not evicted.
void BlockPlan::list_needs(const UpcomingSample& now, Room& room, std::vector<Need>& needs) {
  for (std::size_t n = 0; n < now_.size(); ++n) {
    const UpcomingBlock& needed = now.distinct[n];
    const bool stays = now_[n]->stays;
    if (stays) {
      in_memory_.pin(needed.number, *now_[n]);
      if (needed.spare) room.own += needed.bytes;
    } else if (needed.spare) {
      continue;
    } else {
      room.missing += needed.bytes;
    }
    needs.push_back({needed.number, needed.bytes, !stays});
  }
}

// If the sample's blocks exceed the limit together, unpins blocks that the record can do without and takes them off
// `needs`.
void BlockPlan::leave_spare_blocks(const UpcomingSample& now, Room& room, std::vector<Need>& needs) {
  for (auto need = needs.end(); room.own > limit_ && need != needs.begin();) {
    --need;
    const auto needed = std::ranges::lower_bound(now.distinct, need->block, {}, &UpcomingBlock::number);
    if (!needed->spare) continue;
    room.own -= needed->bytes;
    KnownBlock& block = *now_[static_cast<std::size_t>(needed - now.distinct.begin())];
    block.set_key();
    in_memory_.unpin(need->block, block);
    need = needs.erase(need);
  }
}

// Adds blocks that the record could do without, if loading them is worthwhile.
void BlockPlan::add_spare_blocks(const UpcomingSample& now, Room& room, SamplePlan& out) {
  for (std::size_t n = 0; n < now_.size(); ++n) {
    const auto& [number, bytes, spare, next_use] = now.distinct[n];
    const KnownBlock& block = *now_[n];
    if (!spare || block.stays || bytes > limit_ - room.own) continue;
    // If the block is not loaded, each record decodes the part that it needs, without memory. Two parts cost about as
    // much as the whole block. So if other blocks must be evicted, two further uses must be known.
    const bool is_free = in_memory_.bytes() + room.missing + bytes <= limit_;
    if (!is_free && (block.uses < 2 || !has_room_before(room.missing + bytes, block.next_use))) continue;
    make_room(room.missing + bytes, out.evicted);
    out.needs.push_back({number, bytes, true});
    room.missing += bytes;
    room.own += bytes;
  }
}

// Notes that the sample's blocks are in memory. `needs` is sorted by block number.
void BlockPlan::note_needs(const UpcomingSample& now, std::uint64_t use, const std::vector<Need>& needs) {
  std::size_t n = 0;
  for (const Need& need : needs) {
    while (now.distinct[n].number != need.block) ++n;
    KnownBlock& block = *now_[n];
    block.last_use = use + 1;
    block.set_key();
    if (need.loads) {
      block.stays = true;
      block.bytes = need.bytes;
      in_memory_.add(need.block, block);
    } else {
      in_memory_.unpin(need.block, block);
    }
  }
}

// Returns whether there is room for `bytes` bytes, or would be if all blocks with keys above `key` were evicted.
bool BlockPlan::has_room_before(std::size_t bytes, std::uint64_t key) const {
  if (in_memory_.bytes() + bytes <= limit_) return true;
  if (key >= KnownBlock::never) return false;
  std::size_t freed = 0;
  const BlocksByNextUse::Order& order = in_memory_.order();
  for (auto at = order.rbegin(); in_memory_.bytes() - freed + bytes > limit_; ++at) {
    if (at == order.rend() || at->first <= key) return false;
    freed += known_.at(at->second).bytes;
  }
  return true;
}

void BlockPlan::make_room(std::size_t bytes, std::vector<std::uint64_t>& evicted) {
  while (in_memory_.bytes() + bytes > limit_) {
    const std::uint64_t farthest = in_memory_.farthest();
    KnownBlock& block = known_.at(farthest);
    evicted.push_back(farthest);
    in_memory_.remove(farthest, block);
    block.stays = false;
    remember(farthest, block);
  }
}

}  // namespace penstock::detail::runtime
