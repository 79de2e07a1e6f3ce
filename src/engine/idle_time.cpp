// SPDX-License-Identifier: Apache-2.0
#include "engine/idle_time.hpp"

#include <algorithm>
#include <utility>

namespace penstock::detail::runtime {

void IdleTime::begin(std::uint64_t now) noexcept {
  begun_ = true;
  last_ns_ = now;
}

void IdleTime::take() noexcept {
  constexpr std::uint64_t enough = 4, much_longer = 8;
  constexpr auto caller = static_cast<std::size_t>(Idle::caller), pause = static_cast<std::size_t>(Idle::pause);
  // If the caller took much longer than a batch takes on average, counts the time as a pause and not as a slow caller.
  const std::uint64_t waited_ns = counted_.idle_ns[caller] - taken_.idle_ns[caller];
  if (takes_ >= enough && waited_ns > much_longer * (taken_.all_ns / takes_)) {
    counted_.idle_ns[caller] -= waited_ns;
    counted_.idle_ns[pause] += waited_ns;
  }
  ++takes_;
  taken_ = counted_;
  taken_while_busy_ = was_busy();
}

void IdleTime::change(std::uint64_t now, const IdleState& to) noexcept {
  const std::uint64_t begin = last_ns_, end = std::max(now, begin);
  const IdleState was = last_;
  last_ns_ = end;
  last_ = to;
  if (!begun_ || was.ended) return;
  const std::uint64_t all_ns = was.runners * (end - begin);
  counted_.all_ns += all_ns;
  // If all runners were busy when the caller took a batch, `change` was not called at that moment. So the time up to
  // this call is added to `taken_` now, although a small part is after the last batch.
  if (std::exchange(taken_while_busy_, false)) taken_.all_ns += all_ns;
  if (was.idle == 0) return;
  // A batch becomes ready without the mutex and without a call of `change`, so the moment is read afterwards.
  std::uint64_t ready = end;
  if (was.next != nullptr)
    if (const std::uint64_t at = was.next->ready_ns.load(std::memory_order_relaxed); at != 0)
      ready = std::clamp(at, begin, end);
  const auto add = [&](Idle why, std::uint64_t from, std::uint64_t to_ns) {
    counted_.idle_ns[static_cast<std::size_t>(why)] += was.idle * (to_ns - from);
    if (line_ != nullptr && to_ns > from) line_->add({to_string(why), from, to_ns, was.idle});
  };
  add(was.why, begin, ready);
  add(Idle::caller, ready, end);
}

}  // namespace penstock::detail::runtime
