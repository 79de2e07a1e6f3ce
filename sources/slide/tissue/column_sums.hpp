#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::slide {

/// Sums the first `bytes` columns of `count` rows of bytes, 257 at most, that begin `stride` bytes after each other.
void sum_columns(const std::uint8_t* rows, std::size_t stride, std::size_t count, std::size_t bytes,
                 std::uint16_t* sums);

}  // namespace penstock::slide
