// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace penstock::lmdb {

/// Returns the address of a file's first byte in the mapping that `inside` points into; null if the system doesn't show
/// it. LMDB does not make the address public.
const std::byte* map_base(const void* inside) noexcept;

}  // namespace penstock::lmdb
