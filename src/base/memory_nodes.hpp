// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace penstock::detail {

/// Returns whether `list`, in the kernel's format (such as "0-3,8"), names more than one node.
bool names_several(std::string_view list) noexcept;

/// Returns whether this machine has several memory nodes (NUMA), of which some may be nearer to a device. Asks the
/// system only at the first call.
bool has_several_memory_nodes() noexcept;

/// Asks the system to take the pages of the `bytes` bytes at `data` from memory node `node`, or from other nodes if
/// that node has no memory left. REQUIRES: no thread has touched these pages yet. Returns false if the system refuses,
/// which can happen in a container; the system then chooses the nodes.
bool prefer_memory_node(void* data, std::size_t bytes, int node) noexcept;

}  // namespace penstock::detail
