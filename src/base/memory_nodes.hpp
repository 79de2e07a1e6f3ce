#pragma once

#include <cstddef>
#include <string_view>

namespace penstock::detail {

/// Whether a list of the kernel's ("0-3,8") names more than one.
bool names_several(std::string_view list) noexcept;

/// Whether this machine's memory lies at several nodes (NUMA), some nearer to a device than others. Asked once.
bool has_several_memory_nodes() noexcept;

/// Pages that begin at `data`, none of which was touched yet, are to lie at this node while it has memory left, else at
/// others. False where the system refuses, as containers may: they lie where it likes.
bool prefer_memory_node(void* data, std::size_t bytes, int node) noexcept;

}  // namespace penstock::detail
