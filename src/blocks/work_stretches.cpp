#include "blocks/work_stretches.hpp"

#include <algorithm>

namespace penstock::detail {

namespace {

// Long enough that few blocks lie on a border, and short enough that each runner has several in sight, and that the
// samples of a batch are the work of all.
constexpr std::size_t longest = 8, stretches_a_runner = 8;

std::uint64_t length_of(std::size_t in_flight, unsigned threads) noexcept {
  return std::clamp<std::size_t>(in_flight / (stretches_a_runner * std::max(threads, 1u)), 1, longest);
}

}  // namespace

// Room for all from the beginning, so that none is lost where there is no memory. The consumer may work as well.
WorkStretches::WorkStretches(std::size_t in_flight, unsigned threads)
    : length_(length_of(in_flight, threads)), stretches_(in_flight / length_ + 2) {
  std::vector<std::uint64_t> numbers;
  numbers.reserve(stretches_.size());
  waiting_ = decltype(waiting_)(std::greater<>(), std::move(numbers));
  held_.reserve(threads + std::size_t{1});
}

void WorkStretches::wait(Stretch& it) noexcept {
  if (it.pieces == 0 || it.held || it.waiting) return;
  it.waiting = true;
  waiting_.push(it.number);
}

void WorkStretches::add(std::uint64_t sample) noexcept {
  Stretch& it = stretch(sample / length_);
  // Its place was that of a stretch whose samples are all made.
  if (it.number != sample / length_) it = {.number = sample / length_};
  ++it.pieces;
  ++pieces_;
  wait(it);
}

void WorkStretches::remove(std::uint64_t sample) noexcept {
  --stretch(sample / length_).pieces;
  --pieces_;
}

std::uint64_t WorkStretches::choose(std::uint64_t& held) noexcept {
  if (held != none && has_work(held)) return held;
  leave(held);
  while (!waiting_.empty()) {
    const std::uint64_t number = waiting_.top();
    Stretch& first = stretch(number);
    if (has_work(number) && held_.size() == held_.capacity()) return number;
    waiting_.pop();
    if (first.number == number) first.waiting = false;
    if (!has_work(number)) continue;
    first.held = true;
    held_.push_back(number);
    return held = number;
  }
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

}  // namespace penstock::detail
