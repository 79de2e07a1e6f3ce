// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace penstock::lmdb {

/// A lock that each user of a cache holds, so that no other process empties the cache.
class UseLock {
 public:
  /// Takes the lock. Waits while another process empties the cache. @throws Error(io).
  explicit UseLock(const std::string& folder);
  UseLock(const UseLock&) = delete;
  UseLock& operator=(const UseLock&) = delete;
  ~UseLock();
  /// Calls `act` if no other user holds the lock. Until `act` returns, no other user can take the lock. Returns false,
  /// without calling `act`, if another user holds the lock.
  bool alone(const std::function<void()>& act) const;

 private:
  bool share() const noexcept;

  int fd_;
};

}  // namespace penstock::lmdb
