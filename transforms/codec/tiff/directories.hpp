// SPDX-License-Identifier: Apache-2.0
// The list of a TIFF's directories, read without libtiff. libtiff's time and memory for a directory are not bounded by
// the file's size, so each directory is checked before libtiff reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace penstock::tiff {

// An image of the file.
struct Directory {
  std::uint64_t offset = 0;
  std::uint64_t width = 0, height = 0;
  std::optional<std::uint64_t> meaning;  // PhotometricInterpretation; libtiff may take another for it
  std::uint64_t chunks = 0;              // number of strips or tiles whose offsets are listed
};

// Returns page number `page`, or the only page if no number is given. The directories that are looked at together are
// not longer than the file, and neither are the values of each. @throws Error(corrupt | unsupported | limit_exceeded).
Directory find_page(std::span<const std::byte> encoded, std::optional<std::uint32_t> page);

}  // namespace penstock::tiff
