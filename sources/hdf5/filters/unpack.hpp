// Chunks of filters that come as plugins of HDF5, by the libraries that those use.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "filters/chunk_filters.hpp"

namespace penstock::hdf5 {

/// Whether this build has them.
bool can_unpack() noexcept;

/// Undoes a filter that is lzf, lz4, zstd, blosc or bitshuffle, into all of `out`. Returns what is wrong with the data,
/// empty when nothing is.
std::string unpack(const ChunkFilter& filter, std::span<const std::byte> in, std::span<std::byte> out,
                   Workspace& workspace);

}  // namespace penstock::hdf5
