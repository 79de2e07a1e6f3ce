// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::detail {

/// The operation on one image of a batch: says which box of the image is resampled, and how the kept window of the
/// resampled box is written. A kernel also needs the image's ResampleTables. Plain data. If all members are zero, the
/// result is zeros.
struct alignas(16) ResampleOp {
  std::uint64_t first = 0;             ///< the image's byte at which the box begins
  std::uint64_t stride = 0;            ///< bytes from a row of the image to the next row
  std::int32_t height = 0, width = 0;  ///< height and width of the window
  std::int32_t columns = 0;            ///< number of columns of the box
  std::uint32_t transpose = 0;         ///< 1 if rows of the window become columns of the result
};

/// The images of a batch, as a kernel gets them. Image i begins at in + offsets[i], or at in + i * image_bytes if
/// `offsets` is null. Its tables begin at tables + table_offsets[i].
struct ResampleWork {
  const std::uint8_t* in = nullptr;
  const std::int64_t* offsets = nullptr;  ///< [N + 1], or null
  std::uint64_t image_bytes = 0;
  const std::byte* tables = nullptr;
  const std::int64_t* table_offsets = nullptr;  ///< [N + 1]
  const ResampleOp* ops = nullptr;              ///< [N]
  std::uint8_t* out = nullptr;  ///< [N, height, width, channels]; each window begins at the top left corner
  std::uint64_t images = 0;     ///< N
  std::int32_t channels = 0, height = 0, width = 0;
};

}  // namespace penstock::detail
