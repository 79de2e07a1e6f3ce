// SPDX-License-Identifier: Apache-2.0
// TIFF's LZW, as TIFF 6.0, section 13, specifies it.
#pragma once

#include <cstddef>
#include <span>

namespace penstock::slide {

/// Decodes until `out` is full, or the stream ends. Ignores what follows. Returns the number of bytes written. Any
/// thread. @throws Error(corrupt) with an offset for a code that the stream has not defined; Error(unsupported) for the
/// form of LZW that was used before TIFF 6.0.
std::size_t decode_lzw(std::span<const std::byte> encoded, std::span<std::byte> out);

}  // namespace penstock::slide
