// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "futex.hpp"

namespace penstock::detail {

/// A queue. What the writer does before a `push` happens before what the reader does with the value. Like a stream, the
/// queue orders nothing in the other direction. One writer and one reader at a time use it.
template <class T>
class OneWayQueue {
 public:
  OneWayQueue() : taken_(new Node), last_(taken_) {}
  OneWayQueue(const OneWayQueue&) = delete;
  OneWayQueue& operator=(const OneWayQueue&) = delete;
  ~OneWayQueue() {
    for (Node* node = taken_; node != nullptr;) delete std::exchange(node, node->next.load(std::memory_order_acquire));
  }

  // -- the writer --
  void push(T value) {
    Node* const node = new Node{std::move(value)};
    Node* const before = std::exchange(last_, node);
    before->next.store(node, std::memory_order_release);  // from here on only the reader may use `before`
    ring();
  }
  /// Wakes the reader without a new value.
  void ring() noexcept {
    rung_.fetch_add(1, std::memory_order_release);
    futex_wake_all(rung_);
  }

  // -- the reader --
  /// Returns the oldest value; null if there is none.
  T* front() noexcept {
    Node* const next = taken_->next.load(std::memory_order_acquire);
    return next == nullptr ? nullptr : &next->value;
  }
  void pop() noexcept { delete std::exchange(taken_, taken_->next.load(std::memory_order_acquire)); }
  /// Returns the argument for `sleep`. The reader calls `bell` first, then `front`, and then `sleep` if there was no
  /// value.
  std::uint32_t bell() const noexcept { return rung_.load(std::memory_order_acquire); }
  void sleep(std::uint32_t bell) const noexcept { futex_wait(rung_, bell); }

 private:
  struct Node {
    T value{};
    std::atomic<Node*> next{nullptr};
  };
  Node* taken_;  // only the reader uses it
  Node* last_;   // only the writer uses it
  std::atomic<std::uint32_t> rung_{0};
};

}  // namespace penstock::detail
