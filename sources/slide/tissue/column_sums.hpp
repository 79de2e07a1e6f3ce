// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::slide {

/// Writes the sums of the first `bytes` columns of `count` rows of bytes to `sums`. The rows begin `stride` bytes after
/// each other. `count`: at most 257.
void sum_columns(const std::uint8_t* rows, std::size_t stride, std::size_t count, std::size_t bytes,
                 std::uint16_t* sums);

}  // namespace penstock::slide
