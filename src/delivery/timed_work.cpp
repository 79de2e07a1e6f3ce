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
  stretches_.fetch_add(1, std::memory_order_relaxed);
  ns_.fetch_add(*ns, std::memory_order_relaxed);
  all_bytes_.fetch_add(bytes_, std::memory_order_relaxed);
  return true;
}

void TimedWork::begin(StreamRef stream) noexcept {
  if (timer_ == nullptr) return;
  try {
    if (!take()) return;
    timer_->begin(stream);
    is_ = Is::begun;
  } catch (...) {
    timer_.reset();
  }
}

void TimedWork::end(StreamRef stream, std::size_t bytes) noexcept {
  if (timer_ == nullptr || is_ != Is::begun) return;
  try {
    timer_->end(stream);
    is_ = Is::ended;
    bytes_ = bytes;
  } catch (...) {
    timer_.reset();
  }
}

TimedCounts TimedWork::counts() const noexcept {
  return {stretches_.load(std::memory_order_relaxed), ns_.load(std::memory_order_relaxed),
          all_bytes_.load(std::memory_order_relaxed)};
}

}  // namespace penstock::detail
