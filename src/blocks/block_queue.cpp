#include "blocks/block_queue.hpp"

#include <utility>

namespace penstock::detail {

// Room for all numbers from the beginning, so that none is lost where there is no memory.
BlockQueue::BlockQueue(std::size_t in_flight) : samples_(in_flight) {
  std::vector<std::uint64_t> numbers;
  numbers.reserve(in_flight);
  ready_ = decltype(ready_)(std::greater<>(), std::move(numbers));
}

BlockQueue::Sample& BlockQueue::begin(std::uint64_t number) noexcept {
  Sample& it = sample(number);
  it.blocks.clear();
  it.missing = 0;
  it.too_large = 0;
  it.planned = false;
  return it;
}

void BlockQueue::wait_for(std::uint64_t number, Residency& block) {
  if (block.done) return;
  block.waiters.push_back(number);
  ++sample(number).missing;
}

void BlockQueue::loaded(Residency& block) noexcept {
  for (const std::uint64_t waiter : block.waiters)
    if (--sample(waiter).missing == 0) ready_.push(waiter);
  block.waiters.clear();
}

BlockQueue::Work BlockQueue::take(bool may_load) noexcept {
  Work work;
  const bool loads = may_load && !loads_.empty();
  if (!ready_.empty() && (!loads || ready_.top() < loads_.front()->first_user)) {
    work.sample = ready_.top();
    ready_.pop();
  } else if (loads) {
    work.load = std::move(loads_.front());
    loads_.pop_front();
  }
  return work;
}

void BlockQueue::clear() noexcept {
  for (Sample& it : samples_) it.blocks.clear();
  while (!ready_.empty()) ready_.pop();
  loads_.clear();
}

}  // namespace penstock::detail
