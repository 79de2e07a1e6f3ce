// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

namespace penstock::cli {

/// Calls `work(i)` once for each i below `count`, on `threads` threads, or on `count` threads if `count` is less. One
/// of the threads is the caller's. If a call throws, no further calls begin, and this function throws the first
/// exception. If the system starts fewer threads, these do all the work.
void on_threads(unsigned threads, std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace penstock::cli
