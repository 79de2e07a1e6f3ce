// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

namespace penstock::common {

/// Blocks all signals in the calling thread, which the library started. Signals are for the application's own threads.
inline void block_signals() noexcept {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace penstock::common
