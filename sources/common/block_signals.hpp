#pragma once

#include <csignal>

namespace penstock::common {

/// For a thread of the library: signals are for the threads of who uses it.
inline void block_signals() noexcept {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace penstock::common
