// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace penstock::detail {

/// Returns whether a kernel list ("0-3,8") names more than one node.
bool names_several(std::string_view list) noexcept;

/// Returns whether this machine has several memory nodes (NUMA), some nearer to a device than others. Asks the system
/// once.
bool has_several_memory_nodes() noexcept;

/// Asks the system to place the pages that begin at `data` at this node while the node has memory left, otherwise at
/// others. REQUIRES: no page was touched yet. Returns false if the system refuses, as containers may; the system then
/// chooses the nodes.
bool prefer_memory_node(void* data, std::size_t bytes, int node) noexcept;

}  // namespace penstock::detail
