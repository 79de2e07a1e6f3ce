// SPDX-License-Identifier: Apache-2.0
#include "blocks/block_schedule.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include <penstock/error.hpp>

#include "base/failure.hpp"
#include "base/relax.hpp"
#include "blocks/memory_ahead.hpp"

namespace penstock::detail::runtime {

namespace {

// Limits are at most this large, so that sums of them don't overflow.
constexpr std::size_t most_limit = std::numeric_limits<std::size_t>::max() / 4;

}  // namespace

BlockSchedule::BlockSchedule(const BlockModel& model, std::size_t limit_bytes, std::uint64_t lookahead,
                             std::size_t in_flight, BlockRunners runners, MemoryResource& memory,
                             std::vector<std::size_t> destination_bytes, const char* option)
    : model_(model),
      option_(option),
      taken_(take_memory_ahead(model, std::min(limit_bytes, most_limit))),
      record_limit_(std::min(limit_bytes, most_limit) - taken_.bytes),
      plan_limit_(record_limit_),
      plan_(model, record_limit_, lookahead, std::move(destination_bytes), in_flight),
      announcements_(model),
      queue_(in_flight, runners.first, runners.most),
      memory_(record_limit_, memory),
      repeats_(model.blocks()) {}

BlockSchedule::~BlockSchedule() {
  for (BlockQueue::QueuedSample& sample : queue_.samples())
    for (auto& block : sample.blocks) drop(block);
  queue_.clear();
  for (auto& [block, residency] : held_) drop(residency);
}

void BlockSchedule::raise_limit(std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  bytes = std::max(std::min(bytes, most_limit) - std::min(bytes, taken_.bytes), record_limit_);
  plan_limit_.store(bytes, std::memory_order_relaxed);
  memory_.raise_limit(bytes);
  update();
}

void BlockSchedule::release(const auto& unwanted) noexcept {
  for (auto at = held_.begin(); at != held_.end();) {
    if (!unwanted(at->first, at->second.get())) {
      ++at;
      continue;
    }
    drop(at->second);
    at = held_.erase(at);
  }
}

void BlockSchedule::reset(Feed feed) {
  if (announcements_.wanted()) announcements_.reset(feed);
  give_back_lent();
  const std::lock_guard lock(mutex_);
  in_batch_.reset();
  for (BlockQueue::QueuedSample& sample : queue_.samples())
    for (auto& block : sample.blocks) drop(block);
  queue_.clear();
  memory_.give_back(nullptr, std::exchange(not_begun_, 0), nullptr);
  out_of_memory_ = plan_failed_ = false;
  // Drops blocks whose load has not ended or has failed, so that they are loaded again.
  release([](std::uint64_t, const Residency* held) { return held == nullptr || !held->done || held->failed(); });
  plan_.reset(std::move(feed), [this](std::uint64_t block) { return held_.contains(block); });
  release([this](std::uint64_t block, const Residency*) { return !plan_.has(block); });
  update();
}

void BlockSchedule::prepare(std::uint64_t count) noexcept {
  if (announcements_.wanted())
    announcements_.look_ahead(plan_.taken(), [this](std::uint64_t block) { return plan_.has(block); });
  plan_.prepare(count);
}

void BlockSchedule::issue(std::uint64_t first, std::uint64_t of_feed, std::uint64_t count,
                          std::uint64_t pass) noexcept {
  plan_next(of_feed);
  const std::lock_guard lock(mutex_);
  pass_ = pass;
  counts_.saved_by_double = plan_.saved_by_double();
  for (std::uint64_t number = first; number < first + count; ++number) {
    queue_.begin(number);
    try {
      if (number - first < planned_) follow(plans_[static_cast<std::size_t>(number - first)], number);
    } catch (...) {
      out_of_memory_ = plan_failed_ = true;
    }
    queue_.finish(number);
  }
  out_of_memory_ = plan_failed_;
  update();
}

// Plans the next samples of the feed, without the mutex, because runners would wait for it. Sets `planned_`, which is
// less than `samples` if memory ran out.
void BlockSchedule::plan_next(std::uint64_t samples) noexcept {
  planned_ = 0;
  if (plan_failed_) return;
  try {
    plan_.raise_limit(plan_limit_.load(std::memory_order_relaxed));
    if (plans_.size() < samples) plans_.resize(static_cast<std::size_t>(samples));
    for (; planned_ < samples; ++planned_) {
      BlockPlan::SamplePlan& next = plans_[static_cast<std::size_t>(planned_)];
      const std::uint64_t sample = plan_.taken();
      next.known = plan_.next(samples - planned_, next);
      if (next.known && announcements_.wanted()) note_plan(next, sample);
    }
  } catch (...) {
    plan_failed_ = true;
  }
}

std::shared_ptr<Residency> BlockSchedule::add_load(const BlockPlan::Need& need, std::uint64_t number,
                                                   std::uint64_t index, bool in_batch) {
  repeats_.decoded(need.block, pass_);
  auto load = std::make_shared<Residency>();
  load->block = need.block;
  load->bytes = need.bytes;
  load->first_user = number;
  load->index = index;
  load->in_batch = in_batch;
  load->announced = need.announced;
  queue_.add(load);
  ++counts_.loads;
  return load;
}

// Notes what follows from the plan of a sample for the blocks that are announced.
void BlockSchedule::note_plan(BlockPlan::SamplePlan& next, std::uint64_t sample) noexcept {
  for (BlockPlan::Need& need : next.needs) {
    if (!need.loads) continue;
    const std::lock_guard lock(mutex_);
    need.announced = announcements_.loads(need.block);
  }
  for (const std::uint64_t block : next.evicted) announcements_.evicted(block, sample);
  announcements_.planned(next.blocks, sample);
}

// Turns the plan of a sample into work.
void BlockSchedule::follow(const BlockPlan::SamplePlan& next, std::uint64_t number) {
  if (!next.known || out_of_memory_) return;
  BlockQueue::QueuedSample& sample = queue_.sample(number);
  sample.index = next.index;
  if (next.too_large != 0) {
    sample.too_large = next.too_large;
    sample.planned = true;
    return;
  }
  if (next.in_batch) {
    if (next.needs.front().loads) {
      in_batch_ = add_load(next.needs.front(), number, next.index, true);
      in_batch_->field = *next.in_batch;
    }
    ++counts_.uses;
    queue_.wait_for(number, *in_batch_);
    sample.blocks.assign(next.blocks.size(), in_batch_);
    sample.planned = true;
    return;
  }
  in_batch_.reset();
  for (const std::uint64_t block : next.evicted) {
    const auto found = held_.find(block);
    if (found == held_.end()) continue;
    drop(found->second);
    held_.erase(found);
  }
  for (const BlockPlan::Need& need : next.needs) {
    std::shared_ptr<Residency>& held = held_[need.block];
    if (need.loads) held = add_load(need, number, next.index, false);
    ++counts_.uses;
    queue_.wait_for(number, *held);
  }
  sample.blocks.reserve(next.blocks.size());
  for (const std::uint64_t block : next.blocks) {
    const auto needed = std::ranges::lower_bound(next.needs, block, {}, &BlockPlan::Need::block);
    const bool there = needed != next.needs.end() && needed->block == block;
    sample.blocks.push_back(there ? held_.find(block)->second : nullptr);
  }
  sample.planned = true;
}

// -- the work --

// Allows loads to begin, in order, until a load lacks memory. Returns whether it allowed any load.
bool BlockSchedule::update() noexcept {
  bool more = false, lacks_memory = false;
  for (const Residency* next; (next = queue_.next_load()) != nullptr; more = true) {
    if (!next->in_batch) {
      lacks_memory = !out_of_memory_ && !memory_.has_room_for(next->bytes);
      if (lacks_memory) break;
      memory_.reserve(next->bytes);
      not_begun_ += next->bytes;
    }
    queue_.let_begin();
  }
  lacks_memory_.store(lacks_memory, std::memory_order_relaxed);
  available_.store(queue_.has_work(), std::memory_order_seq_cst);
  return more;
}

// The atomics are read relaxed, because the answer may change at any moment anyway.
std::optional<Idle> BlockSchedule::why_idle() const noexcept {
  if (lacks_memory_.load(std::memory_order_relaxed)) return Idle::block_memory;
  if (in_load_.load(std::memory_order_relaxed) != 0) return Idle::blocks;
  return std::nullopt;
}

// For runners. Sleeping would cost more than the mutex is held, nearly always.
std::unique_lock<std::mutex> BlockSchedule::lock_awake() noexcept {
  constexpr int tries = 64;
  for (int i = 0; i < tries; ++i) {
    if (std::unique_lock lock(mutex_, std::try_to_lock); lock) return lock;
    for (int pause = 0; pause < 8; ++pause) relax();
  }
  return std::unique_lock(mutex_);
}

BlockSchedule::Work BlockSchedule::take(std::uint64_t& held) noexcept {
  const auto lock = lock_awake();
  Work work = queue_.take(held);
  if (work.load != nullptr && !work.load->in_batch) not_begun_ -= work.load->bytes;
  update();
  return work;
}

void BlockSchedule::leave(std::uint64_t& held) noexcept {
  const std::lock_guard lock(mutex_);
  queue_.leave(held);
}

bool BlockSchedule::load(std::shared_ptr<Residency> load, std::byte* destination) noexcept {
  in_load_.fetch_add(1, std::memory_order_relaxed);
  std::byte* data = destination;
  std::shared_ptr<const std::byte> lent;
  std::optional<Error> failure;
  bool failed = false, asked = false;
  give_back_lent();
  try {
    if (!load->in_batch) {
      asked = true;
      lent = model_.lend(load->block);
      asked = lent != nullptr;
      if (lent == nullptr) data = memory_.take(load->bytes, load->runner, mutex_);
    }
    if (lent == nullptr) {
      asked = true;
      model_.load(load->block, {data, load->bytes});
    }
  } catch (...) {
    failed = true;
    failure = described_error("read");
  }
  in_load_.fetch_sub(1, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  counts_.peak_bytes = std::max(counts_.peak_bytes, memory_.used() - not_begun_);
  if (asked && load->announced) announcements_.loaded(load->block);
  load->data = lent != nullptr ? lent.get() : data;
  load->lent = std::move(lent);
  load->failure = std::move(failure);
  load->broken = failed && !load->failure;
  load->done = true;
  queue_.loaded(*load);
  drop(load);
  update();
  return available();
}

// Gives memory back to the source, which may be the memory for the next load. Not where it is evicted: the callers
// there hold the engine's lock, and this is code of the source.
void BlockSchedule::give_back_lent() noexcept {
  std::vector<std::shared_ptr<const std::byte>> unused;
  const std::lock_guard lock(mutex_);
  unused.swap(lent_);
}

bool BlockSchedule::blocks_of(std::uint64_t number, std::uint64_t index, std::vector<std::span<const std::byte>>& out) {
  out.clear();
  // The sample is read without the mutex: from `take` to `done` only this thread uses the sample, and its blocks do not
  // change any more.
  const BlockQueue::QueuedSample& sample = queue_.sample(number);
  if (!sample.planned || sample.index != index) return false;
  if (sample.too_large != 0)
    throw Error(Errc::limit_exceeded, "the record needs blocks of " + std::to_string(sample.too_large) +
                                          " bytes at once, but there are " + std::to_string(record_limit_) +
                                          " for blocks; raise `" + option_ + "`");
  for (const auto& block : sample.blocks) {
    // If the record can do without a block that failed, the reader gets an empty span and reads the part that it needs.
    // Such a block is loaded only if there is room. If its failure counted, the free memory would decide which samples
    // fail.
    if (block == nullptr || (block->failed() && model_.can_do_without(block->block))) {
      out.emplace_back();
      continue;
    }
    if (block->broken) throw std::bad_alloc();
    if (block->failure) throw Error(*block->failure);
    out.emplace_back(block->data, block->bytes);
  }
  return true;
}

bool BlockSchedule::done(std::uint64_t number) noexcept {
  const auto lock = lock_awake();
  BlockQueue::QueuedSample& sample = queue_.sample(number);
  for (auto& block : sample.blocks) drop(block);
  sample.blocks.clear();
  return update();
}

// The last holder of a block gives back the block's memory.
void BlockSchedule::drop(std::shared_ptr<Residency>& residency) noexcept {
  if (residency != nullptr && residency.use_count() == 1 && residency->done && !residency->in_batch) {
    if (residency->lent != nullptr) {
      memory_.give_back(nullptr, residency->bytes, nullptr);
      try {
        lent_.push_back(std::move(residency->lent));
      } catch (...) {  // no memory: it is given back at once
      }
    } else {
      // The memory is this class's own, which gave it to the load to be written.
      memory_.give_back(const_cast<std::byte*>(residency->data), residency->bytes, residency->runner);
    }
  }
  residency.reset();
}

BlockSchedule::Counts BlockSchedule::counts() const {
  const std::lock_guard lock(mutex_);
  Counts counts = counts_;
  counts.taken_bytes = taken_.bytes;
  counts.again = repeats_.again();
  return counts;
}

}  // namespace penstock::detail::runtime
