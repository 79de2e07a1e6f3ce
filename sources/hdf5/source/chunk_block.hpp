#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "filters/chunk_filters.hpp"
#include "source/dataset.hpp"

namespace penstock::hdf5 {

/// Blocks of a dataset: block b is all chunks that hold the rows from b * rows_per_block on.
std::uint64_t block_count(const Dataset& dataset) noexcept;
/// Memory a block is decoded into: `rows_per_block` rows, also the last one.
std::size_t block_bytes(const Dataset& dataset) noexcept;

/// Decodes a block of a dataset that is read by `chunks` or by the `library`. What stands after the last row is no
/// part of it.
/// @throws Error(corrupt | io) with the chunk, and its offset in the file where it is known.
void load_block(const Dataset& dataset, std::uint64_t block, bool verify_checksum, Workspaces& workspaces,
                std::span<std::byte> out);

}  // namespace penstock::hdf5
