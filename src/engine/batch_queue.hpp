// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ring/batch_ring.hpp"

namespace penstock::detail::runtime {

/// The batches that were admitted and not yet delivered, in order. Batches are numbered from 0, and `reset` starts
/// again at 0.
///
/// Call all functions under the run's mutex, with two exceptions. Any runner may call `at` and `admitted` without the
/// mutex. The consumer may call `empty` and `front` without the mutex, because only the consumer delivers.
class BatchQueue {
 public:
  explicit BatchQueue(std::size_t depth) : buffers_(depth, nullptr) {}

  /// Returns how many batches were admitted. A thread that sees this number sees the data of all admitted batches.
  std::uint64_t admitted() const noexcept { return admitted_.load(std::memory_order_acquire); }
  /// Returns batch number `ordinal`. REQUIRES: the batch is admitted and not delivered.
  BatchBuffer& at(std::uint64_t ordinal) const noexcept { return *buffers_[ordinal % buffers_.size()]; }
  /// Adds `buffer` as the next batch. Its number is what `admitted` returns before this call.
  void admit(BatchBuffer& buffer) noexcept {
    const std::uint64_t ordinal = admitted_.load(std::memory_order_relaxed);
    buffers_[ordinal % buffers_.size()] = &buffer;
    admitted_.store(ordinal + 1, std::memory_order_release);
  }

  /// Returns the number of the first batch that is not delivered.
  std::uint64_t delivered() const noexcept { return delivered_; }
  bool empty() const noexcept { return delivered_ == admitted(); }
  BatchBuffer& front() const noexcept { return at(delivered_); }
  /// Delivers the first batch to the caller.
  void deliver() noexcept {
    ++delivered_;
    ++leased_;
  }
  /// Notes that the caller released a batch.
  void give_back() noexcept { --leased_; }
  std::size_t leased() const noexcept { return leased_; }

  /// Removes the batches that are not delivered, and calls `release` for each.
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
