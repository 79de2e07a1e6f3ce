// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace penstock::detail {

/// Returns how many more threads the system lets this process start now, but at most `most`. To find out, starts
/// threads and ends them again. Later the system may allow fewer threads, if the same user or control group has started
/// others.
/// @throws std::bad_alloc.
unsigned startable_threads(unsigned most);

}  // namespace penstock::detail
