// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::detail {

/// Where one image of a batch is cut out, and how its window is written. With its ResampleTables this is all that a
/// kernel needs. Plain; if all of it is zeros, the result is zeros.
struct alignas(16) ResampleOp {
  std::uint64_t first = 0;             ///< byte of the image at which the box begins
  std::uint64_t stride = 0;            ///< bytes from a row of the image to the next
  std::int32_t height = 0, width = 0;  ///< height and width of the window
  std::int32_t columns = 0;            ///< columns of the box
  std::uint32_t transpose = 0;         ///< 1: rows of the window become columns
};

/// The images of a batch, as a kernel gets them. Image i begins at in + offsets[i], or, without offsets, at
/// in + i * image_bytes; its tables at tables + table_offsets[i].
struct ResampleWork {
  const std::uint8_t* in = nullptr;
  const std::int64_t* offsets = nullptr;  ///< [N + 1], or null
  std::uint64_t image_bytes = 0;
  const std::byte* tables = nullptr;
  const std::int64_t* table_offsets = nullptr;  ///< [N + 1]
  const ResampleOp* ops = nullptr;              ///< [N]
  std::uint8_t* out = nullptr;                  ///< [N, height, width, channels]: a window from its top left corner on
  std::uint64_t images = 0;                     ///< N
  std::int32_t channels = 0, height = 0, width = 0;
};

}  // namespace penstock::detail
