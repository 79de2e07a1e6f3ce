// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include <penstock/extend/sink.hpp>

namespace penstock::common {

/// An item's position and child.
using ItemPlace = std::pair<std::uint64_t, std::uint32_t>;
inline ItemPlace place_of(const SinkItem& item) noexcept { return {item.position, item.child.value_or(0)}; }

}  // namespace penstock::common
