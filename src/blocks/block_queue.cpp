// SPDX-License-Identifier: Apache-2.0
#include "blocks/block_queue.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace penstock::detail::runtime {

BlockQueue::BlockQueue(std::size_t in_flight, unsigned threads, unsigned most)
    : samples_(in_flight), stretches_(in_flight, threads, most) {}

BlockQueue::QueuedSample& BlockQueue::begin(std::uint64_t number) noexcept {
  QueuedSample& it = sample(number);
  it.number = number;
  it.blocks.clear();
  it.missing = 0;
  it.too_large = 0;
  it.planned = false;
  it.loads.clear();
  it.begun = it.may_begin = 0;
  it.ready = false;
  if (waiting_ == end_) waiting_ = number;
  end_ = number + 1;
  return it;
}

void BlockQueue::wait_for(std::uint64_t number, Residency& block) {
  if (block.done) return;
  block.waiters.push_back(number);
  ++sample(number).missing;
}

void BlockQueue::add(std::shared_ptr<Residency> load) {
  // With this reserved memory, `wait_for` can't fail for the first user. If it failed, the user could be made before
  // its block is loaded.
  load->waiters.reserve(1);
  QueuedSample& user = sample(load->first_user);
  user.loads.push_back(std::move(load));
}

void BlockQueue::is_ready(QueuedSample& sample) noexcept {
  sample.ready = true;
  stretches_.add(sample.number);
}

void BlockQueue::finish(std::uint64_t number) noexcept {
  if (sample(number).missing == 0) is_ready(sample(number));
}

void BlockQueue::loaded(Residency& block) noexcept {
  for (const std::uint64_t waiter : block.waiters)
    if (--sample(waiter).missing == 0) is_ready(sample(waiter));
  block.waiters.clear();
}

const Residency* BlockQueue::next_load() noexcept {
  for (; waiting_ != end_; ++waiting_)
    if (const QueuedSample& it = sample(waiting_); it.may_begin != it.loads.size()) return it.loads[it.may_begin].get();
  return nullptr;
}

void BlockQueue::let_begin() noexcept {
  ++sample(waiting_).may_begin;
  stretches_.add(waiting_);
}

// Returns how many blocks of a stretch a runner loaded. Looks only at two samples: the first, which may share blocks
// with the stretch before, and the middle one, which may share blocks with an earlier row of a grid.
std::size_t BlockQueue::blocks_loaded_by(const void* runner, std::uint64_t stretch) const noexcept {
  constexpr std::size_t most = 8;  // most blocks of a sample that are looked at; a record may have thousands
  const std::uint64_t length = stretches_.length(), first = stretch * length;
  std::size_t loaded = 0;
  for (const std::uint64_t number : {first, first + length / 2}) {
    const QueuedSample& it = sample(number);
    if (it.number != number) continue;
    for (const auto& block : std::span(it.blocks).first(std::min(it.blocks.size(), most)))
      loaded += block != nullptr && block->runner == runner;
  }
  return loaded;
}

BlockQueue::Work BlockQueue::take(std::uint64_t& held) noexcept {
  Work work;
  const void* const runner = &held;
  const std::uint64_t stretch =
      stretches_.choose(held, [&](std::uint64_t waiting) noexcept { return blocks_loaded_by(runner, waiting); });
  if (stretch == WorkStretches::none) return work;
  for (std::uint64_t number = stretch * stretches_.length();; ++number) {
    QueuedSample& it = sample(number);
    // If a sample of the stretch was made, its element of `samples_` may already have a later sample.
    if (it.number != number || (it.begun == it.may_begin && !it.ready)) continue;
    if (it.begun != it.may_begin) {
      work.load = std::move(it.loads[it.begun++]);
      work.load->runner = runner;
    } else {
      work.sample = number;
      it.ready = false;
    }
    stretches_.remove(number);
    return work;
  }
}

void BlockQueue::clear() noexcept {
  for (QueuedSample& it : samples_) {
    it.number = ~std::uint64_t{0};
    it.blocks.clear();
    it.loads.clear();
  }
  stretches_.clear();
  waiting_ = end_ = 0;
}

}  // namespace penstock::detail::runtime
