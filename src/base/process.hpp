// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <penstock/extend/process_id.hpp>

namespace penstock::detail {

/// Returns the id of this process, and records that it uses Penstock's threads from now on. A child made by fork() does
/// not have these threads, so a lock that one of them holds stays locked there. A call that needs the lock would never
/// return.
/// @throws Error(forked) in a child of a process that called this before the fork.
pid_t process_with_threads();

/// Checks that this process may use Penstock's threads. Any thread may call it.
/// @throws Error(forked) in a child of a process that called `process_with_threads` before the fork.
void check_not_forked();

}  // namespace penstock::detail
