#include "engine/idle_time.hpp"

#include <algorithm>
#include <utility>

namespace penstock::detail {

void IdleTime::begin(std::uint64_t now) noexcept {
  begun_ = true;
  last_ns_ = now;
}

void IdleTime::change(std::uint64_t now, const Now& to) noexcept {
  const std::uint64_t begin = last_ns_, end = std::max(now, begin);
  const Now was = last_;
  last_ns_ = end;
  last_ = to;
  if (!begun_ || was.ended) return;
  const std::uint64_t all_ns = was.runners * (end - begin);
  counted_.all_ns += all_ns;
  // Batches were taken meanwhile, but when the last one was, is not known: the rest is as good as nothing against it.
  if (std::exchange(taken_while_busy_, false)) taken_.all_ns += all_ns;
  if (was.idle == 0) return;
  // A batch becomes ready without the mutex, so when that was is found out afterwards.
  std::uint64_t ready = end;
  if (was.next != nullptr)
    if (const std::uint64_t at = was.next->ready_ns.load(std::memory_order_relaxed); at != 0)
      ready = std::clamp(at, begin, end);
  const auto add = [&](Idle why, std::uint64_t ns) {
    counted_.idle_ns[static_cast<std::size_t>(why)] += was.idle * ns;
  };
  add(was.why, ready - begin);
  add(Idle::caller, end - ready);
}

}  // namespace penstock::detail
