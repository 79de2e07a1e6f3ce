// SPDX-License-Identifier: Apache-2.0
// PackBits, as TIFF 6.0, section 9, specifies it.
#pragma once

#include <cstddef>
#include <span>

namespace penstock::slide {

/// Decodes until `out` is full, or the stream ends. Ignores what follows. Returns the number of bytes written. Any
/// thread.
std::size_t decode_packbits(std::span<const std::byte> encoded, std::span<std::byte> out) noexcept;

}  // namespace penstock::slide
