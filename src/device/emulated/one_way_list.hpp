// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "futex.hpp"

namespace penstock::detail {

/// A queue that orders the writer's actions before the reader's, and nothing in the other direction, like a stream. One
/// writer and one reader at a time use it.
template <class T>
class OneWayList {
 public:
  OneWayList() : taken_(new Node), last_(taken_) {}
  OneWayList(const OneWayList&) = delete;
  OneWayList& operator=(const OneWayList&) = delete;
  ~OneWayList() {
    for (Node* node = taken_; node != nullptr;) delete std::exchange(node, node->next.load(std::memory_order_acquire));
  }

  // -- the writer --
  void push(T value) {
    Node* const node = new Node{std::move(value)};
    Node* const before = std::exchange(last_, node);
    before->next.store(node, std::memory_order_release);  // from now on `before` is the reader's
    ring();
  }
  /// Wakes the reader, without anything new.
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
  /// Returns a number to read before looking for a value, and to give to `sleep` if none was found.
  std::uint32_t bell() const noexcept { return rung_.load(std::memory_order_acquire); }
  void sleep(std::uint32_t bell) const noexcept { futex_wait(rung_, bell); }

 private:
  struct Node {
    T value{};
    std::atomic<Node*> next{nullptr};
  };
  Node* taken_;  // the reader's
  Node* last_;   // the writer's
  std::atomic<std::uint32_t> rung_{0};
};

}  // namespace penstock::detail
