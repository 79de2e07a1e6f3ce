// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include <penstock/extend/image_op.hpp>

namespace penstock::tiff {

// Returns the size that a WebP declares; {0, 0} if it has no valid header. Before version 4.5.1, libtiff leaves memory
// uninitialised if a strip or tile holds a smaller WebP.
Size webp_size(std::span<const std::byte> webp);

}  // namespace penstock::tiff
