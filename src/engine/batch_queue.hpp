#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ring/batch_ring.hpp"

namespace penstock::detail::runtime {

/// The batches that are issued and not yet delivered, in order. They are numbered from 0 since the last `reset`.
///
/// All under the run's mutex, but for `at` and `admitted`, which are any runner's, and `empty` and `front`, which the
/// consumer may call without it: it alone delivers.
class BatchQueue {
 public:
  explicit BatchQueue(std::size_t depth) : buffers_(depth, nullptr) {}

  /// How many there were. A runner that sees a number sees the batches below it.
  std::uint64_t admitted() const noexcept { return admitted_.load(std::memory_order_acquire); }
  /// Number `ordinal`, which is admitted and not delivered.
  BatchBuffer& at(std::uint64_t ordinal) const noexcept { return *buffers_[ordinal % buffers_.size()]; }
  /// The next one gets the number that `admitted` says.
  void admit(BatchBuffer& buffer) noexcept {
    const std::uint64_t ordinal = admitted_.load(std::memory_order_relaxed);
    buffers_[ordinal % buffers_.size()] = &buffer;
    admitted_.store(ordinal + 1, std::memory_order_release);
  }

  /// The number of the first one that is not delivered.
  std::uint64_t delivered() const noexcept { return delivered_; }
  bool empty() const noexcept { return delivered_ == admitted(); }
  BatchBuffer& front() const noexcept { return at(delivered_); }
  /// The first one goes to the caller.
  void deliver() noexcept {
    ++delivered_;
    ++leased_;
  }
  /// The caller let one go.
  void give_back() noexcept { --leased_; }
  std::size_t leased() const noexcept { return leased_; }

  /// Forgets what is not delivered. `release` gets each.
  void reset(const auto& release) noexcept {
    for (; !empty(); ++delivered_) release(front());
    delivered_ = 0;
    admitted_.store(0, std::memory_order_relaxed);
  }

 private:
  std::vector<BatchBuffer*> buffers_;
  std::atomic<std::uint64_t> admitted_{0};
  std::uint64_t delivered_ = 0;
  std::size_t leased_ = 0;
};

}  // namespace penstock::detail::runtime
