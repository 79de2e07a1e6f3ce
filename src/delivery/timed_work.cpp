#include "delivery/timed_work.hpp"

#include <optional>

namespace penstock::detail {

// False: the stretch that ended is in work still.
bool TimedWork::take() {
  if (is_ != Is::ended) return true;
  const std::optional<std::uint64_t> ns = timer_->read();
  if (!ns) return false;
  is_ = Is::idle;
  // Not together: who looks between them sees one stretch too many of hundreds.
  timed_.fetch_add(1, std::memory_order_relaxed);
  stood_for_.fetch_add(stands_for_, std::memory_order_relaxed);
  ns_.fetch_add(stands_for_ * *ns, std::memory_order_relaxed);
  all_bytes_.fetch_add(stands_for_ * bytes_, std::memory_order_relaxed);
  return true;
}

void TimedWork::begin(StreamRef stream) noexcept {
  if (timer_ == nullptr) return;
  try {
    if (is_ != Is::begun) ++untimed_;
    if (!take()) return;
    timer_->begin(stream);
    is_ = Is::begun;
    stands_for_ = untimed_;
  } catch (...) {
    timer_.reset();
  }
}

void TimedWork::end(StreamRef stream, std::size_t bytes) noexcept {
  if (timer_ == nullptr || is_ != Is::begun) return;
  try {
    timer_->end(stream);
    is_ = Is::ended;
    untimed_ = 0;
    bytes_ = bytes;
  } catch (...) {
    timer_.reset();
  }
}

TimedCounts TimedWork::counts() const noexcept {
  return {timed_.load(std::memory_order_relaxed), stood_for_.load(std::memory_order_relaxed),
          ns_.load(std::memory_order_relaxed), all_bytes_.load(std::memory_order_relaxed)};
}

}  // namespace penstock::detail
