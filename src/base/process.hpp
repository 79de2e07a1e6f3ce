// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace penstock::detail {

/// Returns the value of getpid(), without asking the system each time. So code that runs for every batch can check that
/// it is not in a child. Any thread may call it.
pid_t process_id() noexcept;

/// Returns this process, and records that it uses Penstock's threads from now on. Their locks don't survive fork(): a
/// call in a child may never return.
/// @throws Error(forked) in a child of a process that called this before the fork.
pid_t process_with_threads();

/// Does nothing unless this process is a child of one that called `process_with_threads`. Any thread may call it.
/// @throws Error(forked) in such a child.
void check_not_forked();

}  // namespace penstock::detail
