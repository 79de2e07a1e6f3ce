#pragma once

#include <functional>
#include <string>

namespace penstock::lmdb {

/// Held by everybody who uses a cache, so that nobody else empties it meanwhile.
class UseLock {
 public:
  /// @throws Error(io).
  explicit UseLock(const std::string& folder);
  UseLock(const UseLock&) = delete;
  UseLock& operator=(const UseLock&) = delete;
  ~UseLock();
  /// True where nobody else holds it. For as long as `act` runs nobody else gets it.
  bool alone(const std::function<void()>& act) const;

 private:
  bool share() const noexcept;

  int fd_;
};

}  // namespace penstock::lmdb
