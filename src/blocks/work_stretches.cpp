// SPDX-License-Identifier: Apache-2.0
#include "blocks/work_stretches.hpp"

#include <algorithm>

namespace penstock::detail::runtime {

namespace {

// A stretch is so long that few blocks are needed by two stretches. It is so short that there are several stretches per
// runner, and all runners work on the samples of a batch.
constexpr std::size_t longest = 8, stretches_a_runner = 8;
// The most stretches among which a runner looks for the stretch that it knows best.
constexpr std::size_t most_choices = 8;

std::uint64_t length_of(std::size_t in_flight, unsigned threads) noexcept {
  return std::clamp<std::size_t>(in_flight / (stretches_a_runner * std::max(threads, 1u)), 1, longest);
}

}  // namespace

// Allocates memory for all stretches, so that no later call can fail. `held_` has room for one stretch more than the
// run may have runners, because the consumer's thread may work too.
WorkStretches::WorkStretches(std::size_t in_flight, unsigned threads, unsigned most)
    : threads_(std::max({threads, most, 1u})),
      length_(length_of(in_flight, threads_)),
      stretches_(in_flight / length_ + 2) {
  std::vector<std::uint64_t> numbers;
  numbers.reserve(stretches_.size());
  waiting_ = decltype(waiting_)(std::greater<>(), std::move(numbers));
  first_.reserve(std::min<std::size_t>(most_choices, 4 * std::size_t{threads_}));
  held_.reserve(threads_ + std::size_t{1});
}

void WorkStretches::wait(Stretch& it) noexcept {
  if (it.pieces == 0 || it.held || it.waiting) return;
  it.waiting = true;
  waiting_.push(it.number);
}

void WorkStretches::add(std::uint64_t sample) noexcept {
  Stretch& it = stretch(sample / length_);
  // An element with another number belonged to an earlier stretch, whose samples are all made.
  if (it.number != sample / length_) it = {.number = sample / length_};
  ++it.pieces;
  ++pieces_;
  wait(it);
}

void WorkStretches::remove(std::uint64_t sample) noexcept {
  --stretch(sample / length_).pieces;
  --pieces_;
}

void WorkStretches::look_at_first() noexcept {
  first_.clear();
  while (!waiting_.empty() && first_.size() != first_.capacity()) {
    const std::uint64_t number = waiting_.top();
    waiting_.pop();
    if (has_work(number))
      first_.push_back(number);
    else if (Stretch& it = stretch(number); it.number == number)
      it.waiting = false;
  }
}

// Puts the stretches that were not chosen back into `waiting_`. If `held_` is full, the chosen stretch goes back too,
// and the runner works on it without holding it.
std::uint64_t WorkStretches::hold(std::size_t which, std::uint64_t& held) noexcept {
  const std::uint64_t chosen = first_[which];
  const bool can_hold = held_.size() != held_.capacity();
  if (which != 0) ++stretch(first_[0]).passed_over;
  for (const std::uint64_t number : first_)
    if (number != chosen || !can_hold) waiting_.push(number);
  if (!can_hold) return chosen;
  stretch(chosen).waiting = false;
  stretch(chosen).held = true;
  held_.push_back(chosen);
  return held = chosen;
}

std::uint64_t WorkStretches::first_held() noexcept {
  std::uint64_t first = none;
  for (const std::uint64_t number : held_)
    if (has_work(number)) first = std::min(first, number);
  return first;
}

void WorkStretches::leave(std::uint64_t& held) noexcept {
  if (held == none) return;
  std::erase(held_, held);
  if (Stretch& it = stretch(held); it.number == held) {
    it.held = false;
    wait(it);
  }
  held = none;
}

void WorkStretches::clear() noexcept {
  std::ranges::fill(stretches_, Stretch{});
  while (!waiting_.empty()) waiting_.pop();
  held_.clear();
  pieces_ = 0;
}

}  // namespace penstock::detail::runtime
