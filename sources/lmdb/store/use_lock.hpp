// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace penstock::lmdb {

/// Held by each user of a cache, so that no other process empties it during that time.
class UseLock {
 public:
  /// @throws Error(io).
  explicit UseLock(const std::string& folder);
  UseLock(const UseLock&) = delete;
  UseLock& operator=(const UseLock&) = delete;
  ~UseLock();
  /// Calls `act` if no other user holds the lock, and keeps others from taking it until `act` returns. Returns false if
  /// another user holds it.
  bool alone(const std::function<void()>& act) const;

 private:
  bool share() const noexcept;

  int fd_;
};

}  // namespace penstock::lmdb
