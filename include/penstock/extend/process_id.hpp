// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <penstock/detail/export.hpp>

namespace penstock {

/// Returns the value of getpid(). If possible, asks the system only once in each process. So a source can check for
/// each record whether it runs in a child process, where its threads and locks are not. Any thread may call it.
PENSTOCK_API int process_id() noexcept;

}  // namespace penstock
