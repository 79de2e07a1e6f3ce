// SPDX-License-Identifier: Apache-2.0
// Undoes filters that are plugins of HDF5, with the libraries that these plugins use.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "filters/chunk_filters.hpp"

namespace penstock::hdf5 {

/// Returns whether this build has the libraries that `unpack` needs.
bool can_unpack() noexcept;

/// Undoes one filter: lzf, lz4, zstd, blosc or bitshuffle. Fills `out`. Returns what is wrong with the data; empty
/// if nothing is wrong.
std::string unpack(const ChunkFilter& filter, std::span<const std::byte> in, std::span<std::byte> out,
                   Workspace& workspace);

}  // namespace penstock::hdf5
