// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "filters/chunk_filters.hpp"
#include "source/dataset.hpp"

namespace penstock::hdf5 {

/// Returns the number of a dataset's blocks. A block is all chunks that have the same rows. It has `chunk().front()`
/// rows; the last block may have fewer.
std::uint64_t block_count(const Dataset& dataset) noexcept;
/// Returns the bytes of a decoded block. The last block has as many bytes as the others, although it may have fewer
/// rows.
std::size_t block_bytes(const Dataset& dataset) noexcept;

/// Decodes a block of a dataset whose `way_unkept` is `chunks` or `library`. Bytes of `out` after the dataset's last
/// row become zeros. @throws Error(corrupt | io) with the chunk, and its offset in the file if that is known.
void load_block(const Dataset& dataset, std::uint64_t block, bool verify_checksum, Workspaces& workspaces,
                std::span<std::byte> out);

/// Asks the system to read a block from the disk. Returns how many of its chunks were not in memory. @throws Error like
/// `load_block`, if the file's index can't be read.
std::uint64_t read_block_ahead(const Dataset& dataset, std::uint64_t block);

}  // namespace penstock::hdf5
