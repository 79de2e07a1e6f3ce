// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

namespace penstock {

/// A part of a loader's memory for blocks. A source has taken it, for what it fetches before the loader loads it. See
/// `BlockSource`.
struct MemoryAhead {
  std::size_t bytes = 0;  ///< how much the source has taken
  /// The memory is the source's until the last copy of this pointer is destroyed. Null if `bytes` is 0.
  std::shared_ptr<const void> holder;
};

}  // namespace penstock
