#pragma once

#include <cstddef>
#include <functional>

namespace penstock::cli {

/// Calls `work(i)` once for each i below `count`, on so many threads, the caller's among them. Where one throws no more
/// are begun, and it is thrown here. Where the system starts fewer threads, those there are do the work.
void on_threads(unsigned threads, std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace penstock::cli
