// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace penstock::common {

/// Keeps a small block at the end of the heap, after memory that another library allocates and frees repeatedly. If
/// nothing came after that memory, each free would shrink the heap, and each allocation would ask the system for the
/// same pages again. One thread at a time.
class HeapTrimGuard {
 public:
  /// Call this while that memory is in use. `bytes`: the size of that memory.
  void keep(std::size_t bytes) noexcept {
    if (bytes <= most_) return;
    most_ = bytes;
    // The block is too large for a gap in that memory, and too small to be mapped on its own. If the block can't be
    // allocated, everything still works.
    constexpr std::size_t size = 96 << 10;
    end_.reset(new (std::nothrow) std::byte[size]);
  }

 private:
  std::size_t most_ = 0;
  std::unique_ptr<std::byte[]> end_;
};

}  // namespace penstock::common
