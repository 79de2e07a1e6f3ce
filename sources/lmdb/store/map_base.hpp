#pragma once

#include <cstddef>

namespace penstock::lmdb {

/// Where the mapping of a file that `inside` points into has its byte 0; null where the system doesn't tell. LMDB keeps
/// the address to itself.
const std::byte* map_base(const void* inside) noexcept;

}  // namespace penstock::lmdb
