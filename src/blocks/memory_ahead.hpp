// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include <penstock/detail/source_model.hpp>

namespace penstock::detail::runtime {

/// Offers a source a quarter of a loader's memory for blocks. Returns what it takes.
inline MemoryAhead take_memory_ahead(const BlockModel& model, std::size_t limit_bytes) {
  constexpr std::size_t part = 4;
  const std::size_t offered = limit_bytes / part;
  if (offered == 0) return {};
  MemoryAhead taken = model.take_memory(offered);
  taken.bytes = std::min(taken.bytes, offered);
  return taken;
}

}  // namespace penstock::detail::runtime
