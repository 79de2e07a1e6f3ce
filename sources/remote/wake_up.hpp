// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include <penstock/extend/system_error.hpp>

namespace penstock::remote {

/// Wakes one waiting thread, once until `clear`. The thread waits for a descriptor, so that the report of a loader
/// shows a wait for the network, and not for a lock.
class WakeUp {
 public:
  /// @throws Error(io) if the process has too many open files.
  WakeUp() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (descriptor_ < 0) throw system_error("remote", errno, "waiting for the network", "");
  }
  WakeUp(const WakeUp&) = delete;
  WakeUp& operator=(const WakeUp&) = delete;
  ~WakeUp() { ::close(descriptor_); }

  /// Any thread.
  void wake() const noexcept {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(descriptor_, &one, sizeof one));
  }
  /// Returns when `wake` was called.
  void wait() const noexcept {
    pollfd of{descriptor_, POLLIN, 0};
    while (::poll(&of, 1, -1) < 1) {
    }
  }

  /// Makes the object ready for another wait. For the thread that waits.
  void clear() const noexcept {
    std::uint64_t wakes = 0;
    static_cast<void>(!::read(descriptor_, &wakes, sizeof wakes));
  }

  WakeUp* next = nullptr;  ///< the next element in a list of threads that wait for one job

 private:
  const int descriptor_;
};

}  // namespace penstock::remote
