// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace penstock::detail {

/// Returns the value of getpid(), without asking the system each time. So code that runs for every batch can check
/// whether it runs in a child process. Any thread may call it.
pid_t process_id() noexcept;

/// Returns the id of this process, and records that it uses Penstock's threads from now on. The locks of these threads
/// don't survive fork(), so a call in a child may never return.
/// @throws Error(forked) in a child of a process that called this before the fork.
pid_t process_with_threads();

/// Checks that this process may use Penstock's threads. Any thread may call it.
/// @throws Error(forked) in a child of a process that called `process_with_threads` before the fork.
void check_not_forked();

}  // namespace penstock::detail
