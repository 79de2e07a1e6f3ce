// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "filters/chunk_filters.hpp"
#include "source/dataset.hpp"

namespace penstock::hdf5 {

/// Returns the number of blocks of a dataset. A block is all chunks with the same rows; each has `chunk().front()`
/// rows.
std::uint64_t block_count(const Dataset& dataset) noexcept;
/// Returns the bytes that a block is decoded into: `chunk().front()` rows, also for the last block.
std::size_t block_bytes(const Dataset& dataset) noexcept;

/// Decodes a block of a dataset that is read by `chunks` or by the `library`. Bytes after the last row are not part of
/// it. @throws Error(corrupt | io) with the chunk, and its offset in the file if that is known.
void load_block(const Dataset& dataset, std::uint64_t block, bool verify_checksum, Workspaces& workspaces,
                std::span<std::byte> out);

}  // namespace penstock::hdf5
